// SPDX-License-Identifier: Apache-2.0
#include "rest_client.hpp"

#include "connect.hpp"

#include <kube/client/rate_limiter.hpp>
#include <kube/client/user_agent.hpp>
#include <kube/client/warnings.hpp>
#include <kube/config/credentials.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

constexpr double kDefaultQps = 5;
constexpr int kDefaultBurst = 10;
/// Discovery asks many questions at once, and then none for long.
constexpr int kDiscoveryBurst = 300;
/// Of an answer that nobody wants, so that its connection can be used again.
constexpr std::size_t kMostDrained = 2048;
/// A Status with thousands of causes still fits.
constexpr std::size_t kMostErrorBody = std::size_t{1} << 20;

bool is_success(const Request& request, int status) {
  return request.kind == Request::Kind::kWatch ? status == 200 : status >= 200 && status <= 206;
}

bool is_passing(const Request& request, TransportError::Kind kind) {
  if (request.method != "GET") return false;
  return kind == TransportError::Kind::kConnectionLost ||
         (request.kind == Request::Kind::kWatch && kind == TransportError::Kind::kTimeout);
}

std::shared_ptr<RateLimiter> limiter_of(const Config& config, const ClientOptions& options) {
  if (options.rate_limiter || config.qps <= 0) return options.rate_limiter;
  if (config.burst <= 0) {
    throw ConfigError(fmt::format("qps is {}, so burst has to be above 0, but it is {}", config.qps,
                                  config.burst));
  }
  return std::make_shared<TokenBucket>(config.qps, config.burst, *options.clock);
}

/// Reads a little of what nobody wants.
void drain(ResponseStream& stream, std::stop_token stop) {
  try {
    static_cast<void>(read_some(stream, kMostDrained, std::move(stop)));
  } catch (const TransportError&) {
    // Then the connection cannot be used again.
  }
}

/// Whatever a server asks for.
Clock::Duration at_most_a_day(std::chrono::seconds wait) {
  return std::min<std::chrono::seconds>(wait, 24h);
}

}  // namespace

/// What the tries of one request have in common, and which one this is.
struct RestClient::Attempt {
  int number = 0;
  std::optional<Clock::TimePoint> deadline = std::nullopt;
};

RestClient::RestClient(Config config, ClientOptions options)
    : config_(with_known_content_types(std::move(config))),
      options_(std::move(options)),
      server_(parse_server_url(config_)),
      user_agent_(config_.user_agent.empty() ? make_user_agent() : config_.user_agent),
      log_(options_.log.named("client")),
      credentials_(connect_credentials(config_, options_, server_)),
      budget_(std::make_shared<ByteBudget>(options_.max_buffered_bytes)),
      transport_(connect_transport(config_, options_, server_, credentials_, budget_)),
      shared_limiter_(limiter_of(config_, options_)),
      backoff_(options_.environment),
      metrics_(options_.metrics, server_.authority),
      budget_metrics_(options_.metrics, server_.authority, budget_) {}

std::unique_ptr<ResponseStream> RestClient::send(const Request& request, std::stop_token stop) {
  if (request.kind != Request::Kind::kWatch) throttle(request, stop);
  Attempt attempt;
  if (request.timeout) attempt.deadline = clock().now() + *request.timeout;
  sleep(request, backoff_.delay(), attempt, stop);
  for (;; ++attempt.number) {
    const bool may_retry = attempt.number < options_.max_retries;
    Clock::Duration wait = 1s;
    try {
      std::unique_ptr<ResponseStream> stream = open(request, attempt, stop);
      const HttpResponseHead& head = stream->head();
      if (is_success(request, head.status)) {
        hand_on_warnings(head.headers);
        return metrics_.measure(request.method, std::move(stream), transport_);
      }
      const std::optional<int> seconds = retry_after_of(head.headers);
      if (!may_retry || !seconds || (head.status != 429 && head.status < 500)) {
        fail(request, *stream, stop);
      }
      log_.debug("{}: answered {}, trying again in {} s", describe(request), head.status, *seconds);
      wait = at_most_a_day(std::chrono::seconds{*seconds});
      drain(*stream, stop);
    } catch (const TransportError& error) {
      if (!is_passing(request, error.kind())) throw;
      if (!may_retry && request.kind == Request::Kind::kWatch) return nullptr;
      if (!may_retry) throw;
      log_.debug("{}, trying again", error.what());
    }
    sleep(request, std::max(wait, backoff_.delay()), attempt, stop);
    throttle(request, stop);
  }
}

std::unique_ptr<ResponseStream> RestClient::open(const Request& request, const Attempt& attempt,
                                                 std::stop_token stop) {
  HttpRequest http = http_request(request, stop);
  const std::string* authorization = find_header(http.headers, "Authorization");
  const SecretText shown = authorization == nullptr ? SecretText{} : SecretText{*authorization};
  if (config_.timeout > 0ms) http.timeout = config_.timeout;
  if (request.ends_within) {
    http.timeout = std::min(*request.ends_within, http.timeout.value_or(*request.ends_within));
  }
  if (attempt.deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*attempt.deadline - clock().now());
    http.timeout = std::max(1ms, std::min(left, http.timeout.value_or(left)));
  }
  const std::size_t body_size = http.body.size();
  const std::string url = server_.str() + request.path;
  const Clock::TimePoint start = clock().now();
  const auto count = [&](int status) {
    const Clock::TimePoint now = clock().now();
    metrics_.sent(request.method, status, attempt.number, now - start, body_size);
    backoff_.answered(status, now);
    if (options_.on_attempt) {
      options_.on_attempt({request.method, url, status, attempt.number, now - start});
    }
  };
  std::unique_ptr<ResponseStream> stream;
  try {
    stream = transport_->open(std::move(http), std::move(stop));
  } catch (const TransportError& error) {
    count(0);
    throw in_context(request, error);
  }
  count(stream->head().status);
  if (stream->head().status == 401 && credentials_) credentials_->refused(shown);
  return stream;
}

HttpRequest RestClient::http_request(const Request& request, std::stop_token stop) {
  HttpRequest http{
      .method = request.method, .target = request.path + request.query.str(), .body = request.body};
  if (request.kind == Request::Kind::kWatch) http.lane = Lane::kWatches;
  http.headers = request.headers;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty() && find_header(http.headers, name) == nullptr) {
      http.headers.push_back({name, std::move(value)});
    }
  };
  add("Accept", request.accept);
  add("Content-Type", request.content_type);
  if (options_.on_request) options_.on_request(http);
  add("User-Agent", user_agent_);
  if (credentials_ && find_header(http.headers, "Authorization") == nullptr) {
    std::string authorization = credentials_->authorization(std::move(stop));
    if (!authorization.empty()) require_protected(server_, options_);
    add("Authorization", std::move(authorization));
  }
  add_impersonation(http.headers);
  return http;
}

void RestClient::add_impersonation(Headers& headers) const {
  const Impersonation& as = config_.impersonate;
  if (as.user.empty() || find_header(headers, "Impersonate-User") != nullptr) return;
  headers.push_back({"Impersonate-User", as.user});
  if (!as.uid.empty()) headers.push_back({"Impersonate-Uid", as.uid});
  for (const std::string& group : as.groups) headers.push_back({"Impersonate-Group", group});
  for (const auto& [key, values] : as.extra) {
    // What HTTP allows in the name of a header, without '%'.
    const std::string name = "Impersonate-Extra-" + percent_encode(key, "!#$&'*+^`|");
    for (const std::string& value : values) headers.push_back({name, value});
  }
}

void RestClient::throttle(const Request& request, std::stop_token stop) {
  const std::shared_ptr<RateLimiter> limiter = limiter_for(request.limiter);
  if (!limiter) return;
  const Clock::TimePoint start = clock().now();
  if (!limiter->wait(std::move(stop))) {
    throw TransportError(TransportError::Kind::kCanceled,
                         describe(request) + ": canceled while waiting for the rate limit");
  }
  const Clock::Duration waited = clock().now() - start;
  metrics_.limited(request.method, waited);
  if (waited > 50ms) report_wait(request, waited);
}

std::shared_ptr<RateLimiter> RestClient::limiter_for(const std::string& key) {
  if (shared_limiter_ || config_.qps < 0) return shared_limiter_;
  const std::lock_guard guard{mutex_};
  std::shared_ptr<RateLimiter>& limiter = limiters_[key];
  if (!limiter) {
    const int usual = key == "discovery" ? kDiscoveryBurst : kDefaultBurst;
    limiter = std::make_shared<TokenBucket>(kDefaultQps, config_.burst > 0 ? config_.burst : usual,
                                            clock());
  }
  return limiter;
}

void RestClient::report_wait(const Request& request, Clock::Duration waited) {
  const double seconds = std::chrono::duration<double>(waited).count();
  log_.debug("{}: waited {:.3f} s for the client's own rate limit", describe(request), seconds);
  if (waited <= 1s) return;
  {
    // A program that logs little gets few of these lines.
    const std::lock_guard guard{mutex_};
    const Clock::TimePoint now = clock().now();
    const Clock::Duration pause = log_.enabled(LogLevel::kDebug) ? 1s : 10s;
    if (wait_reported_ != Clock::TimePoint{} && now - wait_reported_ < pause) return;
    wait_reported_ = now;
  }
  log_.info(
      "{}: waited {:.3f} s for the client's own rate limit; qps and burst of the configuration "
      "set it",
      describe(request), seconds);
}

void RestClient::sleep(const Request& request, Clock::Duration wait, const Attempt& attempt,
                       std::stop_token stop) {
  if (wait <= Clock::Duration{}) return;
  const Clock::TimePoint until = clock().now() + wait;
  if (attempt.deadline && until > *attempt.deadline) {
    throw TransportError(TransportError::Kind::kTimeout,
                         describe(request) + ": the time is too short for another try");
  }
  if (!clock().sleep_until(until, std::move(stop))) {
    throw TransportError(TransportError::Kind::kCanceled, describe(request) + ": canceled");
  }
}

void RestClient::hand_on_warnings(const Headers& headers) const {
  for (const Header& header : headers) {
    if (::strcasecmp(header.name.c_str(), "Warning") != 0) continue;
    for (const Warning& warning : parse_warnings(header.value)) {
      if (warning.code != 299 || warning.text.empty()) continue;
      if (options_.on_warning) {
        options_.on_warning(warning);
      } else {
        log_.warning("{}", warning.text);
      }
    }
  }
}

void RestClient::fail(const Request& request, ResponseStream& stream, std::stop_token stop) const {
  hand_on_warnings(stream.head().headers);
  std::string body;
  try {
    body = read_some(stream, kMostErrorBody, stop);
  } catch (const TransportError&) {
    // The code says enough, unless somebody wants to stop.
    if (stop.stop_requested()) throw;
  }
  throw error_of(request, stream.head(), body);
}

std::string RestClient::read_body(const Request& request, ResponseStream& stream,
                                  std::stop_token stop) const {
  bool complete = false;
  std::string body;
  try {
    ByteAccount account = this->account(request);
    body = read_some(stream, options_.max_body, std::move(stop), &complete, &account);
  } catch (const TransportError& error) {
    throw in_context(request, error);
  }
  if (!complete) {
    throw unexpected_answer(
        request, stream.head(),
        fmt::format("the answer is longer than {} bytes (ClientOptions::max_body)",
                    options_.max_body));
  }
  return body;
}

void RestClient::use_json(const std::string& group_version) {
  const std::lock_guard guard{mutex_};
  json_only_.insert(group_version);
}

bool RestClient::uses_json(const std::string& group_version) const {
  const std::lock_guard guard{mutex_};
  return json_only_.contains(group_version);
}

TransportError RestClient::in_context(const Request& request, const TransportError& error) const {
  return {error.kind(), fmt::format("{}: {}", describe(request), error.what())};
}

std::string RestClient::describe(const Request& request) const {
  return request.method + ' ' + server_.str() + request.path;
}

}  // namespace kube::detail
