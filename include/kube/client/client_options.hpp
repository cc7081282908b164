// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/config/environment.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace kube {

// A program that sets an option of one of these types includes its header.
class Credentials;   // <kube/config/credentials.hpp>
struct HttpRequest;  // <kube/transport/transport.hpp>
class Metrics;       // <kube/base/metrics.hpp>
class RateLimiter;   // <kube/client/rate_limiter.hpp>
class Runtime;       // <kube/engine/runtime.hpp>
class Transport;     // <kube/transport/transport.hpp>
struct Warning;      // <kube/client/warnings.hpp>

/// What became of one attempt to send a request.
struct AttemptReport {
  std::string_view method;
  /// "https://10.0.0.1:6443/api/v1/pods", without the query.
  std::string_view url;
  /// 0 if there was no answer.
  int status = 0;
  /// 0 for the first.
  int attempt = 0;
  /// Until the head of the answer.
  Clock::Duration took{};
};

/// What a Client works with besides its Config. Any field may be left out.
struct ClientOptions {
  /// Must outlive the Client, and so must what the functions below refer to.
  Clock* clock = &system_clock();
  /// Inherited by informers and managers that use the client. Logger{} is silent.
  Logger log = stderr_logger();
  /// Where rest_client_requests_total and its relatives are counted; null counts nothing.
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Replaces the limiter that qps and burst of the Config describe.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  /// Null logs warnings of the server.
  std::function<void(const Warning& warning)> on_warning = nullptr;
  /// Sees each request before it is sent, retries included, and may add headers (a trace id). An
  /// Authorization, User-Agent or Impersonate-User that it sets is kept.
  std::function<void(HttpRequest& request)> on_request = nullptr;
  /// Told about each attempt, in the thread of the caller: for traces. What it throws reaches the caller.
  std::function<void(const AttemptReport& report)> on_attempt = nullptr;
  /// How often a request is sent again when the server asks for it; 0 never.
  int max_retries = 10;
  /// The most that one object or document may take, encoded. Lists have no limit, only their items.
  std::size_t max_body = std::size_t{64} << 20;
  /// How many bytes all watches and lists of the client may hold together: received and not yet decoded, or decoded and
  /// not yet handed out. Above it streams hold their servers back and decode nothing ahead, and one whose incomplete
  /// object does not fit fails with BudgetError (a watch: with an error event). It may be exceeded by what one read
  /// of each stream brings. 0 is no limit.
  std::size_t max_buffered_bytes = std::size_t{256} << 20;
  /// Credentials are sent without TLS, in the clear, to servers other than those on this machine only if this is set.
  bool allow_insecure_credentials = false;
  /// For credentials, and for KUBE_CLIENT_BACKOFF_BASE and ..._DURATION, which are read when the Client is
  /// made.
  Environment environment = {};
  /// The threads of the client's connections and of all informers that use the client. Null makes one for the client, with
  /// the default RuntimeOptions; several clients may share one.
  std::shared_ptr<Runtime> runtime = nullptr;
  /// Null makes connections of its own.
  std::shared_ptr<Transport> transport = nullptr;
  /// Null takes what the Config says.
  std::shared_ptr<Credentials> credentials = nullptr;
};

}  // namespace kube
