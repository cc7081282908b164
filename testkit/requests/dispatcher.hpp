// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "testkit/controllers/controllers.hpp"
#include "testkit/http/message.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/kinds/discovery.hpp"
#include "testkit/requests/access.hpp"
#include "testkit/requests/health.hpp"
#include "testkit/requests/metrics.hpp"
#include "testkit/requests/routing.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Handles a request: limits, authentication, authorization, routing, and the response to a
/// failure.
///
/// Thread safety: all methods, from any thread. No method throws.
class Dispatcher {
 public:
  Dispatcher(Services& services, Rest& rest) : services_(services), rest_(rest) {}

  /// Handles a request as `user`, or as the user that its credentials identify.
  ServerResponse handle(const ServerRequest& request, const std::optional<User>& user) noexcept;
  void shut_down() noexcept { shutting_down_ = true; }
  [[nodiscard]] Health& health() noexcept { return health_; }

 private:
  /// Returns the response with the headers common to all responses.
  ServerResponse complete(const ServerRequest& request, const std::optional<User>& user);
  /// Sets `route` and `warnings` as far as processing gets before it throws.
  ServerResponse answer(const ServerRequest& request, const std::optional<User>& known,
                        Route& route, std::vector<std::string>& warnings);
  ServerResponse metrics() const;
  ServerResponse serve_path(const ServerRequest& request, const RequestUrl& url, const Route& route,
                            const User& user, std::vector<std::string>& warnings);
  ServerResponse serve_resource(RestRequest& request, const Route& route);
  ServerResponse version() const;

  Services& services_;
  Rest& rest_;
  Health health_;
  RequestMetrics metrics_;
  std::atomic<bool> shutting_down_ = false;
  std::atomic<std::size_t> reads_ = 0;
  std::atomic<std::size_t> writes_ = 0;
};

}  // namespace kube::testkit::detail
