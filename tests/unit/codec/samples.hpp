// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/list_splitter.hpp"
#include <kube/codec/error.hpp>
#include <kube/codec/json_writer.hpp>
#include <kube/object/type.hpp>

#include "support/fixtures.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::test {

/// Returns the encoded objects of a recorded list, such as "core_v1_pods".
inline std::vector<std::string> recorded_items(const std::string& file, Format format) {
  const std::string body = fixture(file + (format == Format::kJson ? ".json" : ".pb"));
  detail::ListSplitter splitter{format, {}};
  std::vector<std::string> items;
  splitter.feed(body, [&](std::string_view item, std::size_t) { items.emplace_back(item); });
  splitter.finish();
  return items;
}

/// Returns the error message of a decoder.
template <typename Act>
std::string error_of(Act act) {
  try {
    static_cast<void>(act());
  } catch (const CodecError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Encodes `object` as in a list: without kind and apiVersion.
template <typename T>
std::string item_json(const T& object) {
  std::string out;
  detail::JsonWriter{out}.item(type_of<T>(), reinterpret_cast<const std::byte*>(&object));
  return out;
}

/// Returns `text` repeated `count` times.
inline std::string times(std::size_t count, std::string_view text) {
  std::string out;
  out.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace kube::test
