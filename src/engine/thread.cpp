// SPDX-License-Identifier: Apache-2.0
#include "thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace kube::detail {

namespace {

/// Blocks signals of the calling thread, which threads that it creates inherit.
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

std::thread make_thread(std::string name, std::function<void()> body) {
  const BlockedSignals blocked;
  return std::thread{[name = std::move(name), body = std::move(body)] {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    body();
  }};
}

}  // namespace kube::detail
