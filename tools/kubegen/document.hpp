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

/// The input cannot be turned into code; the message begins with the file and the place in it.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A place in a document: the value there, if any, and how to name it in a message.
///
/// Ownership: refers to the document, which must outlive it.
class Place {
 public:
  /// The root of a document; `source` names it in messages. Without `order` keys count as written in sorted order.
  Place(std::string source, const Value& root, const KeyOrder* order = nullptr)
      : source_(std::move(source)), value_(&root), order_(order) {}

  /// A member or element, which need not exist.
  [[nodiscard]] Place operator[](std::string_view key) const;
  [[nodiscard]] Place operator[](std::size_t index) const;

  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// False for null, too.
  [[nodiscard]] bool exists() const noexcept { return !value_->is_absent() && !value_->is_null(); }

  /// The content as that type. These throw InputError if it is missing or of another type; text
  /// must not hold a NUL.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] const Map<Value>& object() const;
  /// The elements of an array, each with its place.
  [[nodiscard]] std::vector<Place> elements() const;
  /// The members of an object, each with its place, sorted by key.
  [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const;

  /// Where the key of a member stands in the document; those that the document does not spell out come last.
  [[nodiscard]] std::size_t position_of(std::string_view key) const noexcept;

  /// The same for what may be missing.
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

/// The documents of a file: one if its name ends in .json, else those of a YAML stream. Documents
/// without content are left out. Throws InputError.
[[nodiscard]] std::vector<Document> read_documents(const std::filesystem::path& file);

}  // namespace kube::gen
