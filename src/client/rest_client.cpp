// SPDX-License-Identifier: Apache-2.0
#include "rest_client.hpp"

#include "body_operation.hpp"
#include "complete.hpp"
#include "connect.hpp"

#include "base/text.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "send_operation.hpp"
#include "server_url.hpp"

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
/// Discovery sends many requests at once, and then none for a long time.
constexpr int kDiscoveryBurst = 300;

std::shared_ptr<RateLimiter> limiter_of(const Config& config, const ClientOptions& options) {
  if (options.rate_limiter || config.qps <= 0) return options.rate_limiter;
  if (config.burst <= 0) {
    throw ConfigError(fmt::format("qps is {}, so burst has to be above 0, but it is {}", config.qps,
                                  config.burst));
  }
  return std::make_shared<TokenBucket>(config.qps, config.burst, *options.clock);
}

}  // namespace

RestClient::RestClient(Config config, ClientOptions options)
    : config_(with_known_content_types(std::move(config))),
      options_(std::move(options)),
      server_(parse_server_url(config_)),
      user_agent_(config_.user_agent.empty() ? make_user_agent() : config_.user_agent),
      log_(options_.log.named("client")),
      credentials_(connect_credentials(config_, options_, server_)),
      ready_credentials_(std::dynamic_pointer_cast<NonBlockingCredentials>(credentials_)),
      refresh_(ready_credentials_),
      budget_(std::make_shared<ByteBudget>(options_.max_buffered_bytes)),
      transport_(connect_transport(config_, options_, server_, credentials_, budget_)),
      async_transport_(dynamic_cast<AsyncTransport*>(transport_.get())),
      shared_limiter_(limiter_of(config_, options_)),
      backoff_(options_.environment),
      metrics_(options_.metrics, server_.authority),
      budget_metrics_(options_.metrics, server_.authority, budget_) {}

std::unique_ptr<PolledStream> RestClient::send(const Request& request, std::stop_token stop) {
  SendOperation operation{*this, request, {.stop = stop}};
  complete(operation, clock(), stop, [&] { return operation.poll(); });
  return operation.take();
}

void RestClient::count_attempt(const Request& request, int status, int attempt,
                               Clock::Duration took, std::size_t body_size) {
  metrics_.sent(request.method, status, attempt, took, body_size);
  backoff_.answered(status, clock().now());
  if (!options_.on_attempt) return;
  const std::string url = server_.str() + request.path;
  options_.on_attempt({request.method, url, status, attempt, took});
}

std::shared_ptr<CredentialsRefresh::Call> RestClient::renew_on_own_loop(
    const std::stop_token& stop) {
  if (ready_credentials_ == nullptr || async_transport_ == nullptr) return nullptr;
  const std::shared_ptr<Runtime> runtime = async_transport_->runtime();
  if (runtime == nullptr || !Inside::core(*runtime)->is_without_threads()) return nullptr;
  if (ready_credentials_->try_authorization()) return nullptr;
  auto call = refresh_.join({.scheduler = Inside::core(*runtime)});
  CredentialsRefresh::drive(*call, stop);
  return call;
}

void RestClient::add_impersonation(Headers& headers) const {
  const Impersonation& as = config_.impersonate;
  if (as.user.empty() || find_header(headers, "Impersonate-User") != nullptr) return;
  headers.push_back({"Impersonate-User", as.user});
  if (!as.uid.empty()) headers.push_back({"Impersonate-Uid", as.uid});
  for (const std::string& group : as.groups) headers.push_back({"Impersonate-Group", group});
  for (const auto& [key, values] : as.extra) {
    // Characters that HTTP allows in a header name, without '%'.
    const std::string name = "Impersonate-Extra-" + percent_encode(key, "!#$&'*+^`|");
    for (const std::string& value : values) headers.push_back({name, value});
  }
}

void RestClient::count_limited(const Request& request, Clock::Duration waited) {
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
    // At most one line in ten seconds; at debug level, one per second.
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

void RestClient::report_warnings(const Headers& headers) const {
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

std::string RestClient::read_body(const Request& request, PolledStream& stream,
                                  std::stop_token stop) const {
  BodyOperation operation{*this, request, stream, {.stop = stop}};
  complete(operation, clock(), stop, [&] { return operation.poll(); });
  return operation.take();
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

std::shared_ptr<Runtime> RestClient::runtime() const {
  std::shared_ptr<Runtime> runtime = options_.runtime;
  if (!runtime && async_transport_ != nullptr) runtime = async_transport_->runtime();
  return runtime ? runtime : shared_runtime();
}

std::string RestClient::describe(const Request& request) const {
  return request.method + ' ' + server_.str() + request.path;
}

}  // namespace kube::detail
