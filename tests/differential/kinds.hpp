// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dice.hpp"

#include <kube/object/value.hpp>

#include <span>
#include <string>
#include <string_view>

namespace kube::differential {

/// A kind of object that requests are generated for.
struct Kind {
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  /// Creates a valid object without metadata.
  Value (*body)(Dice& dice) = nullptr;

  [[nodiscard]] bool is_custom() const { return group.ends_with("example.com"); }
  [[nodiscard]] std::string api_version() const;
  /// Returns ".../NAMESPACE/PLURAL"; without the namespace if it is empty or the kind is
  /// cluster-scoped.
  [[nodiscard]] std::string collection(std::string_view namespace_) const;
};

[[nodiscard]] std::span<const Kind> kinds();
/// Returns the definitions of the custom kinds as JSON.
[[nodiscard]] std::vector<std::string> definitions();

/// Creates a complete object: apiVersion, kind, metadata with that name, labels and more, and
/// random content.
[[nodiscard]] Value make_object(Dice& dice, const Kind& kind, std::string_view name);
/// Creates the spec of a pod or template.
[[nodiscard]] Value pod_spec(Dice& dice);

/// Corrupts a document at a random place: an unknown field, a value of a wrong type, a missing or
/// null member, a number out of range, an invalid string.
void spoil(Dice& dice, Value& document);

}  // namespace kube::differential
