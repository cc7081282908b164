// SPDX-License-Identifier: Apache-2.0
// kubecxx inside an epoll loop, in one thread.
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "follower.hpp"

namespace {

int checked(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category());
  return result;
}

void add(int epoll, int descriptor) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  checked(::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event));
}

}  // namespace

int main() try {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  checked(::sigprocmask(SIG_BLOCK, &signals, nullptr));

  const auto runtime = std::make_shared<kube::Runtime>(kube::RuntimeOptions{.threads = 0});
  const Follower follower{runtime};

  const int epoll = checked(::epoll_create1(EPOLL_CLOEXEC));
  const int signal = checked(::signalfd(-1, &signals, SFD_CLOEXEC));
  add(epoll, signal);
  add(epoll, runtime->loop().descriptor());
  for (;;) {
    epoll_event event{};
    if (::epoll_wait(epoll, &event, 1, -1) < 1) continue;
    if (event.data.fd == signal) return 0;
    runtime->loop().run_ready();
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
