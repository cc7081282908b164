// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/validation/field_error.hpp"
#include "testkit/values/structural_schema.hpp"

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The parts of StructuralSchema, for any node of a schema.
namespace kube::testkit::detail {

/// The path of a member: "spec.x".
[[nodiscard]] inline std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string{name} : path + '.' + std::string{name};
}

/// Errors of `value`, which stands at `path`. Values equal to those in `old` (may be null) are not looked at.
void validate_value(const Value& schema, const Value& value, const Value* old,
                    const std::string& path, std::vector<FieldError>& errors);

/// Elements of sets and list maps that occur twice (x-kubernetes-list-type).
void validate_list_types(const Value& schema, const Value& value, const std::string& path,
                         std::vector<FieldError>& errors);

/// See StructuralSchema. `is_resource` tells that apiVersion, kind and metadata belong to `value`.
void prune_value(const Value& schema, Value& value, bool is_resource, const std::string& path,
                 std::vector<std::string>& removed);
void default_value(const Value& schema, Value& value);

/// Whether the defaults in a structural schema are valid by it themselves.
[[nodiscard]] std::vector<FieldError> check_defaults(const Value& schema, std::string_view field);

}  // namespace kube::testkit::detail
