// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "key_order.hpp"
#include <kube/base/error.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// Thrown if code cannot be generated from the input; the message starts with the file and the path
/// in it.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A location in a document: the value there, if any, and its path for messages.
///
/// Ownership: refers to the document, which must outlive it.
class Place {
 public:
  /// The root of a document; `source` is its name in messages. Without `order`, keys count as
  /// sorted.
  Place(std::string source, const Value& root, const KeyOrder* order = nullptr)
      : source_(std::move(source)), value_(&root), order_(order) {}

  /// Return a member or element, which need not exist.
  [[nodiscard]] Place operator[](std::string_view key) const;
  [[nodiscard]] Place operator[](std::size_t index) const;

  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// False for an absent value and for null.
  [[nodiscard]] bool exists() const noexcept { return !value_->is_absent() && !value_->is_null(); }

  /// Return the content as that type. They throw InputError if it is missing or of another type. A
  /// text must not contain a NUL character.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] const Map<Value>& object() const;
  /// The elements of an array, with their locations.
  [[nodiscard]] std::vector<Place> elements() const;
  /// The members of an object, with their locations, sorted by key.
  [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const;

  /// The position of a member's key in the document; keys that the document does not spell out are
  /// last.
  [[nodiscard]] std::size_t position_of(std::string_view key) const noexcept;

  /// As above, for optional values.
  [[nodiscard]] std::string text_or(std::string_view fallback) const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::vector<std::string> texts() const;

  /// Throws InputError: "foo.yaml: spec.versions[0]: <what>".
  [[noreturn]] void fail(std::string_view what) const;

 private:
  Place(std::string source, std::string path, const Value& value, const KeyOrder* order)
      : source_(std::move(source)), path_(std::move(path)), value_(&value), order_(order) {}
  [[noreturn]] void fail_type(std::string_view expected) const;

  std::string source_;
  std::string path_;
  const Value* value_;
  const KeyOrder* order_;
};

/// One document of a file.
struct Document {
  std::string source;
  Ref<Value> root;
  KeyOrder order = {};

  [[nodiscard]] Place place() const { return {source, *root, &order}; }
};

/// Reads the documents of a file: one if its name ends in .json, else those of a YAML stream. Empty
/// documents are skipped. Throws InputError.
[[nodiscard]] std::vector<Document> read_documents(const std::filesystem::path& file);

}  // namespace kube::gen
