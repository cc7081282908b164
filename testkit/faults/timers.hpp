// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace kube::testkit::detail {

/// Calls functions later, by a Clock. Its thread starts with the first use.
///
/// Thread safety: all methods, from any thread. The functions are called on the timers' thread, without a
/// lock; those whose time has not come are dropped by the destructor.
class Timers {
 public:
  explicit Timers(Clock& clock) : clock_(clock) {}

  void after(Clock::Duration delay, std::function<void()> call);
  /// Drops what waits, and ends the thread. Nothing is called afterwards.
  void stop();

 private:
  void run(std::stop_token stop);

  Clock& clock_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::multimap<Clock::TimePoint, std::function<void()>> waiting_;
  bool stopped_ = false;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace kube::testkit::detail
