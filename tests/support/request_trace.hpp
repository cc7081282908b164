// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client_options.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace kube::testing_support {

/// Records the requests of clients on the client side, so that they can be counted with any server.
///
/// Thread safety: all methods, from any thread.
class RequestTrace {
 public:
  struct Request {
    /// "list", "watch", "get", "create", "update", "patch", "delete", "deletecollection"
    std::string verb = {};
    std::string resource = {};
    std::string path = {};
    std::string query = {};
    /// 0 before the answer, and if the request failed without one.
    int status = 0;
    bool ended = false;  ///< whether the outcome is known
  };

  /// Returns `options` with hooks that record the requests of the client; hooks that are already
  /// set are still called. The trace must outlive the client.
  [[nodiscard]] ClientOptions following(ClientOptions options);

  /// Returns requests in the order in which they were sent. An empty verb or resource matches any.
  [[nodiscard]] std::vector<Request> all(const std::string& verb = {},
                                         const std::string& resource = {}) const;
  [[nodiscard]] std::size_t count(const std::string& verb = {},
                                  const std::string& resource = {}) const {
    return all(verb, resource).size();
  }
  /// Returns the number of requests without a response head so far.
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Sent {
    Request request;
    std::string method;
  };
  void sent(const HttpRequest& request);
  void answered(const AttemptReport& report);

  mutable std::mutex mutex_;
  std::vector<Sent> sent_;  // guarded by mutex_
};

}  // namespace kube::testing_support
