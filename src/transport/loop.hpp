// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include <kube/transport/http_transport.hpp>

#include <poll.h>

#include <array>
#include <memory>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include "connection.hpp"
#include "network.hpp"

namespace kube::detail {

/// What the transport's thread does: it gives exchanges to connections, makes connections where there are too
/// few, moves bytes, and looks at the time. Everything but the constructors, mailbox() and the destructor
/// happens in the thread that calls run().
///
/// An exception, of whatever type, fails the exchanges that it concerns, or all of them; the loop goes on.
class Loop {
 public:
  using TimePoint = Clock::TimePoint;

  /// Throws TransportError.
  explicit Loop(TransportOptions options);
  /// On another network than the machine's.
  Loop(TransportOptions options, std::unique_ptr<Network> network);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }

  /// Returns after a stop (and a nudge() of the mailbox); all exchanges have failed then.
  void run(const std::stop_token& stop) noexcept;
  /// Does what there is to do, then waits until there is more.
  void step() noexcept;

 private:
  static constexpr std::size_t kReadSize = std::size_t{128} << 10;

  using Connections = std::vector<std::unique_ptr<Connection>>;

  /// The connections and exchanges of one lane.
  struct Pool {
    ExchangeQueue waiting{ExchangeLink::kWaiting};
    /// By connections; they wait again after turn().
    ExchangeQueue returned{ExchangeLink::kWaiting};
    /// How many exchanges the last connection was good for: 1 with HTTP/1.1.
    std::size_t width = 100;
    Connections connections;
  };

  void turn();
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
  void wait();
  /// Fails all exchanges that were accepted; those in the mailbox wait for the next turn.
  void fail_everything(const TransportError& error) noexcept;
  void shut_down() noexcept;

  const TransportOptions options_;
  const Origin origin_;
  const SessionSettings settings_;
  const TransportError canceled_;
  const TransportError shut_down_;
  const std::shared_ptr<Mailbox> mailbox_;
  /// Through which the mailbox ends a wait().
  const std::shared_ptr<const FileDescriptor> wake_;
  const std::unique_ptr<Network> network_;
  const Clock& clock_;
  std::array<Pool, 2> pools_;
  std::shared_ptr<const TlsMaterial> material_;
  std::unordered_set<std::shared_ptr<Exchange>> exchanges_;
  ExchangeQueue finished_{ExchangeLink::kFinished};
  /// Not initialised: pages that are never needed cost nothing.
  const std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  // For wait() alone:
  std::vector<pollfd> sockets_;
  std::vector<Connection*> watching_;
  /// No exchange has a deadline before.
  TimePoint next_deadline_ = TimePoint::max();
};

}  // namespace kube::detail
