// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// A one-shot event, such as "all caches are synced", that can be polled, waited for, and named in
/// messages. Copies share one state. Once done, it stays done.
///
/// Thread safety: any method from any thread.
class DoneSignal {
 public:
  /// `name` identifies the signal in messages of wait_for().
  explicit DoneSignal(std::string name = {});

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] bool done() const;
  /// Returns true once the signal is done, false if a stop is requested first. Throws
  /// std::logic_error in code that must not wait (an inline handler, a hook).
  [[nodiscard]] bool wait(std::stop_token stop) const;
  /// As wait(), but also returns false at the deadline.
  [[nodiscard]] bool wait_until(Clock& clock, Clock::TimePoint deadline,
                                std::stop_token stop = {}) const;
  /// Marks the signal as done and runs the callbacks. Later calls do nothing.
  void fire() const noexcept;

  /// Calls `then` in the thread that calls fire(), or at once if the signal is done already.
  /// Returns an id for forget(), which cancels the call. Exceptions of `then` in the thread that
  /// fires are swallowed.
  std::uint64_t on_done(std::function<void()> then) const;
  /// Cancels a callback registered with on_done(). No effect if it was called already.
  void forget(std::uint64_t registered) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Waits for all signals. Returns true if all are done, even if a stop was requested meanwhile. If
/// `what` is not empty, logs the start of the wait, each signal as it fires, and the signals that
/// are missing after a stop.
[[nodiscard]] bool wait_for(const std::vector<DoneSignal>& signals, std::stop_token stop,
                            std::string_view what = {}, const Logger& log = {});

}  // namespace kube
