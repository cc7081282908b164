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

/// Something that happens once, such as "all caches are filled": it can be asked, waited for, and named in
/// messages. Copies are the same signal. Never goes back.
///
/// Thread safety: any method from any thread.
class DoneSignal {
 public:
  explicit DoneSignal(std::string name = {});

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] bool done() const;
  /// Returns true when it has happened, false if a stop comes first. Throws std::logic_error in code that must not wait
  /// (an inline handler, a hook).
  [[nodiscard]] bool wait(std::stop_token stop) const;
  /// The same; false also if the deadline comes first.
  [[nodiscard]] bool wait_until(Clock& clock, Clock::TimePoint deadline,
                                std::stop_token stop = {}) const;
  /// Lets it happen. Later calls do nothing.
  void fire() const noexcept;

  /// Calls `then` when it happens, in the thread that fires it, or at once if it has happened. Returns what
  /// forget() needs to have it not called any more. What `then` throws in the thread that fires is swallowed.
  std::uint64_t on_done(std::function<void()> then) const;
  void forget(std::uint64_t registered) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Waits for all signals; true if all have happened, also those that did so while a stop came. With a
/// non-empty `what`, logs what it waits for, each signal as it happens, and what had not when stopped.
[[nodiscard]] bool wait_for(const std::vector<DoneSignal>& signals, std::stop_token stop,
                            std::string_view what = {}, const Logger& log = {});

}  // namespace kube
