// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dice.hpp"

#include <kube/object/value.hpp>

#include <span>
#include <string>
#include <string_view>

namespace kube::differential {

/// A kind that requests are made about.
struct Kind {
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  /// A valid object without metadata.
  Value (*body)(Dice& dice) = nullptr;

  [[nodiscard]] bool is_custom() const { return group.ends_with("example.com"); }
  [[nodiscard]] std::string api_version() const;
  /// ".../NAMESPACE/PLURAL"; without namespace if that is empty or the kind has none.
  [[nodiscard]] std::string collection(std::string_view namespace_) const;
};

[[nodiscard]] std::span<const Kind> kinds();
/// The definitions of the custom kinds among them, as JSON.
[[nodiscard]] std::vector<std::string> definitions();

/// The whole object: apiVersion, kind, metadata with that name, labels and more, and a random content.
[[nodiscard]] Value make_object(Dice& dice, const Kind& kind, std::string_view name);
/// A pod's spec, also for templates.
[[nodiscard]] Value pod_spec(Dice& dice);

/// Damages a document somewhere: a field that nobody knows, a value of a wrong type, a missing or null member, a
/// number out of range, a text that is none.
void spoil(Dice& dice, Value& document);

}  // namespace kube::differential
