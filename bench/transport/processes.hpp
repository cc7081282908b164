// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kube::bench {

/// What a process has used, all of it.
struct Usage {
  double cpu_ms = 0;  ///< user and system
  double rss_mb = 0;  ///< at its peak
};

/// Runs a program to its end. Throws std::runtime_error if it fails.
Usage run(const std::vector<std::string>& command);

/// A program that runs as long as this lives, and prints one line when it is ready.
class Background {
 public:
  explicit Background(const std::vector<std::string>& command);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] const std::string& line() const noexcept { return line_; }

 private:
  int pid_ = -1;
  int input_ = -1;
  std::string line_;
};

/// The memory of this process now.
[[nodiscard]] double resident_mb();

}  // namespace kube::bench
