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

/// A request to any path of the server. Every field is optional.
struct RawRequest {
  std::string method = "GET";
  /// Starts with a slash; percent-encoded as needed. Appended to the server's path prefix, if it
  /// has one.
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> query = {};
  /// Replace the client's own headers of the same name: Accept, Authorization, User-Agent.
  Headers headers = {};
  std::string body = {};
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
};

/// A response, whatever its content type.
struct RawResponse {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// Sends requests to arbitrary paths, with the credentials, limits, retries and errors of a Client:
/// "/healthz", "/metrics", "/openapi/v3".
///
/// Throws like Resource. Thread safety: all methods may be called from any thread.
class RawClient {
 public:
  /// Sends a GET and returns the body.
  [[nodiscard]] std::string get(std::string path, std::stop_token stop = {}) const;
  /// Sends a request and reads the whole body.
  [[nodiscard]] RawResponse send(const RawRequest& raw, std::stop_token stop = {}) const;
  /// Sends a request and returns the body as a stream, for bodies of any length.
  [[nodiscard]] std::unique_ptr<ResponseStream> open(const RawRequest& raw,
                                                     std::stop_token stop = {}) const;

 private:
  friend struct detail::Inside;
  explicit RawClient(std::shared_ptr<detail::RestClient> rest) : rest_(std::move(rest)) {}

  std::shared_ptr<detail::RestClient> rest_;
};

}  // namespace kube
