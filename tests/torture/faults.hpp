// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kube::torture {

/// What can be made to fail.
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
  kCallback,  ///< code of the user: handlers, index functions, transforms, ...
};
inline constexpr std::size_t kFaultKinds = 10;

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;
[[nodiscard]] std::optional<FaultKind> parse_fault_kind(std::string_view text) noexcept;
/// The errors that a call of this kind fails with, one run each. Empty: it has one way to fail.
[[nodiscard]] std::span<const int> errors_of(FaultKind kind) noexcept;

/// Which call fails, and how.
struct Fault {
  FaultKind kind = FaultKind::kAllocation;
  /// Counted from 1.
  std::uint64_t number = 1;
  /// How many calls in a row fail, beginning with that one.
  std::uint64_t burst = 1;
  /// errno, for system calls.
  int error = 0;
};

/// Counts calls and makes some of them fail. Only calls by threads that are subject to faults count: those inside a
/// Subject scope, and threads that such a thread starts.
///
/// Thread safety: all functions, from any thread. arm() and disarm() belong to the runner.
void arm(const Fault& fault) noexcept;
void disarm() noexcept;
/// Whether the armed fault has struck.
[[nodiscard]] bool fault_struck() noexcept;
/// Whether this call is to fail. Counts it.
[[nodiscard]] bool strikes(FaultKind kind) noexcept;
/// How many calls of the armed kind have been counted.
[[nodiscard]] std::uint64_t calls_seen() noexcept;
/// errno of the armed fault.
[[nodiscard]] int fault_error() noexcept;

/// Marks the calls of this thread, and the threads that it starts, as subject to faults.
class Subject {
 public:
  Subject() noexcept;
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

 private:
  bool before_;
};

/// Exempts the calls of this thread: for the harness's own code inside of callbacks.
class Immune {
 public:
  Immune() noexcept;
  ~Immune();
  Immune(const Immune&) = delete;
  Immune& operator=(const Immune&) = delete;

 private:
  bool before_;
};

/// Whether calls of this thread count; threads inherit it.
[[nodiscard]] bool is_subject() noexcept;
void set_subject(bool subject) noexcept;

/// Threads that are subject to faults and have not ended.
[[nodiscard]] std::size_t subject_threads() noexcept;
void count_subject_thread(int by) noexcept;

/// A place in user code: throws if its turn has come, an std::exception or something else in turns.
void callback_point();

}  // namespace kube::torture
