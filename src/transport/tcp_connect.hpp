// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/transport/http_transport.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "resolver.hpp"
#include "socket.hpp"

namespace kube::detail {

/// Connects to the first of several addresses that accepts (happy eyeballs). The next address is
/// tried when one fails, or has not responded for a moment; the earlier attempts continue.
class TcpConnect {
 public:
  using TimePoint = Clock::TimePoint;

  /// References must outlive it.
  TcpConnect(std::vector<SocketAddress> addresses, const TransportOptions& options,
             const SocketWatcher& watcher)
      : options_(options), watcher_(watcher), addresses_(std::move(addresses)) {}

  /// Continues without blocking. Returns the socket once one is connected; it is non-blocking and
  /// close-on-exec.
  [[nodiscard]] Socket advance(TimePoint now);
  /// True if all addresses have failed.
  [[nodiscard]] bool failed() const noexcept {
    return attempts_.empty() && next_ == addresses_.size();
  }
  /// Returns the errno of the most informative failure.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// Describes all failures: "[::1]:6443: Connection refused, ...".
  [[nodiscard]] const std::string& failures() const noexcept { return failures_; }

  /// Subscribes to the outcome of the pending attempts.
  void wait() const noexcept;
  /// Returns when advance() must be called even if no socket is ready.
  [[nodiscard]] TimePoint next_step() const noexcept {
    return next_ < addresses_.size() ? next_start_ : TimePoint::max();
  }

 private:
  struct Attempt {
    Socket socket;
    std::size_t address;
  };

  enum class State { kPending, kConnected, kFailed };
  State check(const Attempt& attempt);
  State failed_with(std::size_t address, int code);

  const TransportOptions& options_;
  const SocketWatcher& watcher_;
  const std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;
  TimePoint next_start_{};
  std::vector<Attempt> attempts_;
  int error_ = 0;
  std::string failures_;
};

}  // namespace kube::detail
