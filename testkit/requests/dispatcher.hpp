// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "testkit/requests/access.hpp"
#include "testkit/controllers/controllers.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/kinds/discovery.hpp"
#include "testkit/requests/health.hpp"
#include "testkit/http/message.hpp"
#include "testkit/requests/metrics.hpp"
#include "testkit/rest/rest.hpp"
#include "testkit/requests/routing.hpp"

namespace kube::testkit::detail {

/// Takes a request from its first byte to the answer: limits, who may, where to, and what to say when it
/// fails.
///
/// Thread safety: all methods, from any thread. Nothing is thrown.
class Dispatcher {
 public:
  Dispatcher(Services& services, Rest& rest) : services_(services), rest_(rest) {}

  /// Answers a request of `user`, or of whoever its credentials say.
  ServerResponse handle(const ServerRequest& request, const std::optional<User>& user) noexcept;
  void shut_down() noexcept { shutting_down_ = true; }
  [[nodiscard]] Health& health() noexcept { return health_; }

 private:
  /// The answer with the headers that every one has.
  ServerResponse complete(const ServerRequest& request, const std::optional<User>& user);
  /// Fills in `route` and `warnings` as far as it gets.
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
