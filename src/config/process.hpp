// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/secret_text.hpp>

#include <cstddef>
#include <stop_token>
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
  Clock::Duration deadline = {};
};

struct ProcessResult {
  enum class End { kExited, kSignaled, kTimedOut, kStopped, kTooMuchOutput };
  End end = End::kExited;
  /// The exit code or the signal number.
  int code = 0;
  SecretText output = {};
};

/// Resolves a program name: a name with a slash is returned as it is, any other is searched for on
/// `search_path`, ignoring relative folders. Returns empty if there is no executable file.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& search_path);

/// Runs a program without a shell and collects its standard output; standard error is inherited.
/// The child inherits nothing else, and is always killed and reaped before this returns. Its own
/// children are killed with it only if there is no terminal: a process group of its own could not
/// read from the terminal. Output of children that outlive it is ignored.
///
/// Throws std::system_error if the program cannot be started.
[[nodiscard]] ProcessResult run_process(const ProcessOptions& options, Clock& clock,
                                        std::stop_token stop);

}  // namespace kube::detail
