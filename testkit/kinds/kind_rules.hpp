// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/validation/field_error.hpp"

/// Behaviour that differs from kind to kind.
namespace kube::testkit::detail {

/// Properties of a kind.
struct KindRules {
  bool has_generation = false;           ///< GN-1
  bool has_status = false;               ///< a status subresource (ST-1)
  bool needs_version = false;            ///< updates must name the version (UP-3)
  bool created_by_update = false;        ///< PUT may create (UP-4)
  bool deletion_returns_object = false;  ///< DL-3
  bool orphans_by_default = false;       ///< DL-5
  bool is_graceful = false;              ///< DL-7
};
[[nodiscard]] KindRules rules_of(const Resource& resource);

/// Returns the field selectors of a resource, including metadata.name and metadata.namespace, with
/// their paths in the stored object (SL-4). An empty path compares as "". A path may have
/// alternatives after `|`, for objects without the first field.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> selectable_fields(
    const Resource& resource);

/// Returns whether there are others than metadata.name and metadata.namespace.
[[nodiscard]] bool has_own_selectable_fields(const Resource& resource);

/// Applies the defaults of a built-in kind.
void apply_builtin_defaults(const Resource& resource, Value& object);
/// Sets the initial status and other initial fields of a new object of a built-in kind.
void set_initial_state(const Resource& resource, Value& object);
/// Allocates the missing addresses of a service, unless its type is ExternalName.
void allocate_addresses(Value& service);
/// Counts template changes of a DaemonSet in an annotation.
void count_template(const Resource& resource, const Value& live, Value& next);
/// Removes empty lists from an object of a built-in kind: the stored form does not distinguish them
/// from absent ones.
void drop_empty_lists(Value& object);
/// Converts all quantities in an object of that type to canonical form.
void canonicalize_quantities(const Type& type, Value& object);
/// Returns the errors of an object of a built-in kind. `live` is the stored object on update.
[[nodiscard]] std::vector<FieldError> validate_builtin(const Resource& resource,
                                                       const Value& object, const Value* live);
/// Returns the errors in the metadata of any object (CR-6).
[[nodiscard]] std::vector<FieldError> validate_metadata(const Resource& resource,
                                                        const Value& object);
/// Returns whether a write changes the part that metadata.generation counts (GN-2).
[[nodiscard]] bool spec_differs(const Resource& resource, const Value& live, const Value& next);

}  // namespace kube::testkit::detail
