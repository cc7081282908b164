// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/decoder.hpp>
#include <kube/codec/json_writer.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>

#include <string>
#include <string_view>

namespace kube {

namespace detail {
/// Decodes with a temporary decoder.
Block* decode_json_once(const Type& type, std::string_view text);
std::string encode_json(const Type& type, const std::byte* value);
}  // namespace detail

/// Decodes one JSON document. Throws CodecError. For many documents of one type, keep a Decoder.
template <typename T>
[[nodiscard]] Ref<T> decode_json(std::string_view text) {
  return detail::ref_to_root<T>(detail::decode_json_once(type_of<T>(), text));
}

/// Encodes as compact JSON, byte for byte as the API server does. A top-level object starts with
/// its kind and apiVersion.
template <typename T>
[[nodiscard]] std::string encode_json(const T& object) {
  return detail::encode_json(type_of<T>(), reinterpret_cast<const std::byte*>(&object));
}

}  // namespace kube
