// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kube::detail {

/// Thrown by a call in the child of fork() on an object that belongs to the parent.
class ForkedError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The number of forks between the first process and this one. Needs no system call: a
/// pthread_atfork() handler counts them.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

/// Records the process that created an object. In a child of fork() the object's threads do not
/// exist, the locks that they held stay locked, and its sockets belong to the parent.
class ProcessMark {
 public:
  /// True if the object was created by a parent of this process.
  [[nodiscard]] bool is_of_parent() const noexcept { return generation_ != fork_generation(); }
  /// Throws ForkedError in a child. `what` is the subject of the message: "the Runtime".
  void check(const char* what) const {
    if (is_of_parent()) refuse(what);
  }

 private:
  [[noreturn]] static void refuse(const char* what);

  const std::uint64_t generation_ = fork_generation();
};

/// As std::make_shared(), but never destroys the object in a child of the creating process: the
/// destructor would wait there for threads and locks that no longer exist.
template <typename T, typename... Args>
[[nodiscard]] std::shared_ptr<T> make_shared_in_process(Args&&... args) {
  return {new T(std::forward<Args>(args)...), [process = ProcessMark{}](T* object) {
            if (!process.is_of_parent()) delete object;
          }};
}
/// Leaks one reference, so that an object of the parent is never destroyed in the child.
template <typename T>
void keep_for_ever(const std::shared_ptr<T>& object) noexcept {
  try {
    (void)new std::shared_ptr<T>(object);
  } catch (...) {
    std::terminate();  // its destructor would hang
  }
}

/// Registry of the event loops' descriptors: sockets, epoll, eventfd, timerfd. A child of fork()
/// inherits copies, which are closed before fork() returns there; otherwise a connection would stay
/// open after the parent has closed it.
///
/// Thread safety: all functions may be called from any thread.
namespace loop_descriptors {
/// Call before the descriptor is used.
void add(int fd) noexcept;
/// Call before the descriptor is closed.
void remove(int fd) noexcept;
}  // namespace loop_descriptors

/// Counts a Runtime while it exists. Its threads may hold locks of other libraries at the time of a
/// fork(), so the child cannot create a Runtime of its own: it might wait for such a lock forever.
class LiveRuntime {
 public:
  /// Throws ForkedError in a process that was forked while a Runtime existed.
  LiveRuntime();
  ~LiveRuntime();
  LiveRuntime(const LiveRuntime&) = delete;
  LiveRuntime& operator=(const LiveRuntime&) = delete;
};

}  // namespace kube::detail
