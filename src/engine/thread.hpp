// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>

namespace kube::detail {

/// A thread of the library: it has a name for `ps -L` (15 characters at most), and signals of the program are not
/// handled by it, except for those that a fault raises. Throws std::system_error.
[[nodiscard]] std::thread make_thread(std::string name, std::function<void()> body);

/// Whether the thread of this process runs, or could if it had a processor: it is not blocked. False if the system does
/// not tell.
[[nodiscard]] bool is_runnable(pid_t thread) noexcept;

}  // namespace kube::detail
