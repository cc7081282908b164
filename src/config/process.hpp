// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include "base/fork.hpp"
#include <kube/base/secret_text.hpp>

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace kube::detail {

struct ProcessOptions {
  std::string program = {};
  /// argv; the first is the program name.
  std::vector<std::string> arguments = {};
  /// "NAME=value".
  std::vector<std::string> environment = {};
  /// If false, standard input is empty.
  bool inherits_stdin = false;
  std::size_t max_output = 0;
};

struct ProcessResult {
  enum class End { kExited, kSignaled, kKilled, kTooMuchOutput };
  End end = End::kExited;
  /// The exit code or the signal number.
  int code = 0;
  SecretText output = {};
};

/// Resolves a program name: a name with a slash is returned as it is, any other is searched for on
/// `search_path`, ignoring relative folders. Returns empty if there is no executable file.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& search_path);

/// A program that runs without a shell. Collects its standard output without blocking; standard
/// error is inherited. The child inherits nothing else. Its own children are killed with it only if
/// there is no terminal: a process group of its own could not read from the terminal. Output of
/// children that outlive it is ignored.
///
/// The destructor kills the child if it runs, and waits until it has ended.
/// Thread safety: that of its owner.
class Process {
 public:
  /// Throws std::system_error if the program cannot be started.
  explicit Process(const ProcessOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Readable when advance() can continue.
  [[nodiscard]] int descriptor() const noexcept { return ready_.get(); }
  /// Reads what the program has printed. Returns true once the program has ended. A program that
  /// prints too much is killed. Throws std::system_error.
  [[nodiscard]] bool advance();
  /// Kills the program. advance() reports its end.
  void kill() noexcept { kill(ProcessResult::End::kKilled); }
  [[nodiscard]] bool is_killed() const noexcept { return is_killed_; }
  /// Valid once the program has ended.
  [[nodiscard]] const ProcessResult& result() const noexcept { return result_; }

 private:
  void kill(ProcessResult::End reason) noexcept;
  void send_kill() const noexcept;
  void watch(int fd) const;
  /// Returns false if the output exceeds the limit.
  [[nodiscard]] bool drain();
  void close_pipe() noexcept;
  /// Returns true if the child has ended; `flags` are those of waitpid().
  bool reap(int flags) noexcept;

  const ProcessMark process_;
  const std::size_t max_output_;
  const bool has_own_group_;
  FileDescriptor pipe_;
  FileDescriptor ready_;  // epoll of the pipe and of exited_
  FileDescriptor exited_;
  pid_t pid_ = -1;
  bool is_reaped_ = true;
  bool is_killed_ = false;
  ProcessResult result_;
};

}  // namespace kube::detail
