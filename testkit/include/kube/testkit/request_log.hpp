// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/transport/transport.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace kube::testkit {

/// The attributes of a request to the in-process API server.
struct RequestInfo {
  /// get, list, watch, create, update, patch, delete or deletecollection; the method in lower case
  /// for non-resource paths.
  std::string verb = {};
  std::string method = {};
  std::string path = {};
  std::string query = {};
  /// This and the following five fields are empty for non-resource paths.
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};
  std::string user_agent = {};
};

/// Selects requests. An empty field matches everything.
struct RequestFilter {
  std::string verb = {};
  std::string group = {};
  std::string resource = {};
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};
  /// A prefix of the User-Agent header.
  std::string user_agent = {};
  /// A prefix of the path.
  std::string path = {};

  /// Returns whether all fields that are set match `request`.
  [[nodiscard]] bool matches(const RequestInfo& request) const;
};

/// A request that was answered, or that a fault left without a response.
struct LoggedRequest {
  RequestInfo info;
  Headers headers;
  /// 0 if no response was sent.
  int status = 0;
  Clock::WallTime time;
};

/// The most recent requests to the server, oldest first.
///
/// Thread safety: all methods, from any thread.
class RequestLog {
 public:
  /// Keeps the last `capacity` requests.
  explicit RequestLog(std::size_t capacity = 10000) : capacity_(capacity) {}

  /// Appends a request; called by the server.
  void add(LoggedRequest request);
  /// Returns the logged requests that match `filter`.
  [[nodiscard]] std::vector<LoggedRequest> entries(const RequestFilter& filter = {}) const;
  /// Returns the number of logged requests that match `filter`.
  [[nodiscard]] std::size_t count(const RequestFilter& filter = {}) const;
  /// Returns the number of requests since the start or the last clear(), including those dropped
  /// from the log.
  [[nodiscard]] std::uint64_t total() const;
  /// Waits, in real time, until at least `count` logged requests match. Returns false after
  /// `limit`.
  [[nodiscard]] bool wait_for(const RequestFilter& filter, std::size_t count,
                              std::chrono::milliseconds limit = std::chrono::seconds{10}) const;
  /// Removes all entries and resets total().
  void clear();

 private:
  [[nodiscard]] std::size_t count_locked(const RequestFilter& filter) const;

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_:
  std::deque<LoggedRequest> entries_;
  std::uint64_t total_ = 0;
};

}  // namespace kube::testkit
