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

/// Assigns exchanges to connections, opens connections as needed, transfers data and checks
/// deadlines. Everything but the constructors and the const members is used on the loop's thread.
///
/// An exception, of whatever type, fails the affected exchanges, or all of them; the dispatcher
/// continues.
class HttpDispatcher {
 public:
  using TimePoint = Clock::TimePoint;

  /// Throws TransportError.
  explicit HttpDispatcher(TransportOptions options);
  /// Uses another network than the machine's, for tests.
  HttpDispatcher(TransportOptions options, std::unique_ptr<Network> network);
  ~HttpDispatcher();
  HttpDispatcher(const HttpDispatcher&) = delete;
  HttpDispatcher& operator=(const HttpDispatcher&) = delete;

  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  /// Hands over the Runtime of the options; may be null. The dispatcher belongs to a job, which may
  /// be destroyed on a thread of that Runtime, so it must not be the last to release it.
  [[nodiscard]] std::shared_ptr<Runtime> take_runtime() noexcept {
    return std::move(options_.runtime);
  }

  /// Sets the job that mail and sockets schedule, and that calls turn(). Call before the first
  /// post.
  void attach(const std::shared_ptr<Job>& job) noexcept;
  /// Does all pending work. Returns when it must be called again even if nothing happens;
  /// TimePoint::min() means at once.
  [[nodiscard]] TimePoint turn() noexcept;
  /// Extends the deadlines of peers by the time that the loop did not run.
  void extend_deadlines(Clock::Duration stall) noexcept;
  /// Fails all exchanges, closes all connections and rejects new exchanges.
  void shut_down() noexcept;

 private:
  static constexpr std::size_t kReadSize = std::size_t{128} << 10;

  using Connections = std::vector<std::unique_ptr<Connection>>;

  /// The connections and exchanges of one lane.
  struct Pool {
    ExchangeQueue waiting{ExchangeLink::kWaiting};
    /// Returned by connections; they wait again after the turn.
    ExchangeQueue returned{ExchangeLink::kWaiting};
    /// How many exchanges the last connection could carry at once: 1 with HTTP/1.1.
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
  void check_deadlines() noexcept;
  /// Returns the deadline of the exchange; max() if it has none.
  [[nodiscard]] TimePoint deadline(const Exchange& exchange) const;
  [[nodiscard]] TransportError timeout_of(const Exchange& exchange, TimePoint now) const noexcept;
  void close_connections() noexcept;
  void close_longest_idle() noexcept;
  void collect_returned(Pool& pool) noexcept;
  void report_finished() noexcept;
  /// Subscribes to the next events and returns the next deadline.
  [[nodiscard]] TimePoint wait() noexcept;
  /// Fails all accepted exchanges. Those still in the mailbox are handled in the next turn.
  void fail_everything(const TransportError& error) noexcept;

  TransportOptions options_;  // constant, except for the Runtime
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
  /// Not initialised, so that unused pages cost no memory.
  const std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  /// Lower bound of all deadlines.
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace kube::detail
