// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/projection.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

struct PathStep;

/// The selection for one struct, map or Value, as queried by a decoder.
class Projection::Node {
 public:
  /// Selects one field or key, and parts of it.
  struct Choice {
    bool kept = false;
    const Node* below = nullptr;  ///< null: all of its content
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

  std::vector<Entry> fields_;  // fields of a struct, by index
  std::map<std::string, Entry, std::less<>> keys_;
  bool others_kept_ = false;  // default for the other keys of a map
};

}  // namespace kube
