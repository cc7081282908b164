// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "answer.hpp"
#include "host_backoff.hpp"
#include "request.hpp"
#include "request_metrics.hpp"

#include "base/fork.hpp"
#include "base/url.hpp"
#include "config/credentials_refresh.hpp"
#include "transport/polled_stream.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/client/client_options.hpp>
#include <kube/config/config.hpp>
#include <kube/object/type.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube::detail {

/// How a request and its response are encoded.
struct Negotiated {
  Format body = Format::kJson;
  std::string content_type = {};
  std::string accept = {};
  /// The format assumed for a response without Content-Type.
  Format assumed = Format::kJson;
  /// True if the request may be repeated with JSON only.
  bool can_fall_back = false;
};

/// Sends requests to one API server: headers, rate limit, retries, warnings, errors and metrics.
/// Independent of object types.
///
/// Thread safety: all methods may be called from any thread.
class RestClient {
 public:
  /// Throws ConfigError.
  RestClient(Config config, ClientOptions options);

  /// Returns a successful response (200 to 206; 200 only for a watch). Throws ApiError,
  /// TransportError or ConfigError; TransportError kCanceled after a stop. For a watch it may be
  /// null: repeated attempts to reach the server failed for transient reasons.
  [[nodiscard]] std::unique_ptr<PolledStream> send(const Request& request, std::stop_token stop);

  /// Returns the whole body of a response. Throws ApiError if it is longer than
  /// ClientOptions::max_body.
  [[nodiscard]] std::string read_body(const Request& request, PolledStream& stream,
                                      std::stop_token stop) const;

  /// Returns the same error with the request added to its message.
  [[nodiscard]] TransportError in_context(const Request& request,
                                          const TransportError& error) const;

  /// Chooses the formats for a body of type `sent` (null if there is none) and a response of type
  /// `wanted`.
  [[nodiscard]] Negotiated negotiate(const std::string& group_version, const Type* sent,
                                     const Type& wanted) const;
  /// Records that the server does not support protobuf for that group version.
  void use_json(const std::string& group_version);
  [[nodiscard]] bool uses_json(const std::string& group_version) const;

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Url& server() const noexcept { return server_; }
  [[nodiscard]] Clock& clock() const noexcept { return *options_.clock; }
  /// Makes the account of the response to `request` in the client's byte budget.
  [[nodiscard]] ByteAccount account(const Request& request) const {
    return {budget_, clock(), describe(request)};
  }
  [[nodiscard]] const std::shared_ptr<ByteBudget>& budget() const noexcept { return budget_; }
  [[nodiscard]] std::string describe(const Request& request) const;
  /// Returns the Runtime of the options or of the connections; with a user's transport, the one
  /// that all such clients share. Throws like the constructor of Runtime.
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const;

 private:
  friend class SendOperation;

  [[nodiscard]] std::shared_ptr<RateLimiter> limiter_for(const std::string& key);
  /// Records that a request waited for the rate limit.
  void count_limited(const Request& request, Clock::Duration waited);
  void report_wait(const Request& request, Clock::Duration waited);
  /// Records an attempt; `status` is 0 if there was no response.
  void count_attempt(const Request& request, int status, int attempt, Clock::Duration took,
                     std::size_t body_size);
  /// Runs the loop of a Runtime without threads while a plugin runs, if the calling thread may. The
  /// result keeps the plugin running.
  [[nodiscard]] std::shared_ptr<CredentialsRefresh::Call> renew_on_own_loop(
      const std::stop_token& stop);
  void add_impersonation(Headers& headers) const;
  void report_warnings(const Headers& headers) const;

  const Config config_;
  const ClientOptions options_;
  const Url server_;
  const std::string user_agent_;
  const Logger log_;
  const std::shared_ptr<Credentials> credentials_;
  const std::shared_ptr<NonBlockingCredentials> ready_credentials_;  // credentials_, or null
  CredentialsRefresh refresh_;
  const std::shared_ptr<ByteBudget> budget_;
  const std::shared_ptr<Transport> transport_;
  const ProcessMark process_;
  AsyncTransport* const async_transport_;  // transport_, or null
  const std::shared_ptr<RateLimiter> shared_limiter_;
  HostBackoff backoff_;
  RequestMetrics metrics_;
  BudgetMetrics budget_metrics_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, std::shared_ptr<RateLimiter>> limiters_;
  std::set<std::string> json_only_;
  Clock::TimePoint wait_reported_{};
};

}  // namespace kube::detail
