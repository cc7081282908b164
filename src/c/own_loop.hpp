// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/runtime.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "handle.hpp"

namespace kube::c {

/// The loop of a Runtime without threads, which the program runs. Calls that wait run it, too, so a program with one thread
/// can make them.
///
/// Thread safety: all methods may be called from any thread.
class OwnLoop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Throws std::system_error.
  explicit OwnLoop(const std::shared_ptr<Runtime>& runtime);

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Throws std::logic_error inside a callback.
  bool run_ready(std::chrono::milliseconds budget);
  /// Runs the loop, or waits while another thread does, until `done()`, which is asked about every 10 ms at least. Returns
  /// what it says at the deadline. Not inside the loop.
  bool run_until(TimePoint deadline, const std::function<bool()>& done);
  /// Throws std::logic_error unless a thread other than the calling one has run the loop last: nobody would receive the
  /// answer that the caller is going to wait for.
  void check_is_run_by_other() const;
  /// Whether the calling thread is inside the loop.
  [[nodiscard]] bool is_here() const noexcept;

  /// Takes over a handle that was freed inside a callback.
  void finish_later(Handle& handle) noexcept;
  /// Ends those handles. Not inside a callback.
  void finish_freed() noexcept;

 private:
  const std::shared_ptr<Runtime> runtime_;
  const int descriptor_;
  std::atomic<std::thread::id> last_runner_{};
  std::mutex run_mutex_;  // held by the thread that runs the loop

  std::mutex mutex_;
  HandleList freed_;  // guarded by mutex_
};

}  // namespace kube::c
