// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace kube::testing_support {

/// A process that is asked by lines and answers with lines. Its errors go where ours go.
class Child {
 public:
  /// Throws std::system_error.
  explicit Child(const std::vector<std::string>& command);
  ~Child();  ///< ends it, if need be by force
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  /// Sends a line and waits for the answer, at most a minute. Throws std::runtime_error.
  std::string ask(const std::string& line);
  /// Waits for its end. Returns the exit status, or 128 and the signal.
  int wait();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string received_;
};

/// Runs a program to its end; throws std::runtime_error if it fails.
void run_program(const std::vector<std::string>& command);

}  // namespace kube::testing_support
