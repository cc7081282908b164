// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testkit/rest/rest.hpp"
#include "testkit/requests/services.hpp"

namespace kube::testkit::detail {

/// The names that a definition asks for or has been granted.
struct AcceptedNames {
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::string kind;
  std::string list_kind;

  /// What must be unique among resources, and among kinds.
  [[nodiscard]] std::vector<std::string> resources() const;
  [[nodiscard]] std::vector<std::string> kinds() const { return {kind, list_kind}; }
};

/// Turns CustomResourceDefinitions into served resources and keeps their status (CD-2 to CD-5, CD-12, CD-13).
/// Thread safety: none; belongs to the thread of the controllers.
class CrdRegistry {
 public:
  CrdRegistry(Services& services, Rest& rest);

  [[nodiscard]] bool is_definitions(const Collection& collection) const noexcept {
    return &collection == &definitions_;
  }
  /// A definition was written or is gone.
  void definition_changed(const std::string& name);
  /// An object is gone: if its definition waits for that, the definition goes on.
  void object_deleted(const GroupResource& resource);
  /// Serves exactly what the stored definitions say.
  void rebuild();

 private:
  /// What is known of a stored definition.
  struct Known {
    std::uint64_t revision = 0;
    std::string group;
    AcceptedNames names;
    std::vector<ResourcePtr> resources;  ///< if it is established
    std::string schemas;                 ///< what it is served with
  };
  /// Definitions by group and a name that they have been granted.
  using NameIndex = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

  void update_status(const std::string& name);
  /// The name that clashes with another accepted definition of the group: condition reason and message.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> conflict_of(
      const std::string& name, const Value& definition) const;
  /// What a stored definition (null: none) says.
  [[nodiscard]] Known learn(const StoredObject& stored);
  /// Serves what these say, and looks at no others: a change costs the same among many.
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

/// The resources of an established definition.
[[nodiscard]] std::vector<ResourcePtr> resources_of(Store& store, const Value& definition);

/// Errors of a CustomResourceDefinition (CD-1, CD-9, CD-10, CD-12).
[[nodiscard]] std::vector<FieldError> validate_definition(const Value& definition,
                                                          const Value* live);

}  // namespace kube::testkit::detail
