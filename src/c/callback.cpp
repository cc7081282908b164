// SPDX-License-Identifier: Apache-2.0
#include "callback.hpp"

#include <utility>

namespace kube::c {

namespace {

const CallbackScope*& innermost() noexcept {
  thread_local const CallbackScope* scope = nullptr;
  return scope;
}

}  // namespace

CallbackScope::CallbackScope(const void* owner, Waiting waiting) noexcept
    : owner_(owner),
      outer_(innermost()),
      no_wait_(waiting == Waiting::kForbidden || detail::NoWaitCode::is_here()) {
  innermost() = this;
}

CallbackScope::~CallbackScope() { innermost() = outer_; }

bool CallbackScope::is_inside() noexcept { return innermost() != nullptr; }

bool CallbackScope::is_inside_of(const void* owner) noexcept {
  for (const CallbackScope* scope = innermost(); scope != nullptr; scope = scope->outer_) {
    if (scope->owner_ == owner) return true;
  }
  return false;
}

bool CallbackGate::enter() noexcept {
  const std::lock_guard guard{mutex_};
  if (closed_) return false;
  ++active_;
  return true;
}

void CallbackGate::leave() noexcept {
  {
    const std::lock_guard guard{mutex_};
    --active_;
  }
  release_if_over();
}

void CallbackGate::release_if_over() noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (!closed_ || active_ > 0 || std::exchange(releasing_, true)) return;
  }
  if (release_ != nullptr) {
    const CallbackScope scope{this, Waiting::kForbidden};
    try {
      release_(user_data_);
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): of a C++ program; there is nobody to report it to
    }
  }
  // Notified under the lock: close_and_wait() may destroy the gate as soon as it holds the lock.
  const std::lock_guard guard{mutex_};
  released_ = true;
  changed_.notify_all();
}

void CallbackGate::close() noexcept {
  {
    const std::lock_guard guard{mutex_};
    closed_ = true;
  }
  release_if_over();
}

void CallbackGate::close_and_wait() noexcept {
  close();
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return released_; });
}

}  // namespace kube::c
