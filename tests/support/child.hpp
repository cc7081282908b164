// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace kube::testing_support {

/// A child process that reads requests and writes answers line by line. It inherits stderr.
class Child {
 public:
  /// Starts the process. Throws std::system_error.
  explicit Child(const std::vector<std::string>& command);
  ~Child();  ///< ends the process, forcibly if necessary
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  /// Sends a line and waits up to a minute for the answer. Throws std::runtime_error.
  std::string ask(const std::string& line);
  /// Waits for the process to end. Returns its exit status, or 128 plus the signal.
  int wait();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string received_;
};

/// Runs a program and waits for it. Throws std::runtime_error if it fails.
void run_program(const std::vector<std::string>& command);

}  // namespace kube::testing_support
