// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/resource_info.hpp>
#include <kube/api/time.hpp>
#include <kube/base/clock.hpp>
#include <kube/codec/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/requests/engine.hpp"

namespace kube::testkit::detail {

/// Typed reads and writes for a simulated controller. Reads access the store directly and are never
/// stale. Writes are requests of the administrator, so defaults, admission and validation apply.
/// Writes throw ApiError.
///
/// Thread safety: all methods, from any thread.
class ClusterAccess {
 public:
  /// `agent` is the field manager of all writes.
  ClusterAccess(Engine& engine, Clock& clock, std::string agent)
      : engine_(engine), clock_(clock), agent_(std::move(agent)) {}

  template <typename T>
  [[nodiscard]] static GroupResource resource() {
    return {std::string{T::kube_resource.group}, std::string{T::kube_resource.plural}};
  }
  template <typename T>
  [[nodiscard]] Ref<T> find(std::string_view namespace_, std::string_view name) const {
    return engine_.find_stored(resource<T>(), namespace_, name).template as<T>();
  }
  /// Lists all objects of a namespace, or of all namespaces if it is empty.
  template <typename T>
  [[nodiscard]] std::vector<Ref<T>> list(std::string_view namespace_ = {}) const {
    std::vector<Ref<T>> objects;
    for (const StoredObject& stored : engine_.list_stored(resource<T>(), namespace_)) {
      if (Ref<T> object = stored.as<T>()) objects.push_back(std::move(object));
    }
    return objects;
  }

  /// Returns the response of a GET, for kinds that are not known at compile time; null if it is
  /// 404.
  [[nodiscard]] Ref<Value> read(const std::string& path) const;

  template <typename T>
  Ref<T> create(const T& object) {
    return decode_json<T>(
        request("POST", target(T::kube_resource, object.metadata.namespace_.view(), "", ""),
                encode_json(object)));
  }
  /// Replaces the object. Throws a conflict if it has changed since it was read.
  template <typename T>
  Ref<T> update(const T& object) {
    return decode_json<T>(request("PUT", target_of(object, ""), encode_json(object)));
  }
  template <typename T>
  Ref<T> update_status(const T& object) {
    return decode_json<T>(request("PUT", target_of(object, "status"), encode_json(object)));
  }
  /// Deletes the object if its UID is still the same.
  template <typename T>
  void remove(const T& object, std::optional<int> grace_seconds = std::nullopt) {
    remove(target_of(object, ""), object.metadata.uid.view(), grace_seconds);
  }
  /// Sends a POST to a subresource, such as the binding of a pod.
  template <typename T>
  void post(const T& object, std::string_view subresource, const std::string& body) {
    request("POST", target_of(object, subresource), body);
  }

  [[nodiscard]] Time now() const { return Time{clock_.wall_now()}; }
  [[nodiscard]] Clock::WallTime wall_now() const { return clock_.wall_now(); }
  /// Returns the duration from now until `time`; zero if it is in the past.
  [[nodiscard]] std::chrono::nanoseconds until(Clock::WallTime time) const;

 private:
  static std::string target(const ResourceInfo& resource, std::string_view namespace_,
                            std::string_view name, std::string_view subresource);
  template <typename T>
  static std::string target_of(const T& object, std::string_view subresource) {
    return target(T::kube_resource, object.metadata.namespace_.view(), object.metadata.name.view(),
                  subresource);
  }
  std::string request(std::string_view method, const std::string& target, std::string body);
  void remove(const std::string& target, std::string_view uid, std::optional<int> grace_seconds);

  Engine& engine_;
  Clock& clock_;
  const std::string agent_;
};

}  // namespace kube::testkit::detail
