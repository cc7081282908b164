// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

namespace kube {

/// Requests a stop when the process is asked to end (SIGINT, SIGTERM), and ends it at once, with code 1, when it is
/// asked once more. The destructor puts everything back as it was.
///
/// There can be one at a time; the constructor throws std::logic_error if there is one already, and
/// std::system_error if the system refuses. Belongs to the function main() of a program:
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

[[nodiscard]] inline SignalStop stop_on_signals() { return SignalStop{}; }

}  // namespace kube
