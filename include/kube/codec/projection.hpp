// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Which fields of a type a decoder keeps. The rest is skipped before anything is allocated.
///
/// Paths are JSON names joined by dots and go through lists: "spec.containers.image". A key of a map is
/// written in quotes: "metadata.labels['app']". Copying is cheap; a projection never changes.
class Projection {
 public:
  class Node;

  /// Keeps everything.
  Projection() = default;
  /// Keeps what the paths name, and everything below it. Throws std::invalid_argument that names a path
  /// which the type does not have.
  static Projection keep(const Type& type, const std::vector<std::string>& paths);
  /// Keeps everything but what the paths name.
  static Projection without(const Type& type, const std::vector<std::string>& paths);

  /// Null if everything is kept.
  [[nodiscard]] const Node* root() const noexcept { return root_.get(); }

 private:
  static Projection build(const Type& type, const std::vector<std::string>& paths,
                          bool keeps_named);

  std::shared_ptr<const Node> root_;
};

/// `fields<Pod>("metadata", "spec.nodeName", "status.podIP")`
template <typename T, typename... Paths>
[[nodiscard]] Projection fields(const Paths&... paths) {
  return Projection::keep(type_of<T>(), {std::string{paths}...});
}

/// `without_fields<Pod>("metadata.managedFields")`
template <typename T, typename... Paths>
[[nodiscard]] Projection without_fields(const Paths&... paths) {
  return Projection::without(type_of<T>(), {std::string{paths}...});
}

}  // namespace kube
