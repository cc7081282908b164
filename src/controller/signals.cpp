// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/signals.hpp>

#include "engine/thread.hpp"
#include <kube/base/condition.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace kube {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};

// Global, because a signal handler takes no argument of its own. -1: there is no SignalStop.
std::atomic<int> g_write_end = -1;
std::atomic<int> g_count = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Async-signal-safe: a write wakes the thread, which does the rest. That thread is not a loop's: a
/// stop calls callbacks that the program has registered, and they may block.
void handle(int /*signal*/) {
  if (g_count.fetch_add(1) > 0) _exit(1);
  const int saved = errno;
  const char byte = 's';
  [[maybe_unused]] const auto written = write(g_write_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

class SignalStop::State {
 public:
  State() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error{errno, std::generic_category(), "signals: cannot make a pipe"};
    }
    int none = -1;
    if (!g_write_end.compare_exchange_strong(none, ends_[1])) {
      close_pipe();
      throw std::logic_error{"signals are handled already: stop_on_signals() was called twice"};
    }
    g_count = 0;
    thread_ = detail::make_thread("kube-signals", [this] { run(); });
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    const char byte = 'q';
    [[maybe_unused]] const auto written = write(ends_[1], &byte, 1);
    thread_.join();
    g_write_end = -1;
    close_pipe();
  }

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  void run() {
    char byte = 0;
    while (byte != 'q') {
      const auto count = read(ends_[0], &byte, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count != 1) return;
      if (byte == 's') source_.request_stop();
    }
  }
  void close_pipe() const noexcept {
    for (const int end : ends_) close(end);
  }

  std::array<int, 2> ends_{};
  std::array<struct sigaction, kSignals.size()> before_{};
  std::stop_source source_;
  std::thread thread_;
};

SignalStop::SignalStop() : state_(std::make_unique<State>()) {}
SignalStop::~SignalStop() = default;
std::stop_token SignalStop::token() const noexcept { return state_->token(); }

void SignalStop::wait() const {
  std::mutex mutex;
  Condition never;
  std::unique_lock lock{mutex};
  never.wait(lock, token(), [] { return false; });
}

}  // namespace kube
