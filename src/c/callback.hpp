// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/no_wait.hpp"
#include <kube/base/condition.hpp>

#include <cstdint>
#include <mutex>

namespace kube::c {

/// Whether functions that wait may be called in a callback.
enum class Waiting : std::uint8_t { kAllowed, kForbidden };

/// Marks the calling thread, as long as it lives, as one that is inside a callback of the caller's. Marks nest.
class CallbackScope {
 public:
  CallbackScope(const void* owner, Waiting waiting) noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  /// Whether the calling thread is inside any callback.
  [[nodiscard]] static bool is_inside() noexcept;
  [[nodiscard]] static bool is_inside_of(const void* owner) noexcept;

 private:
  const void* const owner_;
  const CallbackScope* const outer_;
  const detail::NoWaitCode no_wait_;
};

/// The callbacks that a handle makes with the same user data. Once it is closed, no callback begins any more; after the last
/// one has returned, the user data is released.
///
/// Thread safety: all methods may be called from any thread.
class CallbackGate {
 public:
  using Release = void (*)(void* user_data);

  CallbackGate(void* user_data, Release release, Waiting waiting) noexcept
      : user_data_(user_data), waiting_(waiting), release_(release) {}
  CallbackGate(const CallbackGate&) = delete;
  CallbackGate& operator=(const CallbackGate&) = delete;

  /// Calls `function(user_data)` unless the gate is closed. Throws what it throws.
  template <typename Function>
  void call(const Function& function) {
    if (!enter()) return;
    const Leaver leaver{*this};
    const CallbackScope scope{this, waiting_};
    function(user_data_);
  }
  /// Does not wait.
  void close() noexcept;
  /// Returns when the user data has been released. Not to be called inside a callback.
  void close_and_wait() noexcept;
  /// The user data stays with the caller. Before the first call().
  void keep_user_data() noexcept { release_ = nullptr; }

 private:
  struct Leaver {
    CallbackGate& gate;
    ~Leaver() { gate.leave(); }
  };

  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;
  /// Releases the user data if it is time for it.
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
