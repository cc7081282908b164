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

/// Decodes a text with one JSON or YAML document; null if there is none. Throws CodecError.
[[nodiscard]] Ref<Value> decode_document(std::string_view text);
/// Owns a document and overwrites its texts before the memory is freed.
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

/// Reads an object of a hand-written document. Absent and null members are empty, members of a
/// wrong type throw a ConfigError with their path, and unknown members are ignored. No message
/// quotes content.
class ObjectReader {
 public:
  /// `path` is the position of `value`, for messages. Throws ConfigError if it is not an object.
  ObjectReader(const Value& value, std::string path);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  /// Returns a base64 member, decoded.
  [[nodiscard]] SecretText data(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] ObjectReader object(std::string_view key) const;
  [[nodiscard]] std::vector<ObjectReader> objects(std::string_view key) const;
  /// Returns the names of the members.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] const Value& value(std::string_view key) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;

  const Value* value_;
  std::string path_;
};

}  // namespace kube::detail
