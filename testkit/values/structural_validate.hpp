// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/validation/field_error.hpp"
#include "testkit/values/structural_schema.hpp"

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Building blocks of StructuralSchema, for any node of a schema.
namespace kube::testkit::detail {

/// Returns the path of a member: "spec.x".
[[nodiscard]] inline std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string{name} : path + '.' + std::string{name};
}

/// Appends the errors of `value` at `path`. Values equal to those in `old` (may be null) are
/// skipped.
void validate_value(const Value& schema, const Value& value, const Value* old,
                    const std::string& path, std::vector<FieldError>& errors);

/// Reports duplicate elements of sets and list maps (x-kubernetes-list-type).
void validate_list_types(const Value& schema, const Value& value, const std::string& path,
                         std::vector<FieldError>& errors);

/// See StructuralSchema. `is_resource` means that `value` has apiVersion, kind and metadata.
void prune_value(const Value& schema, Value& value, bool is_resource, const std::string& path,
                 std::vector<std::string>& removed);
void default_value(const Value& schema, Value& value);

/// Validates the defaults in a structural schema against the schema itself.
[[nodiscard]] std::vector<FieldError> check_defaults(const Value& schema, std::string_view field);

}  // namespace kube::testkit::detail
