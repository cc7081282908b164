// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/api/resource_info.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/object_ref.hpp>

#include <concepts>
#include <string>
#include <type_traits>

namespace kube {

/// Names a kind where the C++ type does not: for Value and meta::v1::PartialObjectMetadata.
struct ResourceKind {
  GroupVersionResource resource{};
  std::string kind{};
  bool namespaced = true;
};
/// Returns the kind of a type of the API: `resource_kind<apps::v1::Deployment>()`.
template <typename T>
requires requires { T::kube_resource; }
[[nodiscard]] ResourceKind resource_kind() {
  const ResourceInfo& info = T::kube_resource;
  return {{std::string{info.group}, std::string{info.version}, std::string{info.plural}},
          std::string{info.kind},
          info.namespaced};
}

namespace detail {

/// A kind and the form in which its objects are cached.
struct WatchedKind {
  const ObjectAccess* access;
  const ResourceInfo* info;  ///< null for a kind that is known only by name
  ResourceKind names;
  /// Returns the metadata of an object.
  Ref<meta::v1::ObjectMeta> (*metadata)(const ObjectRef& object);
};

template <typename T>
[[nodiscard]] Ref<meta::v1::ObjectMeta> metadata_of(const ObjectRef& object) {
  const T& typed = object.template as<T>();
  if constexpr (std::same_as<T, Value>) {
    return decode_json<meta::v1::ObjectMeta>(encode_json(typed["metadata"]));
  } else if constexpr (std::same_as<std::remove_cvref_t<decltype(typed.metadata)>,
                                    meta::v1::ObjectMeta>) {
    return {object.template to<T>(), &typed.metadata};
  } else {
    return decode_json<meta::v1::ObjectMeta>(encode_json(typed.metadata));
  }
}

/// Returns a text for messages: "apps/v1, Kind=Deployment".
[[nodiscard]] std::string describe(const WatchedKind& kind);
/// Throws std::invalid_argument unless `names` names a kind.
void check_kind(const ResourceKind& names);

/// `names` is used only if T does not name its kind.
template <typename T>
[[nodiscard]] WatchedKind watched_kind(const ResourceKind& names = {}) {
  if constexpr (requires { T::kube_resource; }) {
    return {&kObjectAccess<T>, &T::kube_resource, resource_kind<T>(), &metadata_of<T>};
  } else {
    static_assert(std::same_as<T, Value> || std::same_as<T, meta::v1::PartialObjectMetadata>);
    check_kind(names);
    return {&kObjectAccess<T>, nullptr, names, &metadata_of<T>};
  }
}

}  // namespace detail
}  // namespace kube
