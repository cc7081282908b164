// SPDX-License-Identifier: Apache-2.0
// Input: JSON of a type, decoded with and without siblings, which must agree.
#include "fuzz.hpp"

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using kube::fuzz::require;

/// Writes the members of all objects in reverse order, which no server does.
void write_backwards(const kube::Value& value, std::string& out) {
  const char* separator = "";
  if (value.is_object()) {
    std::vector<std::string> members;
    for (const auto& [key, member] : value.as_object()) {
      std::string& text = members.emplace_back(kube::encode_json(kube::Value{key}) + ':');
      write_backwards(member, text);
    }
    out += '{';
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      out += std::exchange(separator, ",") + *member;
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const kube::Value& element : value.as_array()) {
      out += std::exchange(separator, ",");
      write_backwards(element, out);
    }
    out += ']';
  } else {
    out += kube::encode_json(value);
  }
}

/// Returns the object, or null and the error.
template <typename T>
std::pair<kube::Ref<T>, std::string> decode(kube::Decoder<T>& decoder, std::string_view text) {
  try {
    return {decoder.json(text), {}};
  } catch (const kube::CodecError& error) {
    return {nullptr, error.what()};
  }
}

template <typename T>
void try_type(std::string_view first, std::string_view second) {
  const auto pool = std::make_shared<kube::Pool>();
  {
    kube::Decoder<T> plain;
    kube::Decoder<T> sharing{{.pool = pool}};
    for (const std::string_view text : {first, second, first, second, second}) {
      const auto one = decode(plain, text);
      const auto other = decode(sharing, text);
      require(one.second == other.second, "siblings do not change what is refused");
      if (!one.first) continue;
      require(*one.first == *other.first, "siblings do not change what is read");
      const std::string written = kube::encode_json(*one.first);
      require(kube::encode_json(*other.first) == written, "siblings do not change what is written");
      const auto again = decode(plain, written);
      require(again.first != nullptr, "what was written can be read");
      // -0.0 is written like in Go, and reads back as the integer 0.
      require(kube::encode_json(*again.first) == written || *again.first == *one.first,
              "JSON reads back");
    }
  }
  require(pool->totals().nodes == 0, "nothing stays in the pool");
}

/// Checks that a sibling does not change the result, for any order of members.
void try_orders(std::string_view text) {
  kube::Decoder<kube::Value> plain;
  const auto value = decode(plain, text).first;
  if (!value) return;
  std::string backwards;
  write_backwards(*value, backwards);
  try_type<kube::Value>(text, backwards);
  try_type<kube::core::v1::Pod>(text, backwards);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kube::fuzz::text_of(data, size);
  // The input contains two documents, so that the second can differ from the first in any way.
  const std::size_t cut = std::min(text.find('\0'), text.size());
  const std::string_view second = cut < text.size() ? text.substr(cut + 1) : text;
  try_type<kube::core::v1::Pod>(text.substr(0, cut), second);
  try_type<kube::apiextensions::v1::JSONSchemaProps>(text.substr(0, cut), second);
  try_type<kube::Value>(text.substr(0, cut), second);
  try_orders(text.substr(0, cut));
  return 0;
}
