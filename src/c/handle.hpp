// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fork.hpp"

#include <memory>

namespace kube::c {

class OwnLoop;

/// Base of handles that take time to end, because threads or callbacks have to end first.
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// Throws ForkedError in a child of the process that made it; `what` begins the message.
  void check_process(const char* what) const { process_.check(what); }
  [[nodiscard]] bool is_of_parent() const noexcept { return process_.is_of_parent(); }

 protected:
  friend class HandleList;
  friend void free_handle(Handle* handle) noexcept;
  friend void finish_all(class HandleList& handles) noexcept;

  /// Does not wait once finish() has returned.
  virtual ~Handle() = default;
  /// Prevents further callbacks, and requests the end of all work. Does not wait. Called inside a
  /// callback; finish() follows later, on another thread.
  virtual void close() noexcept = 0;
  /// Returns after the last callback.
  virtual void finish() noexcept = 0;
  /// Returns the loop that the program runs, if finish() needs it; else null.
  [[nodiscard]] virtual std::shared_ptr<OwnLoop> own_loop() const noexcept { return nullptr; }

 private:
  const detail::ProcessMark process_{};
  Handle* next_ = nullptr;  // for HandleList
};

/// Handles that were freed inside a callback and have not ended yet. An intrusive list, so that
/// freeing needs no memory.
/// Thread safety: none.
class HandleList {
 public:
  HandleList() = default;
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(Handle& handle) noexcept {
    handle.next_ = first_;
    first_ = &handle;
  }
  /// Returns null if it is empty.
  [[nodiscard]] Handle* pop() noexcept {
    Handle* const handle = first_;
    if (handle != nullptr) first_ = handle->next_;
    return handle;
  }
  void swap(HandleList& other) noexcept { std::swap(first_, other.first_); }

 private:
  Handle* first_ = nullptr;
};

/// Implements _free of all such handles: finishes the handle now. Inside a callback it returns
/// immediately, and another thread, or the program's loop if the handle needs it, finishes the
/// handle. Accepts null.
void free_handle(Handle* handle) noexcept;
/// Finishes freed handles. Must not be called inside a callback.
void finish_all(HandleList& handles) noexcept;

}  // namespace kube::c
