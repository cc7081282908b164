// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kube::detail {

/// A call in the child of fork() on something that belongs to the parent.
class ForkedError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Counts the forks between the first process and this one. Needs no system call: a handler of pthread_atfork() counts.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

/// The process in which an object was made. In a child of fork() the object's threads do not exist, the locks that they held
/// stay locked, and its sockets belong to the parent.
class ProcessMark {
 public:
  /// Whether the object belongs to a parent of this process.
  [[nodiscard]] bool is_of_parent() const noexcept { return generation_ != fork_generation(); }
  /// Throws ForkedError in a child; `what` begins the message: "the Runtime".
  void check(const char* what) const {
    if (is_of_parent()) refuse(what);
  }

 private:
  [[noreturn]] static void refuse(const char* what);

  const std::uint64_t generation_ = fork_generation();
};

/// Does as std::make_shared(), but in a child of the process that made it the object stays when its last owner goes: its
/// destructor would wait for threads and locks that nobody holds there.
template <typename T, typename... Args>
[[nodiscard]] std::shared_ptr<T> make_shared_in_process(Args&&... args) {
  return {new T(std::forward<Args>(args)...), [process = ProcessMark{}](T* object) {
            if (!process.is_of_parent()) delete object;
          }};
}
/// Keeps an object of the parent for the rest of the child's life.
template <typename T>
void keep_for_ever(const std::shared_ptr<T>& object) noexcept {
  try {
    (void)new std::shared_ptr<T>(object);
  } catch (...) {
    std::terminate();  // its destructor would hang
  }
}

/// The descriptors of the event loops: sockets, epoll, eventfd, timerfd. A child of fork() has copies of them, which are closed
/// before fork() returns there, so that a connection of the parent ends when the parent ends it.
///
/// Thread safety: all functions may be called from any thread.
namespace loop_descriptors {
/// Before the descriptor is used.
void add(int fd) noexcept;
/// Before it is closed.
void remove(int fd) noexcept;
}  // namespace loop_descriptors

/// Counts a Runtime as long as it lives. While one does, threads of the library may hold locks of libraries below, and the child
/// of a fork() cannot have a Runtime of its own: one that it makes might wait for such a lock for ever.
class LiveRuntime {
 public:
  /// Throws ForkedError in such a child.
  LiveRuntime();
  ~LiveRuntime();
  LiveRuntime(const LiveRuntime&) = delete;
  LiveRuntime& operator=(const LiveRuntime&) = delete;
};

}  // namespace kube::detail
