// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <exception>

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

// Maximum number of rounds per pump(), so that other connections get their turn.
constexpr int kMaxRounds = 4;

}  // namespace

Connection::Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
                       const TransportOptions& options, const Clock& clock, ExchangeQueue& returned)
    : settings_(settings),
      options_(options),
      clock_(clock),
      returned_(returned),
      material_(dial->material()),
      dial_(std::move(dial)) {}

Connection::~Connection() { fail(settings_.connection_closed); }

bool Connection::make(TimePoint now) {
  if (!dial_->advance(now)) return false;
  std::unique_ptr<Session> session = dial_->negotiated_http2()
                                         ? make_http2_session(settings_, returned_)
                                         : make_http1_session(settings_, returned_);
  stream_ = dial_->take_stream();
  session_ = std::move(session);
  times_ = dial_->times();
  dial_.reset();
  idle_since_ = last_received_ = now;
  more_ = true;
  fresh_ = true;
  return true;
}

bool Connection::check_input() noexcept {
  // The first data on a new connection belongs to its first request: a refusal, or a late TLS
  // error. If the connection were closed instead, the next one would end in the same way, and so
  // on.
  if (fresh_ || !session_->only_answers()) return true;
  try {
    char byte = 0;
    std::size_t size = 0;
    if (stream_->receive({&byte, 1}, size) == ByteStream::Result::kAgain) return true;
    fail(settings_.connection_closed);
  } catch (...) {
    fail(current_failure(settings_));
  }
  return false;
}

void Connection::begin(const std::shared_ptr<Exchange>& exchange) noexcept {
  exchange->connection = this;
  if (begun_++ == 0) {
    exchange->resolved = times_.resolved;
    exchange->connected = times_.connected;
    exchange->secured = times_.secured;
  }
  ++exchange->attempts;
  try {
    session_->begin(exchange);
  } catch (...) {
    const TransportError error = current_failure(settings_);
    exchange->fail(error);  // the session may not have it
    fail(error);
  }
}

void Connection::attend(const std::shared_ptr<Exchange>& exchange) noexcept {
  try {
    session_->attend(exchange);
  } catch (...) {
    return fail(current_failure(settings_));
  }
  pump();
}

void Connection::pump(std::span<char> buffer) noexcept {
  const bool was_idle = idle();
  fresh_ = false;
  try {
    try {
      write_all();
    } catch (const TransportError& error) {
      // The peer may have sent the reason before it closed. (kProtocol is an error of the session,
      // which cannot continue.)
      if (buffer.empty() || error.kind() == Kind::kProtocol) throw;
      read_some(buffer);
      throw;
    }
    if (!buffer.empty() && (stream_->take_ready() || more_)) read_some(buffer);
    if (!broken_) write_all();
  } catch (...) {
    fail(current_failure(settings_));
  }
  if (!was_idle && idle()) idle_since_ = clock_.now();
}

void Connection::read_some(std::span<char> buffer) {
  for (int round = 0; round < kMaxRounds && session_->wants_input(); ++round) {
    std::size_t filled = 0;
    std::exception_ptr error;
    auto result = ByteStream::Result::kBytes;
    // Each read yields one TLS record. Reading several means fewer calls and fewer wake-ups of the
    // reader.
    while (result == ByteStream::Result::kBytes && filled < buffer.size()) {
      std::size_t size = 0;
      try {
        result = stream_->receive(buffer.subspan(filled), size);
      } catch (const TransportError&) {
        error = std::current_exception();
        break;
      }
      filled += size;
    }
    if (filled > 0) {
      last_received_ = clock_.now();
      ping_sent_.reset();
      session_->receive({buffer.data(), filled});
    }
    if (error) std::rethrow_exception(error);
    if (result == ByteStream::Result::kAgain || result == ByteStream::Result::kAllBytes) {
      more_ = false;
      return;
    }
    if (result == ByteStream::Result::kEnd) {
      broken_ = true;
      session_->end_of_input();
      return;
    }
  }
  more_ = true;
}

void Connection::write_all() {
  blocked_ = false;
  while (true) {
    const std::string_view bytes = session_->output();
    if (bytes.empty()) return;
    const std::size_t sent = stream_->send(bytes);
    if (sent == 0) {
      blocked_ = true;
      return;
    }
    session_->sent(sent);
  }
}

void Connection::wait() noexcept {
  if (dial_) return dial_->wait();
  const bool writes = blocked_ || stream_->wants_write();
  const bool reads = session_->wants_input() && !stream_->wants_write();
  stream_->wait_for(static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)));
}

void Connection::extend_deadlines(Clock::Duration stall) noexcept {
  if (dial_) return dial_->extend_deadlines(stall);
  last_received_ += stall;
  idle_since_ += stall;
  if (ping_sent_) *ping_sent_ += stall;
}

Connection::TimePoint Connection::next_step() const {
  if (dial_) return dial_->next_step();
  const auto limit = ping_sent_ ? options_.ping_timeout : options_.read_idle_timeout;
  return limit.count() == 0 ? TimePoint::max() : ping_sent_.value_or(last_received_) + limit;
}

void Connection::check_peer(TimePoint now) noexcept {
  if (now < next_step()) return;
  try {
    if (ping_sent_) throw silent_peer();
    if (!session_->ping()) {
      last_received_ = now;
      return;
    }
    ping_sent_ = now;
  } catch (...) {
    return fail(current_failure(settings_));
  }
  pump();
}

TransportError Connection::silent_peer() const {
  return {
      Kind::kConnectionLost,
      fmt::format("{}: the server is silent: no byte for {} ms, and no answer to a PING for {} ms",
                  settings_.authority, options_.read_idle_timeout.count(),
                  options_.ping_timeout.count())};
}

void Connection::fail(const TransportError& error) noexcept {
  broken_ = true;
  if (session_) session_->fail_all(error);
}

bool Connection::closed() const {
  if (broken_) return true;
  return session_ && session_->active() == 0 && (retired_ || !session_->reusable()) && !blocked_;
}

bool Connection::will_have_room() const {
  if (closed() || retired_) return false;
  return !session_ || !session_->settled() || session_->active() == 0;
}

}  // namespace kube::detail
