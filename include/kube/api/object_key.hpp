// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace kube {

/// Identifies an object of a kind: its namespace (empty for a cluster-scoped kind) and name
/// (client-go's types.NamespacedName).
struct ObjectKey {
  std::string namespace_;
  std::string name;

  /// Returns "namespace/name", or "name" without a namespace.
  [[nodiscard]] std::string str() const {
    return namespace_.empty() ? name : namespace_ + '/' + name;
  }
  /// Parses the result of str(). Throws std::invalid_argument with the text if it has more than one
  /// slash.
  static ObjectKey parse(std::string_view text);

  friend bool operator==(const ObjectKey& a, const ObjectKey& b) = default;
  friend auto operator<=>(const ObjectKey& a, const ObjectKey& b) = default;
};

/// Returns the key of any API object.
template <typename T>
[[nodiscard]] ObjectKey key_of(const T& object) {
  return {object.metadata.namespace_.str(), object.metadata.name.str()};
}

}  // namespace kube

template <>
struct std::hash<kube::ObjectKey> {
  std::size_t operator()(const kube::ObjectKey& key) const noexcept {
    const std::size_t first = std::hash<std::string>{}(key.namespace_);
    return first ^ (std::hash<std::string>{}(key.name) + 0x9e3779b97f4a7c15ULL + (first << 6) +
                    (first >> 2));
  }
};
