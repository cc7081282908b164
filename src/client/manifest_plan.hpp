// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/object_key.hpp>
#include <kube/client/client.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/rest_mapper.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// An object of a manifest with its resource. Refers to the manifest.
struct PlannedObject {
  const ManifestObject* from = nullptr;
  RestMapping mapping = {};
  ObjectKey key = {};  ///< with the namespace in which the object is
  /// False if the server does not have the kind: a definition in the manifest adds it, or, for a
  /// deletion, there is none.
  bool is_served = true;

  [[nodiscard]] Resource<Value> resource(const Client& client) const {
    return client.dynamic(mapping.resource, key.namespace_);
  }
  [[nodiscard]] bool is_kind(std::string_view group, std::string_view kind) const {
    return from->kind.group == group && from->kind.kind == kind;
  }
  [[nodiscard]] bool is_definition() const {
    return is_kind("apiextensions.k8s.io", "CustomResourceDefinition");
  }
};

/// What to do with a kind that neither the server nor the manifest has.
enum class UnknownKind : std::uint8_t { kRefuse, kAccept };

/// The objects of a manifest in the order in which they are applied. Throws ManifestError if a kind
/// is unknown or an object occurs twice.
[[nodiscard]] std::vector<PlannedObject> make_plan(const Client& client, RestMapper& mapper,
                                                   const Manifest& manifest,
                                                   const std::string& default_namespace,
                                                   UnknownKind unknown, std::stop_token stop);

/// Position of a kind in the order in which objects are applied; see apply_manifest().
[[nodiscard]] int rank_of(const RestMapping& mapping);
/// Returns false if the server has no such kind. Throws NoMatchError if the kind's group could not
/// be discovered.
[[nodiscard]] bool is_known(RestMapper& mapper, const GroupVersionKind& kind, RestMapping& mapping,
                            std::stop_token stop);

/// Returns kind and name for messages: "apps/v1 Deployment shop/web".
[[nodiscard]] std::string describe(const GroupVersionKind& kind, const ObjectKey& key);
/// Returns place, kind and name for messages, with a colon at the end.
[[nodiscard]] std::string describe_object(const ManifestPlace& place, const GroupVersionKind& kind,
                                          const ObjectKey& key);
/// Returns the problems as one text.
[[nodiscard]] std::string join_problems(const std::vector<std::string>& problems);
/// Throws ManifestError unless there are no problems.
void throw_problems(const std::vector<std::string>& problems);

/// Returns results of objects that were not tried yet.
[[nodiscard]] std::vector<ManifestResult> untried(const std::vector<PlannedObject>& plan);
/// Calls `act`. Records an exception in the result. Returns false if the rest should not be tried,
/// because the server did not answer or a stop was requested.
[[nodiscard]] bool attempt(ManifestResult& result, const std::function<void()>& act);
/// Throws ManifestError if a result is a failure or was not tried. `work` names the operation in
/// the message.
void throw_failures(std::string_view work, const std::vector<ManifestResult>& results);

}  // namespace kube::detail
