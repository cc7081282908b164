// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/json.hpp>

namespace kube::detail {

Block* decode_json_once(const Type& type, std::string_view text) {
  return DecoderCore{type, {}}.json(text, 0);
}

std::string encode_json(const Type& type, const std::byte* value) {
  std::string out;
  JsonWriter{out}.value(type, value);
  return out;
}

}  // namespace kube::detail
