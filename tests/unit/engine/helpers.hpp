// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/scheduler.hpp"
#include <kube/base/condition.hpp>
#include <kube/engine/runtime.hpp>

#include <dirent.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/items.hpp"

namespace kube::test {

using namespace std::chrono_literals;
using detail::Placement;
using detail::Scheduler;

/// Calls a function whenever it runs.
class FunctionJob final : public detail::Job {
 public:
  FunctionJob(std::shared_ptr<Scheduler> scheduler, Placement placement,
              std::function<void(FunctionJob&)> function, const char* name = "a task")
      : Job(placement), function_(std::move(function)), name_(name) {
    bind(std::move(scheduler));
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }

 private:
  void run() noexcept override { function_(*this); }

  const std::function<void(FunctionJob&)> function_;
  const char* const name_;
};

inline const std::shared_ptr<Scheduler>& scheduler_of(const Runtime& runtime) {
  return detail::Inside::core(runtime);
}

inline std::shared_ptr<FunctionJob> make_job(const std::shared_ptr<Scheduler>& scheduler,
                                             Placement placement,
                                             std::function<void(FunctionJob&)> function,
                                             const char* name = "a task") {
  return std::make_shared<FunctionJob>(scheduler, placement, std::move(function), name);
}

inline std::shared_ptr<FunctionJob> make_job(const Runtime& runtime, Placement placement,
                                             std::function<void()> function) {
  return make_job(scheduler_of(runtime), placement,
                  [function = std::move(function)](FunctionJob&) { function(); });
}

/// A counter that threads increment and wait for.
class Counter {
 public:
  void add(int number = 1) {
    const std::lock_guard guard{mutex_};
    value_ += number;
    // under the lock: a waiter may destroy this as soon as it holds the lock
    changed_.notify_all();
  }
  [[nodiscard]] int value() const {
    const std::lock_guard guard{mutex_};
    return value_;
  }
  /// Returns false if the counter does not reach `value` in time.
  [[nodiscard]] bool reaches(int value, std::chrono::nanoseconds limit = 20s) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return value_ >= value; });
  }

 private:
  mutable std::mutex mutex_;
  mutable Condition changed_;
  int value_ = 0;  // guarded by mutex_
};

/// Blocks threads until it is opened.
class Gate {
 public:
  void open() { opened_.add(); }
  void pass() const { EXPECT_TRUE(opened_.reaches(1)) << "nobody opens the gate"; }

 private:
  Counter opened_;
};

inline std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  DIR* const open = ::opendir(folder);
  while (::readdir(open) != nullptr) ++count;
  ::closedir(open);
  return count;
}
using testing_support::thread_count;
inline std::size_t descriptor_count() { return entries_of("/proc/self/fd") - 3; }

/// Waits, in real time, for a condition that has no notification.
[[nodiscard]] inline bool becomes_true(const std::function<bool()>& condition,
                                       std::chrono::nanoseconds limit = 20s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Fails if a test leaves threads behind.
class ThreadsEnd : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(becomes_true([&] { return thread_count() <= before_; }));
  }

 private:
  const std::size_t before_ = thread_count();
};

/// Collects the lines of a log.
class Lines {
 public:
  [[nodiscard]] Logger logger() {
    return Logger{[this](LogLevel, std::string_view, std::string_view message) {
      const std::lock_guard guard{mutex_};
      lines_.emplace_back(message);
    }};
  }
  [[nodiscard]] std::vector<std::string> get() const {
    const std::lock_guard guard{mutex_};
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
};

}  // namespace kube::test
