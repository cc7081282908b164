// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client_options.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace kube::testing_support {

/// What clients ask for, seen from their side, so that it can be counted whatever the server is.
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
    /// 0 as long as there is no answer, and if there will be none.
    int status = 0;
    bool ended = false;  ///< whether that is known
  };

  /// Follows the client that is made with these options; what they call already is called as before. Must outlive it.
  [[nodiscard]] ClientOptions following(ClientOptions options);

  /// In the order in which they were sent. An empty verb or resource is any.
  [[nodiscard]] std::vector<Request> all(const std::string& verb = {},
                                         const std::string& resource = {}) const;
  [[nodiscard]] std::size_t count(const std::string& verb = {},
                                  const std::string& resource = {}) const {
    return all(verb, resource).size();
  }
  /// Requests that wait for the head of their answer.
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
