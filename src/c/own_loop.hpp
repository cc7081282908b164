// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/runtime.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "handle.hpp"

namespace kube::c {

/// The loop of a Runtime without threads, which the program runs, and the handles that were freed
/// inside its callbacks.
///
/// Thread safety: all methods may be called from any thread.
class OwnLoop {
 public:
  /// Throws std::system_error.
  explicit OwnLoop(const std::shared_ptr<Runtime>& runtime)
      : runtime_(runtime), descriptor_(runtime->loop().descriptor()) {}

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Throws std::logic_error inside a callback.
  bool run_ready(std::chrono::milliseconds budget);
  /// Runs the loop inside a blocking call until `done()` returns true, the deadline has passed, or
  /// another thread runs it. A stop ends it soon.
  void drive(const std::function<bool()>& done, std::chrono::steady_clock::time_point deadline,
             const std::stop_token& stop);

  /// Takes over a handle that was freed inside a callback.
  void finish_later(Handle& handle) noexcept;
  /// Finishes those handles. Does nothing inside a callback.
  void finish_freed() noexcept;

 private:
  const std::shared_ptr<Runtime> runtime_;
  const int descriptor_;

  std::mutex mutex_;
  HandleList freed_;  // guarded by mutex_
};

}  // namespace kube::c
