// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/runtime.hpp>

#include <memory>

namespace kube::detail {

/// The Runtime of informers that have neither a client nor an option that names one: made with the first user, ended with
/// the last. Throws as the constructor of Runtime.
[[nodiscard]] std::shared_ptr<Runtime> shared_runtime();

/// The Runtime of leases (thread `kube-lease`): no load of other Runtimes delays it. Made with the first lease of the
/// process, ended with the last; its workers (`kube-lease-N`) exist while something blocks. Throws as the constructor of
/// Runtime.
[[nodiscard]] std::shared_ptr<Runtime> lease_runtime();

}  // namespace kube::detail
