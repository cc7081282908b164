// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

namespace kube {

/// Requests a stop on the first SIGINT or SIGTERM, and exits the process with code 1 on the second.
/// The destructor restores the previous signal handlers.
///
/// There can be one at a time: the constructor throws std::logic_error if one exists, and
/// std::system_error if the system refuses. Belongs in the function main() of a program:
///   const auto stop = kube::stop_on_signals();
///   manager.run(stop);
class SignalStop {
 public:
  SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
  ~SignalStop();

  [[nodiscard]] std::stop_token token() const noexcept;
  /// Waits for the first signal.
  void wait() const;
  operator std::stop_token() const noexcept { return token(); }  // NOLINT: that is what it is for

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Returns a SignalStop for main().
[[nodiscard]] inline SignalStop stop_on_signals() { return SignalStop{}; }

}  // namespace kube
