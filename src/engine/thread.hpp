// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>

namespace kube::detail {

/// Creates a thread of the library. It has a name for `ps -L` (at most 15 characters), and does not
/// handle the program's signals, except for those that a fault raises. Throws std::system_error.
[[nodiscard]] std::thread make_thread(std::string name, std::function<void()> body);

/// True if the thread of this process is running or ready to run, that is, not blocked. False if
/// the system does not report it.
[[nodiscard]] bool is_runnable(pid_t thread) noexcept;

}  // namespace kube::detail
