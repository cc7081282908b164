// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// The objects of manifest files, with lists expanded to their items. Each object is stored as JSON
/// text: a parsed object takes many times the memory, so only one is parsed at a time.
class Manifests {
 public:
  /// Reads all documents of a YAML or JSON text. `origin` names the text in error messages. Throws
  /// Error.
  void add(std::string_view text, const std::string& origin);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool is_definition(std::size_t index) const { return entries_[index].definition; }
  [[nodiscard]] const std::string& origin(std::size_t index) const {
    return origins_[entries_[index].origin];
  }
  [[nodiscard]] Ref<Value> object(std::size_t index) const;

 private:
  struct Entry {
    std::string json;
    std::size_t origin = 0;
    /// True for a CustomResourceDefinition.
    bool definition = false;
  };

  /// Returns false and adds nothing if `text` is not JSON.
  bool add_json(std::string_view text);
  bool add_json_list(std::string_view text);
  void add_yaml(std::string_view text);
  /// Adds the documents of a part of a YAML stream.
  void add_documents(std::string_view text);
  void add_object(const Value& object, std::string json);

  std::vector<std::string> origins_;
  std::vector<Entry> entries_;
};

}  // namespace kube::testkit::detail
