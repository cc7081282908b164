// SPDX-License-Identifier: Apache-2.0
// Any text as JSON: decoded to a Pod and to a Value, with and without siblings, which must agree.
#include "fuzz.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <memory>
#include <optional>
#include <string>

namespace {

using kube::fuzz::require;

template <typename T>
std::optional<kube::Ref<T>> decode(kube::Decoder<T>& decoder, std::string_view text) {
  try {
    return decoder.json(text);
  } catch (const kube::CodecError&) {
    return std::nullopt;
  }
}

template <typename T>
void try_type(std::string_view first, std::string_view second) {
  kube::Decoder<T> plain;
  kube::Decoder<T> sharing{{.pool = std::make_shared<kube::Pool>()}};
  for (const std::string_view text : {first, second, first, second, second}) {
    const auto one = decode(plain, text);
    const auto other = decode(sharing, text);
    require(one.has_value() == other.has_value(), "siblings do not change what is accepted");
    if (!one) continue;
    require(**one == **other, "siblings do not change what is read");
    try {
      const std::string written = kube::encode_json(**one);
      require(kube::encode_json(*kube::decode_json<T>(written)) == written, "JSON reads back");
    } catch (const kube::CodecError&) {
      require(false, "what was written can be read");
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kube::fuzz::text_of(data, size);
  // Two documents in one input, so that the second can differ from the first in any way.
  const std::size_t cut = std::min(text.find('\0'), text.size());
  const std::string_view second = cut < text.size() ? text.substr(cut + 1) : text;
  try_type<kube::core::v1::Pod>(text.substr(0, cut), second);
  try_type<kube::Value>(text.substr(0, cut), second);
  return 0;
}
