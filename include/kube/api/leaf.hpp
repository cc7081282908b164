// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Includes all hand-written types of API fields.
#include <kube/api/int_or_string.hpp>  // IWYU pragma: export
#include <kube/api/quantity.hpp>       // IWYU pragma: export
#include <kube/api/raw.hpp>            // IWYU pragma: export
#include <kube/api/time.hpp>           // IWYU pragma: export
