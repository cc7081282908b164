// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/validation/field_error.hpp"
#include "testkit/kinds/resource_catalog.hpp"

/// What kinds do differently from each other.
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

/// Field selectors of the resource, metadata.name and metadata.namespace among them, each with the path in the stored
/// object (SL-4). The path may be empty, which compares as "", and may have alternatives after `|` for objects without
/// the first.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> selectable_fields(
    const Resource& resource);

/// Whether it has more of them than metadata.name and metadata.namespace.
[[nodiscard]] bool has_own_selectable_fields(const Resource& resource);

/// Fills in the defaults of a built-in kind.
void apply_builtin_defaults(const Resource& resource, Value& object);
/// Gives a new object of a built-in kind its first status and what else its kind starts with.
void set_initial_state(const Resource& resource, Value& object);
/// Gives a service the addresses that it has not, unless it is a mere name.
void allocate_addresses(Value& service);
/// Daemon sets count the changes of their template in an annotation.
void count_template(const Resource& resource, const Value& live, Value& next);
/// Removes lists of a built-in kind that are empty: stored objects do not tell them from lists that are not there.
void drop_empty_lists(Value& object);
/// Writes all quantities in an object of that type in their canonical form.
void canonicalize_quantities(const Type& type, Value& object);
/// Errors of a built-in kind. `live` is the stored object on update.
[[nodiscard]] std::vector<FieldError> validate_builtin(const Resource& resource,
                                                       const Value& object, const Value* live);
/// Errors in the metadata of any object (CR-6).
[[nodiscard]] std::vector<FieldError> validate_metadata(const Resource& resource,
                                                        const Value& object);
/// Whether a write changes what metadata.generation counts (GN-2).
[[nodiscard]] bool spec_differs(const Resource& resource, const Value& live, const Value& next);

}  // namespace kube::testkit::detail
