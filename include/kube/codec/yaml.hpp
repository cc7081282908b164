// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/json.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// The documents of a YAML stream as JSON values, as Kubernetes reads them: YAML 1.1 booleans and
/// numbers, string keys, anchors resolved, duplicate keys refused. Empty documents are left out. Throws
/// CodecError that names line and column.
[[nodiscard]] std::vector<Ref<Value>> decode_yaml_documents(std::string_view text);

/// The one document in `text`, as T. Throws CodecError, also if there is none or more than one.
template <typename T>
[[nodiscard]] Ref<T> decode_yaml(std::string_view text);

/// Block style YAML that reads back as the same value.
[[nodiscard]] std::string yaml_from_json(const Value& document);
template <typename T>
[[nodiscard]] std::string encode_yaml(const T& object) {
  return yaml_from_json(*decode_json<Value>(encode_json(object)));
}

namespace detail {
/// The only document as JSON text.
[[nodiscard]] std::string json_from_yaml(std::string_view text);
}  // namespace detail

template <typename T>
Ref<T> decode_yaml(std::string_view text) {
  return decode_json<T>(detail::json_from_yaml(text));
}

}  // namespace kube
