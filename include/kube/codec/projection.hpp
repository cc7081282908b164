// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

struct PathStep;

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

/// The decision for one struct, map or Value. What a decoder asks.
class Projection::Node {
 public:
  /// What becomes of one field or key.
  struct Choice {
    bool kept = false;
    const Node* below = nullptr;  ///< null: all of it
  };

  [[nodiscard]] Choice field(std::size_t index) const noexcept { return choose(fields_[index]); }
  [[nodiscard]] Choice key(std::string_view key) const noexcept {
    const auto found = keys_.find(key);
    return found == keys_.end() ? Choice{others_kept_, nullptr} : choose(found->second);
  }

 private:
  friend class Projection;
  struct Entry {
    bool kept = false;
    std::shared_ptr<Node> below;
  };
  static Choice choose(const Entry& entry) noexcept { return {entry.kept, entry.below.get()}; }
  static std::shared_ptr<Node> make(const Type& type, bool keeps_named);
  void name(const Type& type, const std::string& path, std::size_t step,
            const std::vector<PathStep>& steps, bool keeps_named);

  std::vector<Entry> fields_;  // of a struct, by index
  std::map<std::string, Entry, std::less<>> keys_;
  bool others_kept_ = false;  // of a map
};

}  // namespace kube
