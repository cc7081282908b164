// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kube::torture {

/// Kinds of calls that can be made to fail.
enum class FaultKind : std::uint8_t {
  kAllocation,  ///< malloc, calloc, realloc, operator new
  kSend,        ///< send, sendmsg, write and writev to a socket
  kReceive,     ///< recv, recvmsg and read from a socket or pipe
  kPoll,        ///< poll, ppoll
  kEpollWait,   ///< epoll_wait
  kConnect,     ///< connect
  kOpen,      ///< socket, accept4, eventfd, epoll_create1, timerfd_create, pipe2, fork, posix_spawn
  kDisk,      ///< pwrite, fsync and fdatasync
  kThread,    ///< pthread_create
  kCallback,  ///< user code: handlers, index functions, transforms, ...
};
inline constexpr std::size_t kFaultKinds = 10;

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;
[[nodiscard]] std::optional<FaultKind> parse_fault_kind(std::string_view text) noexcept;
/// Returns the errno values for this kind; each is tested in its own run. Empty if there is only
/// one way to fail.
[[nodiscard]] std::span<const int> errors_of(FaultKind kind) noexcept;

/// A fault: which call fails, and how.
struct Fault {
  FaultKind kind = FaultKind::kAllocation;
  /// Counted from 1.
  std::uint64_t number = 1;
  /// Number of consecutive calls that fail, beginning with `number`.
  std::uint64_t burst = 1;
  /// errno, for system calls.
  int error = 0;
};

/// Counts calls and makes some of them fail. Only calls of threads that are subject to faults
/// count: those inside a Subject scope, and threads that such a thread starts.
///
/// Thread safety: all functions, from any thread. Only the runner calls arm() and disarm().
void arm(const Fault& fault) noexcept;
void disarm() noexcept;
/// Returns whether the armed fault has been injected.
[[nodiscard]] bool fault_struck() noexcept;
/// Counts this call. Returns whether it has to fail.
[[nodiscard]] bool strikes(FaultKind kind) noexcept;
/// Returns the number of calls of the armed kind so far.
[[nodiscard]] std::uint64_t calls_seen() noexcept;
/// Returns the errno of the armed fault.
[[nodiscard]] int fault_error() noexcept;

/// Makes the calls of this thread, and the threads that it starts, subject to faults.
class Subject {
 public:
  Subject() noexcept;
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

 private:
  bool before_;
};

/// Exempts the calls of this thread: for the harness's own code in callbacks.
class Immune {
 public:
  Immune() noexcept;
  ~Immune();
  Immune(const Immune&) = delete;
  Immune& operator=(const Immune&) = delete;

 private:
  bool before_;
};

/// Returns whether this thread is subject to faults; new threads inherit it.
[[nodiscard]] bool is_subject() noexcept;
void set_subject(bool subject) noexcept;

/// Returns the number of running threads that are subject to faults.
[[nodiscard]] std::size_t subject_threads() noexcept;
void count_subject_thread(int by) noexcept;

/// Injection point in user code: throws if its turn has come, alternately an std::exception and
/// something else.
void callback_point();

}  // namespace kube::torture
