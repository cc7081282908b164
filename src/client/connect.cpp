// SPDX-License-Identifier: Apache-2.0
#include "connect.hpp"

#include "answer.hpp"

#include <kube/api/validation.hpp>
#include <kube/base/metrics.hpp>
#include <kube/transport/http_transport.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

Config with_known_content_types(Config config) {
  for (std::string* text : {&config.content_type, &config.accept}) {
    replace_all(*text, "application/cbor", kJsonMedia);
  }
  if (!format_of(config.content_type, Format::kJson)) {
    throw ConfigError("content type " + quoted(config.content_type) +
                      " cannot be written; use application/json or "
                      "application/vnd.kubernetes.protobuf, or leave it out");
  }
  return config;
}

void require_protected(const Url& server, const ClientOptions& options) {
  if (server.scheme == "https" || server.is_loopback() || options.allow_insecure_credentials)
    return;
  throw ConfigError(
      "the server address " + quoted(server.str()) +
      " has no TLS, so the credentials could be read on the network; use https, or set "
      "ClientOptions::allow_insecure_credentials");
}

std::shared_ptr<Credentials> connect_credentials(const Config& config, const ClientOptions& options,
                                                 const Url& server) {
  if (options.credentials) return options.credentials;
  const bool has_secret = !config.bearer_token.empty() || !config.bearer_token_file.empty() ||
                          !config.username.empty() || !config.password.empty() ||
                          config.exec.has_value();
  if (has_secret) require_protected(server, options);
  return make_credentials(
      config, {.clock = options.clock, .log = options.log, .environment = options.environment});
}

namespace {

/// Limits the buffer of a stream, so that the first one does not use up a small budget.
std::size_t stream_buffer_bytes(std::size_t budget) {
  constexpr std::size_t kLeast = std::size_t{64} << 10;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  constexpr std::size_t kStreams = 256;
  return budget == 0 ? kMost : std::clamp(budget / kStreams, kLeast, kMost);
}

/// Records the duration of name resolution. All other metrics are recorded where requests are sent.
std::function<void(const ExchangeReport&)> resolution_counter(std::shared_ptr<Metrics> metrics) {
  if (!metrics) return nullptr;
  return [metrics = std::move(metrics)](const ExchangeReport& report) {
    if (!report.resolved) return;
    metrics
        ->histogram("rest_client_dns_resolution_duration_seconds",
                    "Time to find the address of the server for a new connection.",
                    {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30}, {{"host", report.host}})
        .observe(std::chrono::duration<double>(*report.resolved).count());
  };
}

}  // namespace

std::shared_ptr<Transport> connect_transport(const Config& config, const ClientOptions& options,
                                             const Url& server,
                                             const std::shared_ptr<Credentials>& credentials,
                                             std::shared_ptr<ByteBudget> budget) {
  if (options.transport) return options.transport;
  return make_http_transport(
      with_environment({.base_url = server.str(),
                        .credentials = credentials,
                        .proxy_url = config.proxy_url,
                        .disable_compression = config.disable_compression,
                        .stream_buffer_bytes = stream_buffer_bytes(budget->limit()),
                        .budget = std::move(budget),
                        .log = options.log,
                        .runtime = options.runtime,
                        .metrics = options.metrics,
                        .on_exchange = resolution_counter(options.metrics)}));
}

}  // namespace kube::detail
