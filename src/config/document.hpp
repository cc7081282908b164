// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/secret_text.hpp>
#include <kube/config/exec_config.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::detail {

/// The one document in a text of JSON or YAML; null if there is none. Throws CodecError.
[[nodiscard]] Ref<Value> decode_document(std::string_view text);
/// Overwrites the texts of a document that nobody else refers to, before its memory is given back.
class WipedDocument {
 public:
  explicit WipedDocument(Ref<Value> document) noexcept : document_(std::move(document)) {}
  WipedDocument(const WipedDocument&) = delete;
  WipedDocument& operator=(const WipedDocument&) = delete;
  ~WipedDocument();

  [[nodiscard]] explicit operator bool() const noexcept { return document_ != nullptr; }
  [[nodiscard]] const Value& operator*() const noexcept { return *document_; }

 private:
  Ref<Value> document_;
};

/// An object in a document that people write: what is absent or null is empty, what is of another type is a
/// ConfigError that names the place, and what nobody asks for is ignored. No message quotes content.
class ObjectReader {
 public:
  /// `path` is where `value` stands, for messages. Throws ConfigError if it is not an object.
  ObjectReader(const Value& value, std::string path);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  /// Base64, decoded.
  [[nodiscard]] SecretText data(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] ObjectReader object(std::string_view key) const;
  [[nodiscard]] std::vector<ObjectReader> objects(std::string_view key) const;
  /// The names of the members.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] const Value& value(std::string_view key) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;

  const Value* value_;
  std::string path_;
};

}  // namespace kube::detail
