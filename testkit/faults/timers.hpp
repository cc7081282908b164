// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace kube::testkit::detail {

/// Calls functions after a delay, by a Clock. The thread is started by the first use.
///
/// Thread safety: all methods, from any thread. Functions are called on the timers' thread, without
/// a lock held. The destructor drops the functions that are not due.
class Timers {
 public:
  explicit Timers(Clock& clock) : clock_(clock) {}

  void after(Clock::Duration delay, std::function<void()> call);
  /// Drops all waiting functions and joins the thread. No function is called afterwards.
  void stop();

 private:
  void run(std::stop_token stop);

  Clock& clock_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::multimap<Clock::TimePoint, std::function<void()>> waiting_;
  bool stopped_ = false;
  std::jthread thread_;  // last, so that it ends before its members are destroyed
};

}  // namespace kube::testkit::detail
