// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/json.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Decodes the documents of a YAML stream as JSON values, as Kubernetes does: YAML 1.1 booleans and
/// numbers, string keys, anchors resolved, duplicate keys rejected. Empty documents are omitted.
/// Throws CodecError with line and column.
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
