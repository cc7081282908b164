// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/runtime.hpp>

#include <memory>

namespace kube::detail {

/// The Runtime of informers that have neither a client nor an option that names one: made with the first user, ended with
/// the last. Throws as the constructor of Runtime.
[[nodiscard]] std::shared_ptr<Runtime> shared_runtime();

}  // namespace kube::detail
