// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/protobuf.hpp>

#include "codec/protobuf_writer.hpp"
#include <kube/codec/envelope.hpp>

namespace kube::detail {

Block* decode_protobuf_once(const Type& type, std::string_view bytes, Wrapping wrapping) {
  DecoderCore decoder{type, {}};
  return wrapping == Wrapping::kEnvelope ? decoder.enveloped(bytes, 0) : decoder.protobuf(bytes, 0);
}

std::string encode_protobuf(const Type& type, const std::byte* value, Wrapping wrapping) {
  ProtobufWriter out;
  if (wrapping == Wrapping::kNone) {
    out.message(type, value);
    return out.str();
  }
  // Written back to front: content type, content encoding, the object, its type, the magic bytes.
  out.text_field(4, "");
  out.text_field(3, "");
  const std::size_t before_object = out.size();
  out.message(type, value);
  out.close(2, before_object);
  const std::size_t before_type = out.size();
  out.text_field(2, type.name);
  out.text_field(1, type.api_version);
  out.close(1, before_type);
  out.bytes(kEnvelopeMagic);
  return out.str();
}

}  // namespace kube::detail
