// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/cost_limits.hpp"
#include "testkit/validation/field_error.hpp"
#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {
class RuleSet;
}

namespace kube::testkit::detail {

/// Checks whether `schema` (an openAPIV3Schema, from the definition of a custom resource) is
/// structural (CD-9), including its defaults, patterns and CEL rules (CE-6). `field` is its
/// location: "spec.versions[0].schema.openAPIV3Schema". Returns no errors if it is valid.
[[nodiscard]] std::vector<FieldError> check_structural(
    const Value& schema, std::string_view field, cel::CostLimits limits = cel::CostLimits::kAll);

/// The schema of one version of a custom resource.
///
/// Objects pass it in the order prune, apply_defaults, validate, rules (CD-6, CD-7, CD-8, CE-7).
/// Thread safety: immutable; may be used from any thread.
class StructuralSchema {
 public:
  /// `schema` must have passed check_structural().
  explicit StructuralSchema(Value schema);
  StructuralSchema(const StructuralSchema&) = delete;
  StructuralSchema& operator=(const StructuralSchema&) = delete;

  /// Removes fields that are not in the schema and returns their paths in the form of CR-7
  /// ("spec.x"). apiVersion, kind and metadata are kept, at the root and in embedded resources.
  std::vector<std::string> prune(Value& object) const;

  /// Fills in defaults, parents first, and drops nulls that the schema does not allow.
  void apply_defaults(Value& object) const;

  /// Returns all errors of `object`, in the order of the schema. If `old` is the stored object,
  /// unchanged values are not reported (CD-8).
  [[nodiscard]] std::vector<FieldError> validate(const Value& object,
                                                 const Value* old = nullptr) const;

  /// Returns the schema for server-side apply (SA-8).
  [[nodiscard]] const SchemaNode& apply_schema() const noexcept { return *root_; }
  [[nodiscard]] const Value& json() const noexcept { return schema_; }
  /// Returns the CEL rules (`x-kubernetes-validations`). Use them only for objects without errors
  /// from validate().
  [[nodiscard]] const cel::RuleSet& rules() const noexcept { return *rules_; }

 private:
  Value schema_;
  std::shared_ptr<const cel::RuleSet> rules_;  ///< refers to schema_
  SchemaNodes nodes_;
  const SchemaNode* root_ = nullptr;
};

}  // namespace kube::testkit::detail
