// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

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
