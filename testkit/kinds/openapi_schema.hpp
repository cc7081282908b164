// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>

/// Parts of OpenAPI documents: schemas of types and paths of resources.
namespace kube::testkit::detail {

enum class OpenApiVersion { kV2, kV3 };

/// Generates the schemas of built-in types, under the names that Kubernetes gives them:
/// "io.k8s.api.core.v1.Pod", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta".
class OpenApiSchemas {
 public:
  explicit OpenApiSchemas(OpenApiVersion version);

  /// Returns a reference to the schema of a kind or its list. Adds the schema and everything it
  /// refers to to all(). Types are named as in the facts: "core/v1.Pod".
  [[nodiscard]] Value reference(std::string_view type);
  [[nodiscard]] Value list_reference(std::string_view type, std::string_view list_kind);
  /// Does the same for a custom resource: `schema` is its openAPIV3Schema.
  [[nodiscard]] Value custom_reference(std::string_view group, std::string_view version,
                                       std::string_view kind, const Value& schema);
  [[nodiscard]] Value custom_list_reference(std::string_view group, std::string_view version,
                                            std::string_view kind, std::string_view list_kind);

  /// Returns all schemas generated so far, sorted by name.
  [[nodiscard]] Value all();

 private:
  struct Group {
    std::string package;  ///< "io.k8s.api.core.v1."
    std::string group;
    std::string version;
  };

  Value reference_to(const std::string& name) const;
  std::string schema_name(std::string_view type) const;
  void add_type(std::string_view type);
  void add_fields(Value& schema, Value& required, const Value& type);
  Value field_schema(const Value& fact);
  Value type_schema(std::string_view type);
  Value leaf(std::string_view type);
  void add_list(const std::string& name, Value item, std::string_view group,
                std::string_view version, std::string_view list_kind);

  OpenApiVersion version_;
  std::map<std::string, Group, std::less<>> groups_;        ///< by "core/v1"
  std::map<std::string, const Value*, std::less<>> types_;  ///< by "core/v1.Pod"
  std::map<std::string, Value> made_;
};

/// Converts the schema of a custom resource to OpenAPI v2. Drops features that v2 does not have.
[[nodiscard]] Value custom_schema_v2(const Value& schema);

/// One resource, for the generation of paths.
struct OpenApiResource {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  bool namespaced = false;
  std::set<std::string, std::less<>> verbs;
  Value reference;       ///< to the schema of the kind
  Value list_reference;  ///< absent if it cannot be listed
};

/// Adds the paths of a resource: the collection, the collection across all namespaces, and the
/// single object. Operations include the extensions that kubectl uses:
/// x-kubernetes-group-version-kind, x-kubernetes-action and query parameters.
void add_paths(Value& paths, const OpenApiResource& resource, OpenApiVersion version);
/// One subresource; its path is added below that of the single object.
struct OpenApiSubresource {
  std::string name;
  std::string group;
  std::string version;
  std::string kind;
  std::set<std::string, std::less<>> verbs;
  Value reference;  ///< absent if the kind has no schema
};
void add_subresource_path(Value& paths, const OpenApiResource& parent,
                          const OpenApiSubresource& subresource, OpenApiVersion version);

}  // namespace kube::testkit::detail
