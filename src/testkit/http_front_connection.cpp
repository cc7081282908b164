// SPDX-License-Identifier: Apache-2.0
#include "http_front_connection.hpp"

#include "http1_session.hpp"
#include "http2_session.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long a peer that was told good-bye may take to close its side.
constexpr std::chrono::milliseconds kLinger{500};
/// What is written without waiting for the peer before other connections get their turn.
constexpr int kRoundsAtOnce = 4;

}  // namespace

Connection::Connection(std::unique_ptr<ByteStream> stream, Strand strand, Service& service,
                       ConnectionLimits limits, std::function<void(Connection&)> on_closed)
    : stream_(std::move(stream)),
      strand_(std::move(strand)),
      service_(service),
      limits_(limits),
      on_closed_(std::move(on_closed)),
      timer_(strand_) {
  gate_->connection = this;
}

Connection::~Connection() { teardown(); }

void Connection::start() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->watch_time();
    self->stream_->handshake([self](const boost::system::error_code& error) {
      if (error) return self->close();
      self->on_handshake();
    });
  });
}

void Connection::drain() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->draining_ = true;
    if (!self->session_) return self->close();
    self->session_->drain();
  });
}

void Connection::abort() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->close(); });
}

void Connection::teardown() {
  {
    const std::lock_guard guard{gate_->mutex};
    gate_->connection = nullptr;
    gate_->tasks.clear();
  }
  closed_ = true;
  session_.reset();
  boost::system::error_code ignored;
  stream_->socket().close(ignored);
}

void Connection::serve(ServerRequest request, std::function<void(Reply)> done) {
  service_.serve(std::move(request), [gate = gate_, done = std::move(done)](Reply reply) {
    // Copyable, as std::function wants it.
    auto carried = std::make_shared<Reply>(std::move(reply));
    std::unique_lock lock{gate->mutex};
    if (gate->connection == nullptr) return;
    if (gate->connection->strand_.running_in_this_thread()) {
      lock.unlock();
      return done(std::move(*carried));
    }
    gate->tasks.emplace_back([done, carried] { done(std::move(*carried)); });
    post_locked(*gate);
  });
}

std::function<void()> Connection::waker(std::int32_t stream) {
  return [gate = gate_, stream] {
    const std::lock_guard guard{gate->mutex};
    if (gate->connection == nullptr) return;
    if (std::ranges::find(gate->woken, stream) == gate->woken.end()) gate->woken.push_back(stream);
    post_locked(*gate);
  };
}

void Connection::post_locked(Gate& gate) {
  if (std::exchange(gate.posted, true)) return;
  // Who wakes a connection is mostly a thread of the front that is about to be done with another one. It goes on here
  // then; to wake a thread for it would take longer.
  boost::asio::defer(gate.connection->strand_, [weak = gate.connection->weak_from_this()] {
    if (const auto self = weak.lock()) self->on_posted();
  });
}

void Connection::on_posted() {
  std::vector<std::int32_t> woken;
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard guard{gate_->mutex};
    gate_->posted = false;
    woken.swap(gate_->woken);
    tasks.swap(gate_->tasks);
  }
  if (closed_ || !session_) return;
  if (!enter([&] {
        for (const auto& task : tasks) task();
        for (const std::int32_t stream : woken) session_->woken(stream);
      })) {
    return;
  }
  pump();
  read();
}

void Connection::on_handshake() {
  const std::string_view protocol = stream_->protocol();
  if (!protocol.empty() || !limits_.http2) choose_session(protocol, {});
  read();
}

void Connection::choose_session(std::string_view protocol, std::string_view first_bytes) {
  if (limits_.http2 && (protocol == "h2" || first_bytes.starts_with(kHttp2Preface))) {
    session_ = make_http2_session(*this, stream_->certificate());
  } else {
    session_ = make_http1_session(*this, stream_->certificate());
  }
  if (draining_) session_->drain();
}

void Connection::read() {
  if (reading_ || closed_ || silent_) return;
  if (session_ && !session_->wants_input() && !finishing_) return;
  reading_ = true;
  stream_->read_some(boost::asio::buffer(input_),
                     [self = shared_from_this()](const boost::system::error_code& error,
                                                 std::size_t size) { self->on_read(error, size); });
}

void Connection::on_read(const boost::system::error_code& error, std::size_t size) {
  reading_ = false;
  if (closed_) return;
  // A peer that closes its side is gone: nobody half-closes and then waits for an answer.
  if (error) return close();
  last_active_ = std::chrono::steady_clock::now();
  const std::string_view bytes{input_.data(), size};
  // What a peer sends that was told good-bye is of no interest.
  if (!finishing_ && !silent_ && !enter([&] { receive(bytes); })) return;
  pump();
  read();
}

void Connection::receive(std::string_view bytes) {
  if (session_) return session_->receive(bytes);
  preface_ += bytes;
  const bool undecided =
      preface_.size() < kHttp2Preface.size() && kHttp2Preface.starts_with(preface_);
  if (undecided) return;
  choose_session({}, preface_);
  session_->receive(std::exchange(preface_, {}));
}

void Connection::wake() {
  if (entered_) return;  // pump() follows
  const std::lock_guard guard{gate_->mutex};
  if (gate_->connection != nullptr) post_locked(*gate_);
}

void Connection::pump() {
  if (writing_ || closed_ || silent_ || finishing_ || !session_) return;
  for (int round = 0;; ++round) {
    output_.clear();
    if (!enter([&] { session_->produce(output_, kWriteBatch); })) return;
    if (output_.empty()) break;
    boost::asio::const_buffer rest = boost::asio::buffer(output_);
    if (round < kRoundsAtOnce) rest += stream_->write_now(rest);
    if (rest.size() == 0) {
      last_active_ = std::chrono::steady_clock::now();
      if (silent_) return;
      continue;
    }
    writing_ = true;
    stream_->write(
        rest, [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
          self->writing_ = false;
          if (self->closed_) return;
          if (error) return self->close();
          self->last_active_ = std::chrono::steady_clock::now();
          self->pump();
          self->read();
        });
    return;
  }
  if (silent_) return;
  switch (session_->ending()) {
    case Session::Ending::kNone:
      return;
    case Session::Ending::kClose:
      return finish();
    case Session::Ending::kReset: {
      boost::system::error_code ignored;
      stream_->socket().set_option(boost::asio::socket_base::linger{true, 0}, ignored);
      break;
    }
    case Session::Ending::kBreak:
      break;
  }
  close();
}

void Connection::finish() {
  // Closing while the peer still sends would reset the connection, and the peer might lose the answer.
  if (draining_ && session_->phase() == Session::Phase::kIdle) return close();
  finishing_ = true;
  last_active_ = std::chrono::steady_clock::now();
  watch_time();
  stream_->finish([self = shared_from_this()](const boost::system::error_code&) { self->close(); });
  read();
}

void Connection::close() {
  if (closed_) return;
  teardown();
  timer_.cancel();
  on_closed_(*this);
}

std::optional<std::chrono::milliseconds> Connection::patience() const {
  if (finishing_) return kLinger;
  if (silent_) return std::nullopt;
  if (!session_) return limits_.head_timeout;
  switch (session_->phase()) {
    case Session::Phase::kIdle:
      return limits_.idle_timeout;
    case Session::Phase::kReceiving:
      return limits_.head_timeout;
    case Session::Phase::kBusy:
      break;
  }
  return std::nullopt;
}

void Connection::watch_time() {
  // The phase may change meanwhile: look again after the shortest time.
  timer_.expires_at(last_active_ + std::min({patience().value_or(limits_.idle_timeout),
                                             limits_.idle_timeout, limits_.head_timeout}));
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->closed_) return;
    const auto now = std::chrono::steady_clock::now();
    const auto patience = self->patience();
    if (!patience) {
      self->last_active_ = now;
    } else if (now >= self->last_active_ + *patience) {
      if (self->finishing_ || !self->session_ || self->session_->phase() != Session::Phase::kIdle) {
        return self->close();
      }
      self->session_->expire();
      self->last_active_ = now;
    }
    self->watch_time();
  });
}

}  // namespace kube::testkit::detail
