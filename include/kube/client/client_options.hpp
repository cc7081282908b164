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

// Include the header named here to set an option of that type.
class Credentials;   // <kube/config/credentials.hpp>
struct HttpRequest;  // <kube/transport/transport.hpp>
class Metrics;       // <kube/base/metrics.hpp>
class RateLimiter;   // <kube/client/rate_limiter.hpp>
class Runtime;       // <kube/engine/runtime.hpp>
class Transport;     // <kube/transport/transport.hpp>
struct Warning;      // <kube/client/warnings.hpp>

/// The outcome of one attempt to send a request.
struct AttemptReport {
  std::string_view method;
  /// "https://10.0.0.1:6443/api/v1/pods", without the query.
  std::string_view url;
  /// 0 if there was no response.
  int status = 0;
  /// 0 for the first attempt.
  int attempt = 0;
  /// Time until the head of the response.
  Clock::Duration took{};
};

/// Dependencies and limits of a Client besides its Config. Every field is optional.
struct ClientOptions {
  /// Must outlive the Client, as must everything that the functions below refer to.
  Clock* clock = &system_clock();
  /// Used also by informers and managers of the client, unless they have a Logger. Logger{} is
  /// silent.
  Logger log = stderr_logger();
  /// Registry for rest_client_requests_total and related metrics. Null disables them.
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Replaces the limiter described by qps and burst of the Config.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  /// Receives warnings from the server. If null, they are logged.
  std::function<void(const Warning& warning)> on_warning = nullptr;
  /// Called with each request before it is sent, retries included, and may add headers (such as a
  /// trace id). An Authorization, User-Agent or Impersonate-User header that it sets is kept.
  std::function<void(HttpRequest& request)> on_request = nullptr;
  /// For tracing: called after each attempt, as the two functions above by the thread that processes
  /// the request: the caller's for a blocking verb, else a thread of the Runtime, where they must
  /// not wait. Exceptions propagate to the caller.
  std::function<void(const AttemptReport& report)> on_attempt = nullptr;
  /// How often a request is repeated when the server asks for it; 0 never.
  int max_retries = 10;
  /// Largest encoded size of one object or document. A list as a whole is not limited, only each of
  /// its items.
  std::size_t max_body = std::size_t{64} << 20;
  /// Limit for the bytes that all watches and lists of the client hold together: received and not
  /// yet decoded, or decoded and not yet delivered. Above it, streams hold their servers back and
  /// decode nothing ahead; a stream whose incomplete object does not fit fails with BudgetError (a
  /// watch: with an error event). One read of each stream may exceed the limit. 0 is no limit.
  std::size_t max_buffered_bytes = std::size_t{256} << 20;
  /// Allows credentials to be sent without TLS to servers on other machines. If false, this is
  /// refused.
  bool allow_insecure_credentials = false;
  /// Environment of the credentials. KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION are
  /// read from it when the Client is made.
  Environment environment = {};
  /// The threads of the client's connections and of all informers that use the client. If null, the
  /// client makes one with the default RuntimeOptions. Several clients may share one.
  std::shared_ptr<Runtime> runtime = nullptr;
  /// If null, the client makes an HTTP transport.
  std::shared_ptr<Transport> transport = nullptr;
  /// If null, made from the Config.
  std::shared_ptr<Credentials> credentials = nullptr;
};

}  // namespace kube
