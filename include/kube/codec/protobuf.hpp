// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/decoder.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>

#include <string>
#include <string_view>

namespace kube {

namespace detail {
enum class Wrapping { kNone, kEnvelope };
Block* decode_protobuf_once(const Type& type, std::string_view bytes, Wrapping wrapping);
std::string encode_protobuf(const Type& type, const std::byte* value, Wrapping wrapping);
}  // namespace detail

/// Decodes one object in the envelope of an API server. Throws CodecError, also if it is of another
/// kind.
template <typename T>
[[nodiscard]] Ref<T> decode_protobuf(std::string_view bytes) {
  return detail::ref_to_root<T>(
      detail::decode_protobuf_once(type_of<T>(), bytes, detail::Wrapping::kEnvelope));
}

/// Decodes one bare message.
template <typename T>
[[nodiscard]] Ref<T> decode_protobuf_message(std::string_view bytes) {
  return detail::ref_to_root<T>(
      detail::decode_protobuf_once(type_of<T>(), bytes, detail::Wrapping::kNone));
}

/// Encodes the object in the envelope that API servers expect. Throws std::logic_error if the type
/// has no protobuf form.
template <typename T>
[[nodiscard]] std::string encode_protobuf(const T& object) {
  return detail::encode_protobuf(type_of<T>(), reinterpret_cast<const std::byte*>(&object),
                                 detail::Wrapping::kEnvelope);
}

/// Encodes the object as a bare message, without the envelope. Throws as encode_protobuf().
template <typename T>
[[nodiscard]] std::string encode_protobuf_message(const T& object) {
  return detail::encode_protobuf(type_of<T>(), reinterpret_cast<const std::byte*>(&object),
                                 detail::Wrapping::kNone);
}

}  // namespace kube
