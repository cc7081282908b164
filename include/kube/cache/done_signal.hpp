// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Compatibility header: DoneSignal is defined in base/, because queues of the engine use it as
/// well.
#include <kube/base/done_signal.hpp>  // IWYU pragma: export
