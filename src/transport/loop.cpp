// SPDX-License-Identifier: Apache-2.0
#include "loop.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include "dial_error.hpp"
#include "tls_context.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;
using std::chrono::microseconds;

// After that many connections refused it, an exchange is not tried again.
constexpr int kAttempts = 3;

std::shared_ptr<Mailbox> new_mailbox(const Origin& origin) {
  try {
    return std::make_shared<Mailbox>();
  } catch (const std::system_error& error) {
    throw connect_failed(origin, error.code().value(), error.code().message());
  }
}

/// The host that sockets connect to.
Resolver resolver_of(const Origin& origin, const std::shared_ptr<Mailbox>& mailbox) {
  return origin.proxy ? Resolver{origin.proxy->host, origin.proxy->port, mailbox}
                      : Resolver{origin.host, origin.port, mailbox};
}

Clock::TimePoint deadline(const Exchange& exchange) {
  auto result = Clock::TimePoint::max();
  if (exchange.request.timeout) result = exchange.started + *exchange.request.timeout;
  if (exchange.request.idle_timeout) {
    result = std::min(result, exchange.last_byte + *exchange.request.idle_timeout);
  }
  return result;
}

SessionSettings settings_of(const Origin& origin, const TransportOptions& options) {
  return {.scheme = origin.scheme,
          .authority = origin.authority,
          .path_prefix = origin.path,
          .max_header_bytes = options.max_header_bytes,
          .stream_buffer_bytes = options.stream_buffer_bytes,
          .ask_for_gzip = !options.disable_compression};
}

}  // namespace

Loop::Loop(TransportOptions options)
    : options_(std::move(options)),
      origin_(parse_origin(options_)),
      settings_(settings_of(origin_, options_)),
      mailbox_(new_mailbox(origin_)),
      wake_(mailbox_->wake()),
      resolver_(resolver_of(origin_, mailbox_)) {
  const bool http1 = options_.disable_http2 || origin_.scheme == "http";
  if (http1) {
    for (Pool& pool : pools_) pool.width = 1;
  }
}

Loop::~Loop() { mailbox_->close(); }

void Loop::run(const std::stop_token& stop) noexcept {
  while (!stop.stop_requested()) {
    try {
      turn();
      wait();
    } catch (const std::exception& error) {
      // Out of memory, most likely: give up what there is, and go on.
      fail_everything({Kind::kConnectionLost, origin_.name + ": " + error.what()});
    }
  }
  mailbox_->close();
  fail_everything({Kind::kCanceled, origin_.name + ": the transport has been shut down"});
}

void Loop::turn() {
  read_mail();
  make_connections();
  for (Pool& pool : pools_) dispatch(pool);
  move_bytes();
  collect_returned();
  look_at_clock();
  close_connections();
  report_finished();
}

void Loop::read_mail() {
  const auto mail = mailbox_->take();  // first: from now on others wake us again
  if (const auto announced = mailbox_->take_announced()) renew(announced);
  for (const std::shared_ptr<Exchange>& exchange : mail) {
    if (exchange->done()) continue;
    if (exchange->finished == nullptr) accept(exchange);
    if (exchange->canceled()) {
      drop(exchange, {Kind::kCanceled, origin_.name + ": canceled"});
    } else if (exchange->connection != nullptr) {
      exchange->connection->session()->attend(exchange);
      exchange->connection->pump();
    }
  }
}

void Loop::accept(const std::shared_ptr<Exchange>& exchange) {
  exchange->finished = &finished_;
  exchanges_.insert(exchange);
  renew(exchange->material);
  pools_[static_cast<std::size_t>(exchange->request.lane)].waiting.push_back(exchange);
  next_deadline_ = std::min(next_deadline_, deadline(*exchange));
}

void Loop::drop(const std::shared_ptr<Exchange>& exchange, const TransportError& error) {
  exchange->fail(error);
  if (Connection* connection = exchange->connection) {
    connection->session()->attend(exchange);
    connection->pump();
  } else {
    std::erase(pools_[static_cast<std::size_t>(exchange->request.lane)].waiting, exchange);
  }
}

void Loop::renew(const std::shared_ptr<const TlsMaterial>& material) {
  if (material == material_) return;
  if (material_ != nullptr) {
    // Two threads may have asked one after the other, and come here in another order.
    if (material->identity < material_->identity || material->trust < material_->trust) return;
    for (Pool& pool : pools_) {
      for (const auto& connection : pool.connections) {
        if (connection->material().identity != material->identity) {
          connection->fail(
              {Kind::kConnectionLost, origin_.name + ": the client certificate has been replaced"});
        } else if (connection->material().trust != material->trust) {
          connection->retire();
        }
      }
    }
  }
  material_ = material;
  tls_ = nullptr;
}

void Loop::make_connections() {
  const TimePoint now = system_clock().now();
  for (Pool& pool : pools_) {
    std::erase_if(pool.connections, [&](const auto& connection) {
      if (connection->session() || connection->closed()) return false;
      try {
        if (!connection->make(now)) return false;
        pool.width = connection->session()->width();
        options_.log.debug("{}: connected, {}", origin_.name, connection->session()->protocol());
        return false;
      } catch (const TransportError& error) {
        dial_failed(pool, *connection, error);
        return true;
      }
    });
  }
}

void Loop::dial_failed(Pool& pool, const Connection& connection, const TransportError& error) {
  options_.log.debug("{}", error.what());
  if (&connection.material() != material_.get()) return;  // others will be made with what holds now
  // Those who would have travelled with it.
  for (std::size_t count = 0; count < pool.width && !pool.waiting.empty(); ++count) {
    const std::shared_ptr<Exchange> exchange = std::move(pool.waiting.front());
    pool.waiting.pop_front();
    exchange->fail(error);
  }
}

void Loop::dispatch(Pool& pool) {
  std::size_t coming = 0;
  for (const auto& connection : pool.connections) {
    if (connection->closed()) continue;
    while (!pool.waiting.empty() && connection->room() > 0) {
      const std::shared_ptr<Exchange> exchange = std::move(pool.waiting.front());
      pool.waiting.pop_front();
      connection->begin(exchange);
    }
    if (connection->promising()) ++coming;
  }
  const std::size_t wanted = pool.waiting.empty() ? 0 : (pool.waiting.size() - 1) / pool.width + 1;
  if (wanted == 0) {
    // Nobody waits any more for what is still being made.
    std::erase_if(pool.connections, [](const auto& connection) { return !connection->session(); });
  }
  for (; coming < wanted; ++coming) {
    try {
      pool.connections.push_back(std::make_unique<Connection>(dial(), settings_, options_));
    } catch (const TransportError& error) {
      for (const auto& exchange : pool.waiting) exchange->fail(error);
      pool.waiting.clear();
      return;
    }
  }
}

std::unique_ptr<Dial> Loop::dial() {
  const bool secure = origin_.secure() || (origin_.proxy && origin_.proxy->scheme == "https");
  if (secure && tls_ == nullptr) tls_ = make_tls_context(*material_, origin_.name);
  return std::make_unique<Dial>(origin_, options_, material_, tls_, resolver_);
}

void Loop::move_bytes() {
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) {
      if (connection->session() == nullptr || connection->closed()) continue;
      connection->pump({buffer_.get(), kReadSize});
      if (connection->session()->settled()) pool.width = connection->session()->width();
    }
  }
}

void Loop::collect_returned() {
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) {
      if (connection->session() == nullptr) continue;
      for (const auto& exchange : connection->session()->take_returned()) {
        exchange->connection = nullptr;
        if (exchange->done()) continue;
        if (exchange->attempts >= kAttempts) {
          exchange->fail({Kind::kConnectionLost,
                          origin_.name + ": the server refuses the request again and again"});
        } else {
          pool.waiting.push_back(exchange);
        }
      }
    }
  }
}

void Loop::look_at_clock() {
  const TimePoint now = system_clock().now();
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) {
      if (connection->session() != nullptr && !connection->closed()) connection->check_peer(now);
    }
  }
  if (now < next_deadline_) return;
  next_deadline_ = TimePoint::max();
  const auto live = exchanges_;  // drop() does not change it, report_finished() does
  for (const auto& exchange : live) {
    if (exchange->done()) continue;
    if (exchange->full()) exchange->last_byte = now;  // it is the reader who is slow
    const TimePoint limit = deadline(*exchange);
    if (now >= limit) {
      const bool whole =
          exchange->request.timeout && now >= exchange->started + *exchange->request.timeout;
      drop(exchange,
           {Kind::kTimeout,
            whole ? fmt::format("{}: no {} within the {} ms that the request may take",
                                origin_.name, exchange->has_head() ? "end of the answer" : "answer",
                                exchange->request.timeout->count())
                  : fmt::format("{}: not a byte for {} ms", origin_.name,
                                exchange->request.idle_timeout->count())});
    } else {
      next_deadline_ = std::min(next_deadline_, limit);
    }
  }
}

void Loop::close_connections() {
  const TimePoint now = system_clock().now();
  std::vector<TimePoint> idle;
  for (Pool& pool : pools_) {
    std::erase_if(pool.connections, [&](const auto& connection) {
      if (connection->closed()) return true;
      if (!connection->idle() || connection->blocked()) return false;
      idle.push_back(connection->idle_since());
      return options_.idle_connection_timeout.count() > 0 &&
             now >= connection->idle_since() + options_.idle_connection_timeout;
    });
  }
  if (idle.size() <= options_.max_idle_connections) return;
  // The longest idle go.
  std::ranges::sort(idle);
  const TimePoint oldest_kept = idle[idle.size() - options_.max_idle_connections];
  for (Pool& pool : pools_) {
    std::erase_if(pool.connections, [&](const auto& connection) {
      return connection->idle() && connection->idle_since() < oldest_kept;
    });
  }
}

void Loop::report_finished() {
  while (!finished_.empty()) {
    for (const auto& exchange : std::exchange(finished_, {})) {
      exchanges_.erase(exchange);
      if (!options_.on_exchange) continue;
      const TimePoint now = system_clock().now();
      ExchangeReport report{
          .method = exchange->request.method,
          .host = origin_.authority,
          .status = exchange->status,
          .error = exchange->failure(),
          .bytes_sent = exchange->offset,
          .bytes_received = exchange->received,
          .total = std::chrono::duration_cast<microseconds>(now - exchange->started)};
      if (exchange->has_head()) {
        report.until_head =
            std::chrono::duration_cast<microseconds>(exchange->head_at - exchange->started);
      }
      report.resolved = exchange->resolved;
      report.connected = exchange->connected;
      report.secured = exchange->secured;
      try {
        options_.on_exchange(report);
      } catch (...) {  // no measurement is worth a lost answer
      }
    }
  }
}

void Loop::wait() {
  TimePoint until = next_deadline_;
  bool at_once = false;
  sockets_.assign(1, {.fd = wake_->get(), .events = POLLIN, .revents = 0});
  watching_.assign(1, nullptr);
  for (Pool& pool : pools_) {
    bool coming = false;
    bool room = false;
    for (const auto& connection : pool.connections) {
      coming |= connection->promising();
      room |= connection->room() > 0;
      until = std::min(until, connection->next_step());
      if (connection->idle() && options_.idle_connection_timeout.count() > 0) {
        until = std::min(until, connection->idle_since() + options_.idle_connection_timeout);
      }
      at_once |= connection->session() != nullptr && connection->has_more();
      connection->watch(sockets_);
      watching_.resize(sockets_.size(), connection.get());
    }
    at_once |= !pool.waiting.empty() && (room || !coming);  // there is something to dispatch
  }
  int timeout = -1;
  if (at_once) {
    timeout = 0;
  } else if (until != TimePoint::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - system_clock().now());
    timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
  }
  if (::poll(sockets_.data(), sockets_.size(), timeout) <= 0) return;
  if (sockets_[0].revents != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_->get(), &count);
  }
  for (std::size_t i = 1; i < sockets_.size(); ++i) {
    if (sockets_[i].revents != 0) watching_[i]->ready();
  }
}

void Loop::fail_everything(const TransportError& error) {
  for (const auto& exchange : mailbox_->take()) {
    if (exchange->finished == nullptr) {
      exchange->finished = &finished_;
      exchanges_.insert(exchange);
    }
  }
  for (Pool& pool : pools_) {
    pool.waiting.clear();
    pool.connections.clear();
  }
  const auto live = exchanges_;
  for (const auto& exchange : live) exchange->fail(error);
  report_finished();
  next_deadline_ = TimePoint::max();
}

}  // namespace kube::detail
