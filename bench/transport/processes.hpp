// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kube::bench {

/// The total resource usage of a process.
struct Usage {
  double cpu_ms = 0;  ///< user and system
  double rss_mb = 0;  ///< peak
};

/// Runs a program and waits for it. Throws std::runtime_error if it fails.
Usage run(const std::vector<std::string>& command);

/// A program that runs during the lifetime of this object, and prints one line when it is ready.
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

/// Current resident memory of this process.
[[nodiscard]] double resident_mb();

}  // namespace kube::bench
