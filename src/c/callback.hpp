// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/no_wait.hpp"
#include <kube/base/condition.hpp>

#include <cstdint>
#include <mutex>

namespace kube::c {

/// Whether a callback may call functions that wait.
enum class Waiting : std::uint8_t { kAllowed, kForbidden };

/// While it lives, marks the calling thread as being inside a user callback. Marks nest.
class CallbackScope {
 public:
  CallbackScope(const void* owner, Waiting waiting) noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  /// Returns whether the calling thread is inside any callback.
  [[nodiscard]] static bool is_inside() noexcept;
  [[nodiscard]] static bool is_inside_of(const void* owner) noexcept;

 private:
  const void* const owner_;
  const CallbackScope* const outer_;
  const detail::NoWaitCode no_wait_;
};

/// The callbacks of a handle that share the same user data. Once it is closed, no further callback
/// begins. After the last one has returned, the user data is released.
///
/// Thread safety: all methods may be called from any thread.
class CallbackGate {
 public:
  using Release = void (*)(void* user_data);

  CallbackGate(void* user_data, Release release, Waiting waiting) noexcept
      : user_data_(user_data), waiting_(waiting), release_(release) {}
  CallbackGate(const CallbackGate&) = delete;
  CallbackGate& operator=(const CallbackGate&) = delete;

  /// Calls `function(user_data)` unless the gate is closed. Its exceptions propagate.
  template <typename Function>
  void call(const Function& function) {
    if (!enter()) return;
    const Leaver leaver{*this};
    const CallbackScope scope{this, waiting_};
    function(user_data_);
  }
  /// Closes the gate, without waiting for running callbacks.
  void close() noexcept;
  /// Closes the gate, and returns when the user data has been released. Must not be called inside a
  /// callback.
  void close_and_wait() noexcept;
  /// Leaves the user data to the caller, who releases it. Call before the first call().
  void keep_user_data() noexcept { release_ = nullptr; }

 private:
  struct Leaver {
    CallbackGate& gate;
    ~Leaver() { gate.leave(); }
  };

  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;
  /// Releases the user data if the gate is closed and no callback runs.
  void release_if_over() noexcept;

  void* const user_data_;
  const Waiting waiting_;
  Release release_;

  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::uint64_t active_ = 0;
  bool closed_ = false;
  bool releasing_ = false;
  bool released_ = false;
};

}  // namespace kube::c
