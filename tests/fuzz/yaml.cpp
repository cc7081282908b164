// SPDX-License-Identifier: Apache-2.0
// Input: YAML. A parsed document must survive a round trip, and its size must be proportional to
// the text.
#include "fuzz.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>

#include <string>

namespace {

/// Limits for the result: a constant, and a factor per input byte. Aliases repeat up to sixteen
/// bytes, and JSON may need six bytes for one of them.
constexpr std::size_t kFreeBytes = std::size_t{8} << 20;
constexpr std::size_t kBytesPerByte = 128;

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::size_t total = 0;
    for (const auto& document : kube::decode_yaml_documents(kube::fuzz::text_of(data, size))) {
      total += kube::encode_json(*document).size() + kube::detail::block_of(document)->image_size();
      const std::string written = kube::yaml_from_json(*document);
      if (document->is_null()) continue;
      kube::fuzz::require(*kube::decode_yaml<kube::Value>(written) == *document, "YAML reads back");
    }
    kube::fuzz::require(total <= kFreeBytes + kBytesPerByte * size, "in proportion to the text");
  } catch (const kube::CodecError&) {
    // An error is fine.
  }
  return 0;
}
