// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// A CodecError in a stream of YAML documents. The message contains line and column.
class YamlError : public CodecError {
 public:
  YamlError(const CodecError& error, std::size_t document)
      : CodecError(error), document_(document) {}

  /// The number of the malformed document, from 1. Empty documents count.
  [[nodiscard]] std::size_t document() const noexcept { return document_; }

 private:
  std::size_t document_;
};

/// A document of a YAML stream and its position.
struct YamlDocument {
  Ref<Value> content = nullptr;
  /// Number of the document, from 1. Empty documents count.
  std::size_t number = 0;
  /// The line, from 1, on which the content begins.
  std::size_t line = 0;
};

/// Decodes the documents of a YAML stream as JSON values, as Kubernetes does: YAML 1.1 booleans and
/// numbers, string keys, anchors resolved, duplicate keys rejected. Empty documents are omitted.
/// Throws YamlError.
[[nodiscard]] std::vector<YamlDocument> decode_yaml_stream(std::string_view text);
/// decode_yaml_stream() without the positions.
[[nodiscard]] std::vector<Ref<Value>> decode_yaml_documents(std::string_view text);

/// Decodes the only document in `text` as T. Throws CodecError, also if there is none or more than
/// one.
template <typename T>
[[nodiscard]] Ref<T> decode_yaml(std::string_view text);

/// Encodes as block style YAML, which decodes to the same value.
[[nodiscard]] std::string yaml_from_json(const Value& document);
/// Encodes an object as block style YAML.
template <typename T>
[[nodiscard]] std::string encode_yaml(const T& object) {
  return yaml_from_json(*decode_json<Value>(encode_json(object)));
}

namespace detail {
/// Converts the only document to JSON text.
[[nodiscard]] std::string json_from_yaml(std::string_view text);
}  // namespace detail

template <typename T>
Ref<T> decode_yaml(std::string_view text) {
  return decode_json<T>(detail::json_from_yaml(text));
}

}  // namespace kube
