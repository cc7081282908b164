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

/// Thrown when the server has no such kind or resource. The message names what was looked up, and
/// the group versions that could not be discovered.
class NoMatchError : public Error {
 public:
  using Error::Error;
};

/// The mapping between a kind and its resource.
struct RestMapping {
  GroupVersionResource resource;
  GroupVersionKind kind;
  bool namespaced = false;
};

/// Options of a RestMapper.
struct RestMapperOptions {
  /// The shortest time between two discoveries that are caused by failed lookups.
  std::chrono::seconds least_age = std::chrono::seconds{10};
};

/// Maps kinds to resources, and the names that users type to kinds. Caches the result of discovery.
/// A failed lookup repeats discovery, as a new CustomResourceDefinition may have been added.
///
/// All lookups throw NoMatchError, and whatever Discovery throws.
/// Thread safety: all methods may be called from any thread.
class RestMapper {
 public:
  /// Fetches nothing before the first lookup.
  explicit RestMapper(Client client, RestMapperOptions options = {})
      : client_(std::move(client)), options_(options) {}

  /// Returns the resource of a kind. If the version is empty, the server's preferred version is
  /// used.
  [[nodiscard]] RestMapping for_kind(const GroupVersionKind& kind, std::stop_token stop = {});
  /// Returns the kind of a resource. The version may be empty, and then the group too: all groups
  /// are searched in the server's order.
  [[nodiscard]] RestMapping for_resource(const GroupVersionResource& resource,
                                         std::stop_token stop = {});
  /// Looks up a name as users type it: "pods", "pod", "po", "deploy.apps", "deployments.v1.apps".
  [[nodiscard]] RestMapping for_text(std::string_view text, std::stop_token stop = {});
  /// Returns the cached result of discovery; fetches it if necessary.
  [[nodiscard]] std::shared_ptr<const DiscoveredApi> api(std::stop_token stop = {});
  /// Clears the cache.
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
