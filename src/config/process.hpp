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
  /// The first is the name that the program sees.
  std::vector<std::string> arguments = {};
  /// "NAME=value".
  std::vector<std::string> environment = {};
  /// False: there is nothing to read there.
  bool inherits_stdin = false;
  std::size_t max_output = 0;
  Clock::Duration deadline = {};
};

struct ProcessResult {
  enum class End { kExited, kSignaled, kTimedOut, kStopped, kTooMuchOutput };
  End end = End::kExited;
  /// The exit code or the signal.
  int code = 0;
  SecretText output = {};
};

/// The program that a name means: itself if it has a slash, else the first on `search_path`, whose relative
/// folders are left out. Empty if there is none that can be run.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& search_path);

/// Runs a program without a shell and collects what it prints; its errors go where those of this process go. The
/// child inherits nothing else, and is killed and reaped before this returns, whatever happens. What it started
/// itself is killed with it only where there is no terminal: a process group of its own could not ask the
/// user there. Output of children that outlive it is not waited for.
///
/// Throws std::system_error if it cannot be started.
[[nodiscard]] ProcessResult run_process(const ProcessOptions& options, Clock& clock,
                                        std::stop_token stop);

}  // namespace kube::detail
