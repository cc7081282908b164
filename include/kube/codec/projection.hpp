// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Selects the fields of a type that a decoder keeps. Other fields are skipped without an
/// allocation.
///
/// Paths are JSON names joined by dots, and pass through lists: "spec.containers.image". A map key
/// is written in quotes: "metadata.labels['app']". Immutable and cheap to copy.
class Projection {
 public:
  class Node;

  /// Keeps everything.
  Projection() = default;
  /// Keeps the fields at `paths`, with all their content. Throws std::invalid_argument with the
  /// path if the type does not have it.
  static Projection keep(const Type& type, const std::vector<std::string>& paths);
  /// Keeps everything except the fields at `paths`. Throws as keep().
  static Projection without(const Type& type, const std::vector<std::string>& paths);

  /// Null if everything is kept.
  [[nodiscard]] const Node* root() const noexcept { return root_.get(); }

 private:
  static Projection build(const Type& type, const std::vector<std::string>& paths,
                          bool keeps_named);

  std::shared_ptr<const Node> root_;
};

/// Keeps only these fields: `fields<Pod>("metadata", "spec.nodeName", "status.podIP")`.
template <typename T, typename... Paths>
[[nodiscard]] Projection fields(const Paths&... paths) {
  return Projection::keep(type_of<T>(), {std::string{paths}...});
}

/// Drops these fields: `without_fields<Pod>("metadata.managedFields")`.
template <typename T, typename... Paths>
[[nodiscard]] Projection without_fields(const Paths&... paths) {
  return Projection::without(type_of<T>(), {std::string{paths}...});
}

}  // namespace kube
