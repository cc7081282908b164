// SPDX-License-Identifier: Apache-2.0
#include "thread.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

/// Blocks all signals of the calling thread while it exists; threads that it creates inherit the
/// mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
      ::sigdelset(&all, fault);
    }
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

bool is_runnable(pid_t thread) noexcept {
  std::array<char, 64> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat",
                      static_cast<int>(thread));
  const FileDescriptor file{::open(path.data(), O_RDONLY | O_CLOEXEC)};
  if (!file) return false;
  std::array<char, 128> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  // For example "17 (kube-work-0) R ..."; the name may contain parentheses.
  const std::string_view stat{text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string_view::npos && stat.substr(name_end + 2).starts_with('R');
}

std::thread make_thread(std::string name, std::function<void()> body) {
  const BlockedSignals blocked;
  return std::thread{[name = std::move(name), body = std::move(body)] {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    body();
  }};
}

}  // namespace kube::detail
