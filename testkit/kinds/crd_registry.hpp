// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// The names that a definition requests or has been granted.
struct AcceptedNames {
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::string kind;
  std::string list_kind;

  /// Return the names that must be unique among resources, and among kinds.
  [[nodiscard]] std::vector<std::string> resources() const;
  [[nodiscard]] std::vector<std::string> kinds() const { return {kind, list_kind}; }
};

/// Serves the resources of CustomResourceDefinitions and maintains their status (CD-2 to CD-5,
/// CD-12, CD-13).
///
/// Thread safety: none; used by the controllers' thread only.
class CrdRegistry {
 public:
  CrdRegistry(Services& services, Rest& rest);

  [[nodiscard]] bool is_definitions(const Collection& collection) const noexcept {
    return &collection == &definitions_;
  }
  /// Handles a definition that was written or deleted.
  void definition_changed(const std::string& name);
  /// Handles a deleted object: continues the deletion of its definition, if that is pending.
  void object_deleted(const GroupResource& resource);
  /// Serves exactly the stored definitions.
  void rebuild();

 private:
  /// The processed state of a stored definition.
  struct Known {
    std::uint64_t revision = 0;
    std::string group;
    AcceptedNames names;
    std::vector<ResourcePtr> resources;  ///< if it is established
    std::string schemas;                 ///< the schemas that it is served with
  };
  /// Definitions by group and granted name.
  using NameIndex = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

  void update_status(const std::string& name);
  /// Returns the condition reason and message of a name conflict with another accepted definition
  /// of the group.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> conflict_of(
      const std::string& name, const Value& definition) const;
  /// Processes a stored definition (null: none).
  [[nodiscard]] Known learn(const StoredObject& stored);
  /// Serves the given definitions. The cost does not depend on the number of other definitions.
  void adopt(const std::map<std::string, StoredObject>& definitions);
  void index(const std::string& name, const Known& known, bool add);
  /// Deletes the instances of a definition that is being deleted, and then the definition.
  void clean_up(const std::string& name, const Value& definition);

  Services& services_;
  Rest& rest_;
  Collection& definitions_;
  std::map<std::string, Known, std::less<>> known_;
  NameIndex resource_owners_;
  NameIndex kind_owners_;
};

/// Returns the resources of an established definition.
[[nodiscard]] std::vector<ResourcePtr> resources_of(Store& store, const Value& definition);

/// Returns the errors of a CustomResourceDefinition (CD-1, CD-9, CD-10, CD-12).
[[nodiscard]] std::vector<FieldError> validate_definition(const Value& definition,
                                                          const Value* live);

}  // namespace kube::testkit::detail
