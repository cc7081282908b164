// SPDX-License-Identifier: Apache-2.0
#pragma once

/// DoneSignal stands in base/ now, as queues of the engine have one, too. This name of the header stays valid.
#include <kube/base/done_signal.hpp>  // IWYU pragma: export
