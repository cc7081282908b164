// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/value.hpp"

#include <kube/object/value.hpp>

#include <map>
#include <string>
#include <utility>

namespace kube::testkit::cel {

/// A value of a type such as `Object.spec`, or of type `JSONPatch`, constructed by an expression of
/// a mutating policy.
struct ObjectLiteral final : Opaque {
  explicit ObjectLiteral(std::string type_name) : name(std::move(type_name)) {}

  [[nodiscard]] TypePtr type() const override { return opaque_type(name); }
  [[nodiscard]] bool equals(const Opaque& other) const override;

  std::string name;
  std::map<std::string, Val, std::less<>> fields;
};

/// Returns the result of an expression as a document. Throws std::invalid_argument if JSON has no
/// such value.
[[nodiscard]] Value to_document(const Val& value);

/// Returns an error if the type of a literal does not name its place: the field `spec` of an
/// `Object` has the type `Object.spec`. Empty if all types do.
[[nodiscard]] std::string misplaced_type(const Val& value);

}  // namespace kube::testkit::cel
