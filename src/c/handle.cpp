// SPDX-License-Identifier: Apache-2.0
#include "handle.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>

#include "callback.hpp"
#include "own_loop.hpp"

namespace kube::c {

namespace {

/// Finishes handles that were freed inside callbacks, in a thread that exists only while there are
/// any.
class Reaper {
 public:
  /// Never destroyed, because its thread may outlive main().
  static Reaper& instance() noexcept {
    alignas(Reaper) static std::array<std::byte, sizeof(Reaper)> storage;
    static Reaper& reaper = *::new (storage.data()) Reaper;
    return reaper;
  }

  void push(Handle& handle) noexcept {
    const std::lock_guard guard{mutex_};
    handles_.push(handle);
    if (running_) return;
    try {
      std::thread{[this] { run(); }}.detach();
      running_ = true;
    } catch (...) {  // NOLINT(bugprone-empty-catch): help() does it
    }
  }
  /// Finishes the handles itself, if the thread could not be started.
  void help() noexcept {
    HandleList handles;
    {
      const std::lock_guard guard{mutex_};
      if (running_) return;
      handles.swap(handles_);
    }
    finish_all(handles);
  }

 private:
  Reaper() = default;

  void run() noexcept {
    for (;;) {
      HandleList handles;
      {
        const std::lock_guard guard{mutex_};
        running_ = !handles_.empty();
        if (!running_) return;
        handles.swap(handles_);
      }
      finish_all(handles);
    }
  }

  std::mutex mutex_;
  HandleList handles_;    // guarded by mutex_
  bool running_ = false;  // guarded by mutex_
};

}  // namespace

void finish_all(HandleList& handles) noexcept {
  while (Handle* const handle = handles.pop()) {
    handle->finish();
    delete handle;
  }
}

void free_handle(Handle* handle) noexcept {
  // In a child of fork() its threads do not exist, and its locks may be held for ever: leak it.
  if (handle == nullptr || handle->is_of_parent()) return;
  const std::shared_ptr<OwnLoop> own_loop = handle->own_loop();
  if (CallbackScope::is_inside()) {
    handle->close();
    if (own_loop) return own_loop->finish_later(*handle);
    return Reaper::instance().push(*handle);
  }
  handle->finish();
  delete handle;
  if (own_loop) own_loop->finish_freed();
  Reaper::instance().help();
}

}  // namespace kube::c
