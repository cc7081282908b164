// SPDX-License-Identifier: Apache-2.0
#include "http_dispatcher.hpp"

#include "engine/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;
using std::chrono::microseconds;

// After this many connections have refused an exchange, it fails.
constexpr int kAttempts = 3;

SessionSettings settings_of(const Origin& origin, const TransportOptions& options) {
  return {.scheme = origin.server.scheme,
          .authority = origin.server.host_header(),
          .path_prefix = origin.server.path,
          .max_header_bytes = options.max_header_bytes,
          .stream_buffer_bytes = options.stream_buffer_bytes,
          .ask_for_gzip = !options.disable_compression,
          .out_of_memory = {Kind::kConnectionLost, origin.name + ": out of memory"},
          .connection_closed = {Kind::kConnectionLost, origin.name + ": the connection is closed"}};
}

}  // namespace

HttpDispatcher::HttpDispatcher(TransportOptions options)
    : HttpDispatcher(std::move(options), nullptr) {}

HttpDispatcher::HttpDispatcher(TransportOptions options, std::unique_ptr<Network> network)
    : options_(std::move(options)),
      origin_(parse_origin(options_)),
      settings_(settings_of(origin_, options_)),
      canceled_(Kind::kCanceled, origin_.name + ": canceled"),
      shut_down_(Kind::kCanceled, origin_.name + ": the transport has been shut down"),
      mailbox_(std::make_shared<Mailbox>()),
      network_(network ? std::move(network)
                       : make_socket_network(origin_, options_, mailbox_, watcher_)),
      clock_(network_->clock()) {
  const bool http1 = options_.disable_http2 || !origin_.secure();
  if (http1) {
    for (Pool& pool : pools_) pool.width = 1;
  }
}

HttpDispatcher::~HttpDispatcher() { shut_down(); }

void HttpDispatcher::attach(const std::shared_ptr<Job>& job) noexcept {
  watcher_ = {.loop = &job->scheduler()->loop(), .job = job};
  mailbox_->open(job);
}

void HttpDispatcher::shut_down() noexcept {
  mailbox_->close();
  for (std::size_t count = mailbox_->posted_count(); count > 0; --count) {
    const std::shared_ptr<Exchange> exchange = mailbox_->next();
    if (exchange->finished == nullptr) exchange->finished = &finished_;
    exchange->fail(shut_down_);
  }
  fail_everything(shut_down_);
}

HttpDispatcher::TimePoint HttpDispatcher::turn() noexcept {
  try {
    work();
    return wait();
  } catch (...) {
    fail_everything(current_failure(settings_));
    return TimePoint::min();
  }
}

void HttpDispatcher::work() {
  read_mail();
  for (Pool& pool : pools_) {
    make_connections(pool);
    dispatch(pool);
  }
  move_bytes();
  check_deadlines();
  close_connections();
  for (Pool& pool : pools_) collect_returned(pool);
  report_finished();
}

void HttpDispatcher::read_mail() {
  const std::size_t count = mailbox_->posted_count();
  if (const auto announced = mailbox_->take_announced()) renew(announced);
  for (std::size_t i = 0; i < count; ++i) {
    const std::shared_ptr<Exchange> exchange = mailbox_->next();
    if (exchange->done()) continue;
    if (exchange->finished == nullptr) accept(exchange);
    if (exchange->canceled()) {
      drop(exchange, canceled_);
    } else if (exchange->connection != nullptr) {
      exchange->connection->attend(exchange);
    }
  }
}

void HttpDispatcher::accept(const std::shared_ptr<Exchange>& exchange) noexcept {
  exchange->finished = &finished_;
  try {
    exchanges_.insert(exchange);
    renew(exchange->material);
  } catch (...) {
    return exchange->fail(current_failure(settings_));
  }
  pools_[static_cast<std::size_t>(exchange->request.lane)].waiting.push(exchange);
  next_deadline_ = std::min(next_deadline_, deadline(*exchange));
}

void HttpDispatcher::drop(const std::shared_ptr<Exchange>& exchange,
                          const TransportError& error) noexcept {
  Connection* const connection = exchange->connection;
  exchange->fail(error);
  if (connection != nullptr) {
    connection->attend(exchange);
  } else {
    pools_[static_cast<std::size_t>(exchange->request.lane)].waiting.erase(*exchange);
  }
}

void HttpDispatcher::renew(const std::shared_ptr<const TlsMaterial>& material) {
  if (material == material_) return;
  if (material_ != nullptr) {
    // Two threads may have fetched the material one after the other, and arrive here in the
    // opposite order.
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
}

void HttpDispatcher::make_connections(Pool& pool) noexcept {
  const TimePoint now = clock_.now();
  std::erase_if(pool.connections, [&](const auto& connection) {
    if (connection->session() || connection->closed()) return false;
    try {
      if (!connection->make(now)) return false;
      pool.width = connection->session()->width();
      options_.log.debug("{}: connected, {}", origin_.name, connection->session()->protocol());
      return false;
    } catch (...) {
      const TransportError error = current_failure(settings_);
      if (error.kind() == Kind::kTls || error.kind() == Kind::kConnectionLost) {
        network_->renew_tls();
      }
      dial_failed(pool, *connection, error);
      return true;
    }
  });
}

void HttpDispatcher::dial_failed(Pool& pool, const Connection& connection,
                                 const TransportError& error) noexcept {
  options_.log.debug("{}", error.what());
  if (&connection.material() != material_.get()) return;  // new ones use the current material
  // Fail the exchanges that were waiting for this connection.
  for (std::size_t count = 0; count < pool.width && !pool.waiting.empty(); ++count) {
    pool.waiting.pop()->fail(error);
  }
}

void HttpDispatcher::dispatch(Pool& pool) noexcept {
  std::size_t coming = 0;
  for (const auto& connection : pool.connections) {
    if (connection->closed()) continue;
    while (!pool.waiting.empty() && connection->room() > 0) {
      if (!connection->check_input()) {
        options_.log.debug("{}: the server has closed an idle connection", origin_.name);
        break;
      }
      connection->begin(pool.waiting.pop());
    }
    if (connection->will_have_room()) ++coming;
  }
  const std::size_t wanted = pool.waiting.empty() ? 0 : (pool.waiting.size() - 1) / pool.width + 1;
  if (wanted == 0) {
    // No exchange waits for connections that are still being established.
    std::erase_if(pool.connections, [](const auto& connection) { return !connection->session(); });
  }
  if (coming < wanted) dial(pool, wanted - coming);
}

void HttpDispatcher::dial(Pool& pool, std::size_t count) noexcept {
  try {
    for (; count > 0; --count) {
      pool.connections.push_back(std::make_unique<Connection>(network_->dial(material_), settings_,
                                                              options_, clock_, pool.returned));
    }
  } catch (...) {
    const TransportError error = current_failure(settings_);
    while (!pool.waiting.empty()) pool.waiting.pop()->fail(error);
  }
}

void HttpDispatcher::move_bytes() noexcept {
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) {
      if (connection->session() == nullptr || connection->closed()) continue;
      connection->pump({buffer_.get(), kReadSize});
      if (connection->session()->settled()) pool.width = connection->session()->width();
    }
  }
}

void HttpDispatcher::check_deadlines() noexcept {
  const TimePoint now = clock_.now();
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) {
      if (connection->session() != nullptr && !connection->closed()) connection->check_peer(now);
    }
  }
  if (now < next_deadline_) return;
  next_deadline_ = TimePoint::max();
  for (const auto& exchange : exchanges_) {
    if (exchange->done()) continue;
    // The reader is slow, or the bytes have arrived but have not been read yet.
    const bool unread = exchange->connection != nullptr && exchange->connection->has_more();
    if (unread || exchange->full()) exchange->last_byte = now;
    const TimePoint limit = deadline(*exchange);
    if (now >= limit) {
      drop(exchange, timeout_of(*exchange, now));
    } else {
      next_deadline_ = std::min(next_deadline_, limit);
    }
  }
}

HttpDispatcher::TimePoint HttpDispatcher::deadline(const Exchange& exchange) const {
  auto result = TimePoint::max();
  const HttpRequest& request = exchange.request;
  if (request.timeout) {
    result = exchange.started + *request.timeout;
  } else if (options_.head_timeout.count() > 0 && !exchange.has_head()) {
    result = exchange.started + options_.head_timeout;
  }
  if (request.idle_timeout) {
    result = std::min(result, exchange.last_byte + *request.idle_timeout);
  }
  return result;
}

TransportError HttpDispatcher::timeout_of(const Exchange& exchange, TimePoint now) const noexcept {
  const HttpRequest& request = exchange.request;
  try {
    if (request.timeout && now >= exchange.started + *request.timeout) {
      return {Kind::kTimeout,
              fmt::format("{}: no {} within the {} ms that the request may take", origin_.name,
                          exchange.has_head() ? "end of the answer" : "answer",
                          request.timeout->count())};
    }
    if (request.idle_timeout && now >= exchange.last_byte + *request.idle_timeout) {
      return {Kind::kTimeout,
              fmt::format("{}: not a byte for {} ms", origin_.name, request.idle_timeout->count())};
    }
    return {Kind::kTimeout,
            fmt::format("{}: no head of an answer within {} ms; give the request a timeout if it "
                        "may take longer",
                        origin_.name, options_.head_timeout.count())};
  } catch (...) {
    return current_failure(settings_);
  }
}

void HttpDispatcher::close_connections() noexcept {
  const TimePoint now = clock_.now();
  const auto limit = options_.idle_connection_timeout;
  std::size_t idle = 0;
  for (Pool& pool : pools_) {
    std::erase_if(pool.connections, [&](const auto& connection) {
      if (connection->closed()) return true;
      if (!connection->idle() || connection->blocked()) return false;
      if (limit.count() > 0 && now >= connection->idle_since() + limit) return true;
      ++idle;
      return false;
    });
  }
  for (; idle > options_.max_idle_connections; --idle) close_longest_idle();
}

void HttpDispatcher::close_longest_idle() noexcept {
  Connections* from = nullptr;
  Connections::iterator longest;
  for (Pool& pool : pools_) {
    for (auto at = pool.connections.begin(); at != pool.connections.end(); ++at) {
      if (!(*at)->idle() || (*at)->blocked()) continue;
      if (from != nullptr && (*at)->idle_since() >= (*longest)->idle_since()) continue;
      from = &pool.connections;
      longest = at;
    }
  }
  if (from != nullptr) from->erase(longest);
}

void HttpDispatcher::collect_returned(Pool& pool) noexcept {
  while (const std::shared_ptr<Exchange> exchange = pool.returned.pop()) {
    if (exchange->done()) continue;
    if (exchange->attempts < kAttempts) {
      pool.waiting.push(exchange);
      continue;
    }
    try {
      exchange->fail({Kind::kConnectionLost,
                      origin_.name + ": the server refuses the request again and again"});
    } catch (...) {
      exchange->fail(current_failure(settings_));
    }
  }
}

void HttpDispatcher::report_finished() noexcept {
  while (const std::shared_ptr<Exchange> exchange = finished_.pop()) {
    exchanges_.erase(exchange);
    if (!options_.on_exchange) continue;
    try {
      const TimePoint now = clock_.now();
      ExchangeReport report{
          .method = exchange->request.method,
          .host = settings_.authority,
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
      options_.on_exchange(report);
    } catch (...) {  // an error in a metrics hook must not lose the response
    }
  }
}

HttpDispatcher::TimePoint HttpDispatcher::wait() noexcept {
  TimePoint until = next_deadline_;
  bool at_once = false;
  for (Pool& pool : pools_) {
    bool coming = false;
    bool room = false;
    for (const auto& connection : pool.connections) {
      coming |= connection->will_have_room();
      room |= connection->room() > 0;
      until = std::min(until, connection->next_step());
      if (connection->idle() && options_.idle_connection_timeout.count() > 0) {
        until = std::min(until, connection->idle_since() + options_.idle_connection_timeout);
      }
      at_once |= connection->session() != nullptr && connection->has_more();
      connection->wait();
    }
    at_once |= !pool.waiting.empty() && (room || !coming);  // something to dispatch
  }
  return at_once ? TimePoint::min() : until;
}

void HttpDispatcher::extend_deadlines(Clock::Duration stall) noexcept {
  for (Pool& pool : pools_) {
    for (const auto& connection : pool.connections) connection->extend_deadlines(stall);
  }
  for (const auto& exchange : exchanges_) exchange->last_byte += stall;
}

void HttpDispatcher::fail_everything(const TransportError& error) noexcept {
  for (const auto& exchange : exchanges_) exchange->fail(error);
  for (Pool& pool : pools_) {
    pool.connections.clear();
    pool.waiting.clear();
    pool.returned.clear();
  }
  report_finished();
  next_deadline_ = TimePoint::max();
}

}  // namespace kube::detail
