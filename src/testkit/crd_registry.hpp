// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rest.hpp"
#include "services.hpp"

namespace kube::testkit::detail {

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
  void update_status(const std::string& name);
  /// Deletes the instances of a definition that is being deleted, and then the definition.
  void clean_up(const std::string& name, const Value& definition);

  Services& services_;
  Rest& rest_;
  Collection& definitions_;
  struct Built {
    std::uint64_t revision = 0;  ///< of the definition
    std::vector<ResourcePtr> resources;
  };
  /// What was made of each established definition, by name.
  std::map<std::string, Built> built_;
  /// What each resource was served with, to end watches when that changes.
  std::map<GroupResource, std::string> served_;
};

/// The resources of an established definition.
[[nodiscard]] std::vector<ResourcePtr> resources_of(Store& store, const Value& definition);

/// Errors of a CustomResourceDefinition (CD-1, CD-9, CD-10, CD-12).
[[nodiscard]] std::vector<FieldError> validate_definition(const Value& definition,
                                                          const Value* live);

}  // namespace kube::testkit::detail
