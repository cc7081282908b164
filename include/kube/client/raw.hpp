// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/transport/transport.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

namespace detail {
class RestClient;
}

/// A request to any path of the server. Any field may be left out.
struct RawRequest {
  std::string method = "GET";
  /// Begins with a slash; encoded as it has to be. The prefix of the server, if it has one, comes before.
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> query = {};
  /// What is set here is not set by the client: Accept, Authorization, User-Agent.
  Headers headers = {};
  std::string body = {};
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

struct RawResponse {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// Requests as they are, with the credentials, limits, retries and errors of a Client: "/healthz",
/// "/metrics", "/openapi/v3".
///
/// Throws as Resource does. Thread safety: all methods may be called from any thread.
class RawClient {
 public:
  /// The body of what is there.
  [[nodiscard]] std::string get(std::string path, std::stop_token stop = {}) const;
  [[nodiscard]] RawResponse send(const RawRequest& raw, std::stop_token stop = {}) const;
  /// The same for bodies of any length.
  [[nodiscard]] std::unique_ptr<ResponseStream> open(const RawRequest& raw,
                                                     std::stop_token stop = {}) const;

 private:
  friend struct detail::Inside;
  explicit RawClient(std::shared_ptr<detail::RestClient> rest) : rest_(std::move(rest)) {}

  std::shared_ptr<detail::RestClient> rest_;
};

}  // namespace kube
