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

/// What a request to the in-process API server asks for.
struct RequestInfo {
  /// get, list, watch, create, update, patch, delete, deletecollection; for paths that are not about a
  /// resource the method in lower case.
  std::string verb = {};
  std::string method = {};
  std::string path = {};
  std::string query = {};
  /// Empty for paths that are not about a resource.
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};
  std::string user_agent = {};
};

/// Which requests are meant. Empty fields match everything.
struct RequestFilter {
  std::string verb = {};
  std::string group = {};
  std::string resource = {};
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string user = {};
  /// What the User-Agent begins with.
  std::string user_agent = {};
  /// What the path begins with.
  std::string path = {};

  [[nodiscard]] bool matches(const RequestInfo& request) const;
};

/// A request that was answered, or that a fault left without an answer.
struct LoggedRequest {
  RequestInfo info;
  Headers headers;
  /// 0 if no answer was sent.
  int status = 0;
  Clock::WallTime time;
};

/// The last requests that the server got, oldest first.
///
/// Thread safety: all methods, from any thread.
class RequestLog {
 public:
  explicit RequestLog(std::size_t capacity = 10000) : capacity_(capacity) {}

  void add(LoggedRequest request);
  [[nodiscard]] std::vector<LoggedRequest> entries(const RequestFilter& filter = {}) const;
  /// How many of those still in the log match.
  [[nodiscard]] std::size_t count(const RequestFilter& filter = {}) const;
  /// Requests since the start or the last clear(), also those that no longer fit into the log.
  [[nodiscard]] std::uint64_t total() const;
  /// Waits, in real time, until at least `count` requests in the log match; false if `limit` passes before.
  [[nodiscard]] bool wait_for(const RequestFilter& filter, std::size_t count,
                              std::chrono::milliseconds limit = std::chrono::seconds{10}) const;
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
