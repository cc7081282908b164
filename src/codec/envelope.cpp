// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/envelope.hpp>

#include <kube/codec/error.hpp>

#include <protozero/pbf_reader.hpp>

namespace kube {

namespace {

std::string_view view_of(protozero::data_view data) { return {data.data(), data.size()}; }

}  // namespace

Envelope open_envelope(std::string_view bytes, std::size_t offset) {
  if (bytes.substr(0, kEnvelopeMagic.size()) != kEnvelopeMagic) {
    throw CodecError("", "not a Kubernetes protobuf object: the magic bytes are missing", offset);
  }
  Envelope envelope;
  try {
    protozero::pbf_reader message{bytes.data() + kEnvelopeMagic.size(),
                                  bytes.size() - kEnvelopeMagic.size()};
    while (message.next()) {
      switch (message.tag_and_type()) {
        case protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited): {
          protozero::pbf_reader type_meta{message.get_view()};
          while (type_meta.next()) {
            switch (type_meta.tag_and_type()) {
              case protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited):
                envelope.api_version = view_of(type_meta.get_view());
                break;
              case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited):
                envelope.kind = view_of(type_meta.get_view());
                break;
              default:
                type_meta.skip();
            }
          }
          break;
        }
        case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited):
          envelope.raw = view_of(message.get_view());
          break;
        case protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited):
          envelope.content_encoding = view_of(message.get_view());
          break;
        case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited):
          envelope.content_type = view_of(message.get_view());
          break;
        default:
          message.skip();
      }
    }
  } catch (const protozero::exception&) {
    throw CodecError("", "malformed protobuf envelope", offset + kEnvelopeMagic.size());
  }
  return envelope;
}

}  // namespace kube
