// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/c/kubecxx.h>
#include <kube/cache/done_signal.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "own_loop.hpp"

struct kubecxx_cancel {
  std::stop_source source;
};

namespace kube::c {

/// Returns the deadline of a wait of `timeout_ms`; a negative timeout means no limit.
[[nodiscard]] Clock::TimePoint deadline_after(std::int64_t timeout_ms);

/// Throws std::logic_error if the calling thread must not wait: inside a log sink or a release
/// function, or on the loop of a Runtime without threads. `function` begins the message.
void check_may_wait(const char* function);

/// Returns when the signal fires. Runs the loop meanwhile if the program has to (`own_loop`, may be
/// null). Throws Failure (timeout, canceled), and as check_may_wait(). `cancel` may be null.
/// `timeout_message` is called for the message of a timeout.
void wait_for_signal(const char* function, OwnLoop* own_loop, const DoneSignal& signal,
                     std::int64_t timeout_ms, const kubecxx_cancel* cancel,
                     const std::function<std::string()>& timeout_message);

/// The stop token of a request that the caller may cancel, and that has a timeout.
class CallDeadline {
 public:
  /// A `timeout_ms` of 0 means none. The timer runs on the loop of the runtime. Throws
  /// std::bad_alloc, and std::invalid_argument if the time is negative.
  CallDeadline(const Runtime& runtime, std::int64_t timeout_ms, const kubecxx_cancel* cancel);
  ~CallDeadline();
  CallDeadline(const CallDeadline&) = delete;
  CallDeadline& operator=(const CallDeadline&) = delete;

  [[nodiscard]] std::stop_token token() const noexcept;
  /// Throws Failure in place of the exception being handled if the timeout or the caller has ended
  /// the call; otherwise rethrows.
  [[noreturn]] void rethrow() const;

 private:
  class Alarm;
  struct Forward {
    std::stop_source source;
    void operator()() const noexcept { (void)source.request_stop(); }
  };

  const std::stop_token canceled_;
  std::stop_source source_;
  std::shared_ptr<Alarm> alarm_;
  const std::stop_callback<Forward> forward_;
};

}  // namespace kube::c
