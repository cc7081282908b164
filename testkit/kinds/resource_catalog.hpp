// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/object/type.hpp>
#include <kube/object/value.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/printing/table.hpp"
#include "testkit/store/store.hpp"
#include "testkit/values/structural_schema.hpp"

namespace kube::testkit::detail {

struct Subresource {
  std::string name;
  std::string group;
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;
};

/// One version of a CustomResourceDefinition.
struct CustomVersion {
  std::string storage_api_version;
  std::shared_ptr<const StructuralSchema> schema;
  std::uint32_t schema_id = 0;  ///< changes with the schema
  bool has_status = false;
  bool has_scale = false;
  std::string spec_replicas_path = {};  ///< ".spec.replicas"
  std::string status_replicas_path = {};
  std::string label_selector_path = {};
  std::vector<std::string> selectable_fields = {};  ///< without the leading dot
  std::string deprecation = {};                     ///< the warning, if the version is deprecated
  bool terminating = false;
};

/// A resource in one version, as the server serves it. Immutable.
struct Resource {
  std::string group;
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  std::string singular;
  bool namespaced = false;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;
  /// The types of this version and of the stored version; both are Value for custom resources.
  const Type* type = nullptr;
  const Type* storage_type = nullptr;
  std::string storage_version;
  /// Null for kinds that are never stored, such as reviews.
  Collection* collection = nullptr;
  std::shared_ptr<const CustomVersion> custom;  ///< null for built-in kinds
  std::shared_ptr<const TablePrinter> printer;
  const SchemaNode* schema = nullptr;  ///< for patches; may be null

  [[nodiscard]] std::string api_version() const {
    return group.empty() ? version : group + '/' + version;
  }
  [[nodiscard]] GroupResource group_resource() const { return {group, plural}; }
  [[nodiscard]] GroupKind group_kind() const { return {group, kind}; }
  [[nodiscard]] bool has_verb(std::string_view verb) const noexcept;
  [[nodiscard]] const Subresource* subresource(std::string_view name) const noexcept;
  [[nodiscard]] bool is_custom() const noexcept { return custom != nullptr; }
  /// Returns "pods" or "deployments.apps"; rules of kinds are looked up by it.
  [[nodiscard]] std::string id() const { return to_string(group_resource()); }
};
using ResourcePtr = std::shared_ptr<const Resource>;

/// A snapshot of all served resources. Immutable: changes create a new catalog.
class Catalog {
 public:
  using Versions =
      std::map<std::string, std::map<std::string, ResourcePtr, std::less<>>, PreferredVersionFirst>;

  /// Returns all built-in resources that are served by default.
  static std::shared_ptr<const Catalog> builtin(Store& store);
  /// Returns a copy without `gone` and with `added`. Shares all unchanged groups.
  [[nodiscard]] std::shared_ptr<const Catalog> with_changes(
      const std::vector<ResourcePtr>& gone, const std::vector<ResourcePtr>& added) const;

  [[nodiscard]] ResourcePtr find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  /// Returns the preferred version of a resource, or null.
  [[nodiscard]] ResourcePtr find(const GroupResource& resource) const;
  [[nodiscard]] ResourcePtr find_kind(std::string_view api_version, std::string_view kind) const;
  [[nodiscard]] bool has_group(std::string_view group) const;
  [[nodiscard]] bool has_version(std::string_view group, std::string_view version) const;
  /// Returns whether the group has built-in kinds; errors about unknown resources depend on it
  /// (RQ-4).
  [[nodiscard]] static bool is_builtin_group(std::string_view group);
  /// Returns the groups in the order of discovery.
  [[nodiscard]] const std::vector<std::string>& groups() const noexcept { return order_; }
  [[nodiscard]] const Versions& versions(std::string_view group) const;
  [[nodiscard]] std::vector<ResourcePtr> all() const;

 private:
  /// The versions of groups under construction; not shared with another catalog.
  using Edited = std::map<std::string, std::shared_ptr<Versions>, std::less<>>;
  Versions& edit(Edited& edited, const std::string& group);
  void add(Edited& edited, const ResourcePtr& resource);

  std::vector<std::string> order_;
  std::map<std::string, std::shared_ptr<const Versions>, std::less<>> groups_;
};

}  // namespace kube::testkit::detail
