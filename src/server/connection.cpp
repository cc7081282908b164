// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include "engine/scheduler.hpp"
#include "transport/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "certificate.hpp"
#include "listener.hpp"

namespace kube::server {
namespace {

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The amount of data that is collected for one write to a socket.
constexpr std::size_t kWriteBatch = 65536;
/// An idle connection keeps a buffer of at most this size.
constexpr std::size_t kKeptBuffer = 16384;
constexpr std::size_t kReadBuffer = 16384;
/// How long the peer may take to close its side after the server has closed.
constexpr std::chrono::milliseconds kLinger{500};
/// Reads and writes of one connection before others get their turn.
constexpr int kRoundsAtOnce = 16;

}  // namespace

Connection::Connection(Setup setup, const std::shared_ptr<detail::Scheduler>& scheduler)
    : Job(detail::Placement::kLoop),
      setup_(std::move(setup)),
      socket_(setup_.socket.get()),
      timer_(scheduler, setup_.clock),
      now_(setup_.clock.now()),
      since_(now_) {
  bind(scheduler);
}

void Connection::run() noexcept {
  if (closed_) return;
  try {
    turn();
  } catch (...) {
    close();
  }
  if (!closed_) wait();
}

void Connection::close() noexcept {
  if (std::exchange(closed_, true)) return;
  gate_->close();
  session_.reset();
  tls_ = nullptr;
  stream_.reset();
  setup_.socket.reset();
  timer_.cancel();
  if (setup_.on_closed) setup_.on_closed(*this);
}

void Connection::turn() {
  now_ = setup_.clock.now();
  gate_->attend();
  if (!stream_) open();
  obey();
  if (closed_ || (tls_ != nullptr && !handshake())) return check_time();
  if (stream_->take_ready() || more_) read();
  bool finished = true;
  for (int round = 0; !closed_; ++round) {
    finished = pump();
    if (closed_ || silent_ || finishing_) break;
    if (round >= kRoundsAtOnce) finished = false;
    if (!finished) break;
    Gate::Mail mail = gate_->take_all();
    if (mail.empty()) break;
    take(std::move(mail));
  }
  if (!finished) schedule();
  if (!closed_) check_time();
}

void Connection::open() {
  gate_->open(weak_from_this());
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto peer = std::make_shared<Peer>();
  peer->address = peer_address(socket_);
  auto plain = std::make_unique<detail::SocketStream>(
      detail::Socket{std::move(setup_.socket), {&scheduler()->loop(), weak_from_this()}},
      peer->address);
  if (setup_.tls) {
    auto secure = std::make_unique<detail::TlsStream>(
        std::move(plain), *setup_.tls, detail::TlsServerSide{.place = peer->address});
    tls_ = secure.get();
    stream_ = std::move(secure);
  } else {
    stream_ = std::move(plain);
  }
  peer_ = std::move(peer);
}

bool Connection::handshake() {
  if (!tls_->handshake()) return false;
  auto peer = std::make_shared<Peer>(*peer_);
  peer->secure = true;
  peer->certificate = peer_certificate(tls_->native());
  peer_ = std::move(peer);
  // The server speaks first in HTTP/2.
  if (setup_.limits.http2 && tls_->negotiated_http2()) choose_session(true);
  tls_ = nullptr;
  more_ = true;
  return true;
}

void Connection::obey() {
  const std::uint8_t all = commands_.load();
  const auto fresh = static_cast<std::uint8_t>(all & ~obeyed_);
  if (fresh == 0) return;
  obeyed_ = all;
  if ((fresh & kAbort) != 0 || !session_) return close();
  if ((fresh & kDrain) != 0) session_->drain();
  if ((fresh & kReplace) != 0) {
    // Not finished with care: descriptors may have run out.
    session_->refuse(Refusal::kReplaced);
    pump();
    close();
  }
}

std::optional<Reply> Connection::serve(Request request, std::int32_t exchange) {
  if (setup_.refuses) {
    Reply reply = setup_.handler.refuse(Refusal::kCrowded, setup_.limits);
    reply.close = true;
    return reply;
  }
  try {
    setup_.handler.handle(std::move(request), Responder{gate_, exchange});
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the Responder has reported it
  }
  auto answered = gate_->take_answer(exchange);
  if (!answered) return std::nullopt;
  return *answered ? *std::move(*answered) : failed();
}

Reply Connection::failed() const {
  Reply reply = setup_.handler.refuse(Refusal::kFailed, setup_.limits);
  reply.close = true;
  return reply;
}

void Connection::take(Gate::Mail mail) {
  if (mail.broken) return close();
  for (auto& [exchange, reply] : mail.answers) {
    session_->answer(exchange, reply ? *std::move(reply) : failed());
  }
  for (const std::int32_t exchange : mail.woken) session_->woken(exchange);
}

void Connection::read() {
  std::array<char, kReadBuffer> buffer;
  bool received = false;
  more_ = true;
  for (int round = 0; round < kRoundsAtOnce; ++round) {
    if (silent_ || (session_ && !session_->wants_input() && !finishing_)) return;
    std::size_t size = 0;
    const auto result = stream_->receive(buffer, size);
    if (size > 0 && !finishing_) {
      received = true;
      receive({buffer.data(), size});
    }
    switch (result) {
      case detail::ByteStream::Result::kBytes:
        break;
      case detail::ByteStream::Result::kAgain:
      case detail::ByteStream::Result::kAllBytes:
        more_ = false;
        return;
      case detail::ByteStream::Result::kEnd:
        // The peer is gone: HTTP clients do not half-close and wait for a response, except for
        // one that is ready.
        if (received) (void)pump();
        return close();
    }
  }
  schedule();
}

void Connection::receive(std::string_view bytes) {
  if (session_) return session_->receive(bytes);
  if (setup_.limits.http2) {
    preface_ += bytes;
    const bool undecided =
        preface_.size() < kHttp2Preface.size() && kHttp2Preface.starts_with(preface_);
    if (undecided) return;
    choose_session(preface_.starts_with(kHttp2Preface));
    session_->receive(std::exchange(preface_, {}));
  } else {
    choose_session(false);
    session_->receive(bytes);
  }
}

void Connection::choose_session(bool http2) {
  session_ = http2 ? make_http2_session(*this) : make_http1_session(*this);
}

bool Connection::pump() {
  if (finishing_ || !session_) return true;
  for (int round = 0; round < kRoundsAtOnce; ++round) {
    // Continues when the socket is writable. What was produced before the silence is still sent.
    if (!write() || silent_) return true;
    session_->produce(output_, kWriteBatch);
    if (!output_.empty() || silent_) continue;
    if (output_.capacity() > kKeptBuffer) output_ = {};
    end();
    return true;
  }
  return !write();
}

bool Connection::write() {
  while (written_ < output_.size()) {
    const std::size_t sent = stream_->send(std::string_view{output_}.substr(written_));
    written_ += sent;
    if (sent > 0) continue;
    if (!std::exchange(blocked_, true)) since_ = now_;
    return false;
  }
  blocked_ = false;
  output_.clear();
  written_ = 0;
  return true;
}

void Connection::end() {
  switch (session_->ending()) {
    case Session::Ending::kNone:
      return;
    case Session::Ending::kClose:
      // Closing while the peer still sends would reset the connection, and the peer might lose the
      // response.
      if ((obeyed_ & kDrain) != 0 && session_->idle()) return close();
      finishing_ = true;
      since_ = now_;
      stream_->finish();
      return;
    case Session::Ending::kReset: {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      break;
    }
    case Session::Ending::kBreak:
      break;
  }
  close();
}

Connection::TimePoint Connection::next_timeout() const {
  if (finishing_) return since_ + kLinger;
  if (silent_) return TimePoint::max();
  if (!session_) return since_ + setup_.limits.head_timeout;
  if (blocked_) return since_ + setup_.limits.write_timeout;
  if (idle_) return since_ + setup_.limits.idle_timeout;
  return session_->next_timeout();
}

void Connection::check_time() {
  if (closed_) return;
  // Frames that belong to no request do not make a connection busy.
  if (session_ && !blocked_ && !finishing_) {
    const bool was_idle = std::exchange(idle_, session_->idle());
    const bool asked = std::exchange(requests_seen_, session_->requests()) != session_->requests();
    if (idle_ && (!was_idle || asked)) since_ = now_;
  }
  if (now_ < next_timeout()) return;
  Handler& handler = setup_.handler;
  if (finishing_) return close();
  if (!session_) {
    handler.on_incident(Incident::kSlowHead);
    return close();
  }
  if (blocked_) {
    handler.on_incident(Incident::kSlowReader);
    return close();
  }
  if (idle_) {
    handler.on_incident(Incident::kIdle);
    idle_ = false;
    since_ = now_;
    session_->expire();
  } else {
    session_->refuse_slow(now_);
  }
  if (!pump()) schedule();
}

void Connection::wait() noexcept {
  short events = 0;
  if (tls_ != nullptr) {
    events = tls_->wants_write() ? POLLOUT : POLLIN;
  } else {
    const bool writes = blocked_ || (!silent_ && stream_->wants_write());
    const bool reads = !silent_ && (finishing_ || !session_ || session_->wants_input());
    if (reads && more_) schedule();
    events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
  }
  stream_->wait_for(events);
  // A deadline that is postponed does not reset the timer: it is checked again when the timer
  // fires.
  const TimePoint next = next_timeout();
  if (timer_set_ <= now_) timer_set_ = TimePoint::max();
  if (next >= timer_set_) return;
  timer_set_ = next;
  timer_.set(next, weak_from_this());
}

}  // namespace kube::server
