// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include "engine/job.hpp"
#include "engine/timer.hpp"
#include "transport/byte_stream.hpp"
#include "transport/tls_stream.hpp"
#include <kube/base/clock.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gate.hpp"
#include "session.hpp"

namespace kube::server {

/// A socket and the session on it. Reads while the session accepts input, and writes the output of
/// the session. No output is produced while earlier output is unsent: this back-pressure slows only
/// the streams of a slow peer.
///
/// Any failure, including an allocation failure, ends only this connection.
///
/// Thread safety: drain(), abort() and replace() from any thread. close() on the loop's thread, or
/// while no thread runs the loop.
class Connection final : public detail::Job, private SessionHost {
 public:
  struct Setup {
    detail::FileDescriptor socket;
    std::shared_ptr<SSL_CTX> tls;  ///< null: plain HTTP
    Limits limits;
    Handler& handler;
    Clock& clock;
    /// Every request is refused: there are too many connections.
    bool refuses = false;
    std::uint64_t number = 0;  ///< in the order of acceptance
    /// Called once, on the thread that closes it. The caller of close() keeps it alive meanwhile.
    std::function<void(const Connection&)> on_closed;
  };

  /// Throws std::bad_alloc.
  Connection(Setup setup, const std::shared_ptr<detail::Scheduler>& scheduler);
  ~Connection() override { close(); }

  /// Finishes requests in progress, ends streams, and closes.
  void drain() noexcept { command(kDrain); }
  void abort() noexcept { command(kAbort); }
  /// Answers the request that has begun, if any, with Refusal::kReplaced, and closes.
  void replace() noexcept { command(kReplace); }
  [[nodiscard]] bool is_leaving() const noexcept { return commands_.load() != 0; }
  [[nodiscard]] bool is_replaced() const noexcept { return (commands_.load() & kReplace) != 0; }
  [[nodiscard]] std::uint64_t number() const noexcept { return setup_.number; }
  void close() noexcept;

 private:
  using TimePoint = Clock::TimePoint;
  enum Command : std::uint8_t { kDrain = 1, kAbort = 2, kReplace = 4 };

  [[nodiscard]] std::optional<Reply> serve(Request request, std::int32_t exchange) override;
  [[nodiscard]] std::function<void()> waker(std::int32_t exchange) override {
    return gate_->waker(exchange);
  }
  void silence() override { silent_ = true; }
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] const Limits& limits() const override { return setup_.limits; }
  [[nodiscard]] Handler& handler() override { return setup_.handler; }
  [[nodiscard]] const std::shared_ptr<const Peer>& peer() const override { return peer_; }

  void run() noexcept override;
  void command(Command command) noexcept {
    commands_.fetch_or(command);
    schedule();
  }
  void turn();
  void open();
  /// Returns true once the handshake is complete.
  [[nodiscard]] bool handshake();
  void obey();
  void read();
  void receive(std::string_view bytes);
  void choose_session(bool http2);
  void take(Gate::Mail mail);
  /// The reply of a handler that has failed.
  [[nodiscard]] Reply failed() const;
  /// Writes what the session produces. Returns false if there is more, after other connections have
  /// had their turn.
  bool pump();
  /// Returns true if all output is written.
  bool write();
  void end();
  void check_time();
  [[nodiscard]] TimePoint next_timeout() const;
  /// Subscribes to the socket and the clock.
  void wait() noexcept;

  Setup setup_;
  const int socket_;  // owned by setup_, then by stream_
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::atomic<std::uint8_t> commands_ = 0;

  // Used on the loop's thread only:
  std::unique_ptr<detail::ByteStream> stream_;
  detail::TlsStream* tls_ = nullptr;  // stream_, during the handshake
  std::shared_ptr<const Peer> peer_;
  std::unique_ptr<Session> session_;
  detail::Timer timer_;
  TimePoint timer_set_ = TimePoint::max();
  TimePoint now_;
  /// When the connection was accepted, became idle, could not write, or began to finish.
  TimePoint since_;
  std::uint64_t requests_seen_ = 0;
  std::string preface_;
  std::string output_;
  std::size_t written_ = 0;
  std::uint8_t obeyed_ = 0;  // the commands that were carried out
  bool more_ = true;         // there may be input that the socket does not report
  bool blocked_ = false;     // output_ waits for the peer
  bool idle_ = false;
  bool silent_ = false;
  bool finishing_ = false;  // waits for the peer to close
  bool closed_ = false;
};

}  // namespace kube::server
