// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/runtime.hpp>

#include <memory>

namespace kube::detail {

/// The Runtime of informers that have neither a client nor an option that sets one. Created for the
/// first user, destroyed with the last. Throws as the constructor of Runtime.
[[nodiscard]] std::shared_ptr<Runtime> shared_runtime();

/// The Runtime of leases (thread `kube-lease`), which the load of other Runtimes does not delay.
/// Created for the first lease of the process, destroyed with the last. Its workers
/// (`kube-lease-N`) exist only while a call blocks. Throws as the constructor of Runtime.
[[nodiscard]] std::shared_ptr<Runtime> lease_runtime();

}  // namespace kube::detail
