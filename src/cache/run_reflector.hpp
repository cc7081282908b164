// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reflector_core.hpp"

#include <stop_token>

namespace kube::detail {

/// Polls a reflector that belongs to no informer until a stop is requested, on the threads of the
/// client's Runtime or of the shared one. Returns when it has stopped and no call into `source` is
/// under way.
void run_reflector(ReflectorCore& reflector, AsyncListWatch& source, Clock& clock,
                   std::stop_token stop) noexcept;

}  // namespace kube::detail
