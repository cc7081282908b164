// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <fmt/format.h>

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

// Then it is the turn of others.
constexpr int kRoundsInARow = 4;

}  // namespace

Connection::Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
                       const TransportOptions& options)
    : settings_(settings), options_(options), dial_(std::move(dial)) {}

void Connection::establish() {
  dial_->connected();
  session_ =
      dial_->negotiated_http2() ? make_http2_session(settings_) : make_http1_session(settings_);
  idle_since_ = last_received_ = system_clock().now();
  more_ = true;
}

void Connection::begin(const std::shared_ptr<Exchange>& exchange) {
  exchange->connection = this;
  if (begun_++ == 0) {
    exchange->resolved = dial_->resolve_time();
    exchange->connected = dial_->connect_time();
    exchange->secured = dial_->tls_time();
  }
  ++exchange->attempts;
  session_->begin(exchange);
}

void Connection::pump(bool readable, std::span<char> buffer) {
  const bool was_idle = idle();
  try {
    try {
      write_all();
    } catch (const TransportError&) {
      // Perhaps it said why before it closed.
      if (buffer.empty()) throw;
      read_some(buffer);
      throw;
    }
    if ((readable || more_) && !buffer.empty()) read_some(buffer);
    if (!broken_) write_all();
  } catch (const TransportError& error) {
    fail(error);
  }
  if (!was_idle && idle()) idle_since_ = system_clock().now();
}

void Connection::read_some(std::span<char> buffer) {
  for (int round = 0; round < kRoundsInARow && session_->wants_input(); ++round) {
    std::size_t filled = 0;
    std::optional<TransportError> error;
    auto result = Dial::Result::kBytes;
    // A TLS record at a time is what there is; several make fewer calls, and wake the reader less often.
    while (result == Dial::Result::kBytes && filled < buffer.size()) {
      std::size_t size = 0;
      try {
        result = dial_->receive(buffer.data() + filled, buffer.size() - filled, size);
      } catch (const TransportError& caught) {
        error = caught;
        break;
      }
      filled += size;
    }
    if (filled > 0) {
      last_received_ = system_clock().now();
      ping_sent_.reset();
      session_->receive({buffer.data(), filled});
    }
    if (error) throw *error;
    if (result == Dial::Result::kAgain) {
      more_ = false;
      return;
    }
    if (result == Dial::Result::kEnd) {
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
    const std::size_t sent = dial_->send(bytes);
    if (sent == 0) {
      blocked_ = true;
      return;
    }
    session_->sent(sent);
  }
}

void Connection::check_peer(TimePoint now) {
  if (now < next_check()) return;
  if (!ping_sent_) {
    if (session_->ping()) {
      ping_sent_ = now;
      pump();
    } else {
      last_received_ = now;
    }
    return;
  }
  fail(
      {Kind::kConnectionLost,
       fmt::format("{}: the server is silent: no byte for {} ms, and no answer to a PING for {} ms",
                   settings_.authority, options_.read_idle_timeout.count(),
                   options_.ping_timeout.count())});
}

Connection::TimePoint Connection::next_check() const {
  const auto limit = ping_sent_ ? options_.ping_timeout : options_.read_idle_timeout;
  return limit.count() == 0 ? TimePoint::max() : ping_sent_.value_or(last_received_) + limit;
}

void Connection::fail(const TransportError& error) {
  broken_ = true;
  if (session_) session_->fail_all(error);
}

bool Connection::closed() const {
  if (broken_) return true;
  return session_ && session_->active() == 0 && (retired_ || !session_->reusable()) && !blocked_;
}

bool Connection::promising() const {
  if (closed() || retired_) return false;
  return !session_ || !session_->settled() || session_->active() == 0;
}

}  // namespace kube::detail
