// SPDX-License-Identifier: Apache-2.0
// Input: protobuf pods, decoded with and without siblings, which must agree.
#include "fuzz.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace {

using kube::core::v1::Pod;
using kube::fuzz::require;

/// Returns the pod, or null and the error.
std::pair<kube::Ref<Pod>, std::string> decode(kube::Decoder<Pod>& decoder,
                                              std::string_view message) {
  try {
    return {decoder.protobuf(message), {}};
  } catch (const kube::CodecError& error) {
    return {nullptr, error.what()};
  }
}

/// Derives two messages from one input: its halves, or the input and a copy with one bit flipped.
/// The first two bytes select which, and where.
std::pair<std::string, std::string> messages_of(std::string_view input) {
  const auto how = static_cast<unsigned char>(input[0]);
  const auto where = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  const std::size_t at = where * input.size() / 256;
  if ((how & 1U) != 0) return {std::string{input.substr(0, at)}, std::string{input.substr(at)}};
  std::string changed{input};
  if (!changed.empty()) {
    changed[at] =
        static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1U << ((how >> 1U) & 7U)));
  }
  return {std::string{input}, changed};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto [first, second] = messages_of(kube::fuzz::text_of(data, size));
  const auto pool = std::make_shared<kube::Pool>();
  {
    kube::Decoder<Pod> plain;
    kube::Decoder<Pod> sharing{{.pool = pool}};
    for (const std::string& message : {first, second, first, second, second}) {
      const auto one = decode(plain, message);
      const auto other = decode(sharing, message);
      require(one.second == other.second, "siblings do not change what is refused");
      if (!one.first) continue;
      require(*one.first == *other.first, "siblings do not change what is read");
      const std::string written = kube::encode_protobuf_message(*one.first);
      require(kube::encode_protobuf_message(*other.first) == written,
              "siblings do not change what is written");
      const auto again = decode(plain, written);
      require(again.first != nullptr, "what was written can be read");
      require(kube::encode_protobuf_message(*again.first) == written, "protobuf reads back");
    }
  }
  require(pool->totals().nodes == 0, "nothing stays in the pool");
  return 0;
}
