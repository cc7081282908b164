// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>
#include <kube/client/discovery.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// The server has no such kind or resource. The message says what was looked for, and which parts of the
/// server could not be asked.
class NoMatchError : public Error {
 public:
  using Error::Error;
};

/// Which resource serves a kind.
struct RestMapping {
  GroupVersionResource resource;
  GroupVersionKind kind;
  bool namespaced = false;
};

struct RestMapperOptions {
  /// What is not found is looked for on the server again, but no more often than this.
  std::chrono::seconds least_age = std::chrono::seconds{10};
};

/// Finds resources by kind, and kinds by the names that people use. Keeps what discovery told; what is
/// missing there makes it ask again, as a new CustomResourceDefinition may have come.
///
/// All lookups throw NoMatchError, and what Discovery throws.
/// Thread safety: all methods may be called from any thread.
class RestMapper {
 public:
  explicit RestMapper(Client client, RestMapperOptions options = {})
      : client_(std::move(client)), options_(options) {}

  /// The resource of a kind. Without a version it is the one that the server prefers.
  [[nodiscard]] RestMapping for_kind(const GroupVersionKind& kind, std::stop_token stop = {});
  /// What stands behind a resource. Version may be empty, and group as well if the version is: then all are
  /// searched, in the server's order.
  [[nodiscard]] RestMapping for_resource(const GroupVersionResource& resource,
                                         std::stop_token stop = {});
  /// What a user types: "pods", "pod", "po", "deploy.apps", "deployments.v1.apps".
  [[nodiscard]] RestMapping for_text(std::string_view text, std::stop_token stop = {});
  /// What was discovered, asking the server if need be.
  [[nodiscard]] std::shared_ptr<const DiscoveredApi> api(std::stop_token stop = {});
  /// Forgets everything.
  void reset();

 private:
  template <typename Find>
  [[nodiscard]] RestMapping look_up(const std::string& what, std::stop_token stop, Find find);
  [[nodiscard]] std::shared_ptr<const DiscoveredApi> refresh(std::stop_token stop);

  Client client_;
  RestMapperOptions options_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<const DiscoveredApi> api_;
  Clock::TimePoint fetched_{};
};

}  // namespace kube
