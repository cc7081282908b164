// SPDX-License-Identifier: Apache-2.0
// Any bytes as a protobuf Pod, with and without siblings, which must agree.
#include "fuzz.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/protobuf.hpp>

#include <memory>
#include <optional>
#include <string>

namespace {

using kube::core::v1::Pod;
using kube::fuzz::require;

std::optional<kube::Ref<Pod>> decode(kube::Decoder<Pod>& decoder, std::string_view message) {
  try {
    return decoder.protobuf(message);
  } catch (const kube::CodecError&) {
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says where in the rest a second version of the message differs.
  const std::string first{kube::fuzz::text_of(data + 1, size - 1)};
  std::string second = first;
  if (!second.empty()) second[data[0] * second.size() / 256] ^= 1;

  kube::Decoder<Pod> plain;
  kube::Decoder<Pod> sharing{{.pool = std::make_shared<kube::Pool>()}};
  for (const std::string& message : {first, second, first, second, second}) {
    const auto one = decode(plain, message);
    const auto other = decode(sharing, message);
    require(one.has_value() == other.has_value(), "siblings do not change what is accepted");
    if (!one) continue;
    require(**one == **other, "siblings do not change what is read");
    const std::string written = kube::encode_protobuf_message(**one);
    require(kube::encode_protobuf_message(*kube::decode_protobuf_message<Pod>(written)) == written,
            "protobuf reads back");
  }
  return 0;
}
