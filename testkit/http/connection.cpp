// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/connection.hpp"

#include "testkit/http/http1_session.hpp"
#include "testkit/http/http2_session.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long the peer may take to close its side after the server has closed.
constexpr std::chrono::milliseconds kLinger{500};
/// Batches written without blocking before other connections get their turn.
constexpr int kRoundsAtOnce = 4;

}  // namespace

Connection::Connection(std::unique_ptr<ByteStream> stream, Strand strand, Service& service,
                       ConnectionLimits limits, FrontCounters& counters,
                       std::function<void(Connection&)> on_closed)
    : stream_(std::move(stream)),
      strand_(std::move(strand)),
      service_(service),
      limits_(limits),
      counters_(counters),
      on_closed_(std::move(on_closed)),
      timer_(strand_) {
  gate_->connection = this;
}

Connection::~Connection() { teardown(); }

void Connection::start() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->attempt([&] {
      self->schedule_check(self->limits_.check_period());
      self->stream_->handshake([self](const boost::system::error_code& error) {
        if (error) return self->close();
        self->attempt([&] { self->on_handshake(); });
      });
    });
  });
}

void Connection::drain() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->draining_ = true;
    if (!self->session_) return self->close();
    self->attempt([&] { self->session_->drain(); });
  });
}

void Connection::abort() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->close(); });
}

void Connection::break_off() noexcept {
  const std::lock_guard guard{gate_->mutex};
  if (gate_->connection != nullptr) break_locked(*gate_);
}

void Connection::teardown() noexcept {
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
    std::unique_lock lock{gate->mutex};
    if (gate->connection == nullptr) return;
    if (gate->connection->strand_.running_in_this_thread()) {
      lock.unlock();
      return done(std::move(reply));
    }
    try {
      // std::function requires a copyable callable.
      auto carried = std::make_shared<Reply>(std::move(reply));
      gate->tasks.emplace_back([done, carried] { done(std::move(*carried)); });
      post_locked(*gate);
    } catch (...) {
      break_locked(*gate);  // the only way to report that there will be no response
    }
  });
}

std::function<void()> Connection::waker(std::int32_t stream) {
  return [gate = gate_, stream] {
    const std::lock_guard guard{gate->mutex};
    if (gate->connection == nullptr) return;
    try {
      if (std::ranges::find(gate->woken, stream) == gate->woken.end()) {
        gate->woken.push_back(stream);
      }
      post_locked(*gate);
    } catch (...) {
      break_locked(*gate);  // a watch that misses a wake-up would wait forever
    }
  };
}

void Connection::post_locked(Gate& gate) {
  if (gate.posted) return;
  // The caller is usually a thread of the front that is about to finish work for another
  // connection. With defer() it continues here; waking another thread would take longer.
  boost::asio::defer(gate.connection->strand_, [weak = gate.connection->weak_from_this()] {
    if (const auto self = weak.lock()) self->on_posted();
  });
  gate.posted = true;
}

void Connection::break_locked(Gate& gate) noexcept {
  gate.broken = true;
  // Completes the pending read with an error; without one, the timer closes the connection.
  ::shutdown(gate.connection->stream_->socket().native_handle(), SHUT_RDWR);
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
  reading_ = attempt([this] {
    stream_->read_some(
        boost::asio::buffer(input_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
          self->on_read(error, size);
        });
  });
}

void Connection::on_read(const boost::system::error_code& error, std::size_t size) {
  reading_ = false;
  if (closed_) return;
  // End of file means that the peer is gone: HTTP clients do not half-close and wait for a
  // response.
  if (error) return close();
  const std::string_view bytes{input_.data(), size};
  // Input after the end of the session is discarded.
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
    if (rest.size() > 0) return write(rest);
    if (silent_) return;
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

void Connection::write(boost::asio::const_buffer bytes) {
  since_ = std::chrono::steady_clock::now();
  writing_ = attempt([&] {
    stream_->write(
        bytes, [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
          self->writing_ = false;
          if (self->closed_) return;
          if (error) return self->close();
          self->since_ = std::chrono::steady_clock::now();
          self->pump();
          self->read();
        });
  });
}

void Connection::finish() {
  // Closing while the peer still sends would reset the connection, and the peer might lose the
  // response.
  if (draining_ && session_->idle()) return close();
  finishing_ = true;
  attempt([this] {
    schedule_check(kLinger);
    stream_->finish(
        [self = shared_from_this()](const boost::system::error_code&) { self->close(); });
  });
  read();
}

void Connection::close() noexcept {
  if (closed_) return;
  teardown();
  try {
    timer_.cancel();
  } catch (...) {  // the timer's handler finds the connection closed
  }
  on_closed_(*this);
}

void Connection::schedule_check(std::chrono::milliseconds time) {
  // A relative time: an absolute one in the past would fire again and again.
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->closed_) return;
    self->check_timeouts();
    if (!self->closed_ && !self->finishing_) {
      self->attempt([&] { self->schedule_check(self->limits_.check_period()); });
    }
  });
}

void Connection::check_timeouts() {
  ++counters_.timeout_checks;
  {
    const std::lock_guard guard{gate_->mutex};
    if (gate_->broken) finishing_ = true;
  }
  if (finishing_) return close();
  if (silent_) return;
  const Session::Time now = std::chrono::steady_clock::now();
  if (!session_) {
    if (now - since_ < limits_.head_timeout) return;
    ++counters_.slow_heads;
    return close();
  }
  if (writing_) {
    if (now - since_ < limits_.write_timeout) return;
    ++counters_.slow_readers;
    return close();
  }
  if (!enter([&] { session_->refuse_slow(now); })) return;
  const bool idle = session_->idle() && session_->requests() == requests_seen_;
  requests_seen_ = session_->requests();
  if (!idle) {
    since_ = now;
  } else if (now - since_ >= limits_.idle_timeout) {
    ++counters_.idle_connections;
    since_ = now;
    if (!enter([&] { session_->expire(); })) return;
  }
  pump();
  read();
}

}  // namespace kube::testkit::detail
