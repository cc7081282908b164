// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/file_descriptor.hpp>
#include <kube/transport/http_transport.hpp>

#include <openssl/types.h>
#include <poll.h>

#include <array>
#include <deque>
#include <memory>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include "connection.hpp"

namespace kube::detail {

/// What the transport's thread does: it gives exchanges to connections, makes connections where there are too
/// few, moves bytes, and looks at the time. Everything but the constructor, mailbox() and the destructor
/// happens in the thread that calls run().
class Loop {
 public:
  using TimePoint = Clock::TimePoint;

  explicit Loop(TransportOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }

  /// Returns after a stop (and a nudge() of the mailbox); everything that was under way has failed then.
  void run(const std::stop_token& stop) noexcept;

 private:
  static constexpr std::size_t kReadSize = std::size_t{128} << 10;

  using Connections = std::vector<std::unique_ptr<Connection>>;

  /// What the requests of one lane have to themselves.
  struct Pool {
    Connections connections;
    std::deque<std::shared_ptr<Exchange>> waiting;
    /// How many exchanges the last connection was good for: 1 with HTTP/1.1.
    std::size_t width = 100;
  };

  void turn();
  void read_mail();
  void accept(const std::shared_ptr<Exchange>& exchange);
  void drop(const std::shared_ptr<Exchange>& exchange, const TransportError& error);
  void renew(const std::shared_ptr<const TlsMaterial>& material);
  void make_connections();
  void dial_failed(Pool& pool, const Connection& connection, const TransportError& error);
  void dispatch(Pool& pool);
  [[nodiscard]] std::unique_ptr<Dial> dial();
  void move_bytes();
  void collect_returned();
  void look_at_clock();
  void close_connections();
  void report_finished();
  void wait();
  void fail_everything(const TransportError& error);

  const TransportOptions options_;
  const Origin origin_;
  const SessionSettings settings_;
  const std::shared_ptr<Mailbox> mailbox_;
  /// Through which the mailbox ends a wait().
  const std::shared_ptr<const FileDescriptor> wake_;
  Resolver resolver_;
  std::array<Pool, 2> pools_;
  std::shared_ptr<const TlsMaterial> material_;
  /// Of material_, once it was needed.
  std::shared_ptr<SSL_CTX> tls_;
  std::unordered_set<std::shared_ptr<Exchange>> exchanges_;
  std::vector<std::shared_ptr<Exchange>> finished_;
  /// Not initialised: pages that are never needed cost nothing.
  const std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  // For wait() alone:
  std::vector<pollfd> sockets_;
  std::vector<Connection*> watching_;
  /// No exchange has a deadline before.
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace kube::detail
