// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <array>
#include <memory>
#include <unordered_set>
#include <vector>

#include "connection.hpp"
#include "network.hpp"

namespace kube::detail {

/// Gives exchanges to connections, makes connections where there are too few, moves bytes, and looks at the time.
/// Everything but the constructors and the constant members happens in the loop's thread.
///
/// An exception, of whatever type, fails the exchanges that it concerns, or all of them; the dispatcher goes on.
class HttpDispatcher {
 public:
  using TimePoint = Clock::TimePoint;

  /// Throws TransportError.
  explicit HttpDispatcher(TransportOptions options);
  /// On another network than the machine's.
  HttpDispatcher(TransportOptions options, std::unique_ptr<Network> network);
  ~HttpDispatcher();
  HttpDispatcher(const HttpDispatcher&) = delete;
  HttpDispatcher& operator=(const HttpDispatcher&) = delete;

  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }

  /// From now on mail and sockets schedule this job, which calls turn(). Before the first post.
  void attach(const std::shared_ptr<Job>& job) noexcept;
  /// Does what there is to do. Returns when it has to be called again though nothing happens: TimePoint::min() at once.
  [[nodiscard]] TimePoint turn() noexcept;
  /// Nobody ran the loop for that long: the time does not count against peers.
  void forgive(Clock::Duration stall) noexcept;
  /// Fails all exchanges, closes all connections and accepts nothing more.
  void shut_down() noexcept;

 private:
  static constexpr std::size_t kReadSize = std::size_t{128} << 10;

  using Connections = std::vector<std::unique_ptr<Connection>>;

  /// The connections and exchanges of one lane.
  struct Pool {
    ExchangeQueue waiting{ExchangeLink::kWaiting};
    /// By connections; they wait again after the turn.
    ExchangeQueue returned{ExchangeLink::kWaiting};
    /// How many exchanges the last connection was good for: 1 with HTTP/1.1.
    std::size_t width = 100;
    Connections connections;
  };

  void work();
  void read_mail();
  void accept(const std::shared_ptr<Exchange>& exchange) noexcept;
  void drop(const std::shared_ptr<Exchange>& exchange, const TransportError& error) noexcept;
  void renew(const std::shared_ptr<const TlsMaterial>& material);
  void make_connections(Pool& pool) noexcept;
  void dial_failed(Pool& pool, const Connection& connection, const TransportError& error) noexcept;
  void dispatch(Pool& pool) noexcept;
  void dial(Pool& pool, std::size_t count) noexcept;
  void move_bytes() noexcept;
  void look_at_clock() noexcept;
  /// The end of the time that the exchange may take; max() if it has none.
  [[nodiscard]] TimePoint deadline(const Exchange& exchange) const;
  [[nodiscard]] TransportError timeout_of(const Exchange& exchange, TimePoint now) const noexcept;
  void close_connections() noexcept;
  void close_longest_idle() noexcept;
  void collect_returned(Pool& pool) noexcept;
  void report_finished() noexcept;
  /// Has the loop tell of what happens next.
  [[nodiscard]] TimePoint wait() noexcept;
  /// Fails all exchanges that were accepted; those in the mailbox wait for the next turn.
  void fail_everything(const TransportError& error) noexcept;

  const TransportOptions options_;
  const Origin origin_;
  const SessionSettings settings_;
  const TransportError canceled_;
  const TransportError shut_down_;
  const std::shared_ptr<Mailbox> mailbox_;
  SocketWatcher watcher_;
  const std::unique_ptr<Network> network_;
  const Clock& clock_;
  std::array<Pool, 2> pools_;
  std::shared_ptr<const TlsMaterial> material_;
  std::unordered_set<std::shared_ptr<Exchange>> exchanges_;
  ExchangeQueue finished_{ExchangeLink::kFinished};
  /// Not initialised: pages that are never needed cost nothing.
  const std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  /// No exchange has a deadline before.
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace kube::detail
