// SPDX-License-Identifier: Apache-2.0
// Any bytes as the body of a LIST, in one piece and in chunks, which must give the same items.
#include "fuzz.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/list_reader.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using kube::core::v1::ConfigMap;

/// The items and the head as text; nothing if the body is refused.
template <typename Feed>
std::optional<std::vector<std::string>> read(kube::Format format, Feed feed) {
  try {
    kube::ListReader<ConfigMap> reader{format, {.pool = std::make_shared<kube::Pool>()}};
    std::vector<std::string> items;
    feed([&](std::string_view chunk) {
      reader.feed(chunk, [&](const kube::Ref<ConfigMap>& item) {
        items.push_back(kube::encode_json(*item));
      });
    });
    items.push_back(reader.finish().resource_version);
    return items;
  } catch (const kube::CodecError&) {
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body = kube::fuzz::text_of(data + 1, size - 1);
  for (const kube::Format format : {kube::Format::kJson, kube::Format::kProtobuf}) {
    const auto whole = read(format, [&](auto chunk) { chunk(body); });
    const auto cut = read(format, [&](auto chunk) { kube::fuzz::in_chunks(body, data[0], chunk); });
    kube::fuzz::require(whole == cut, "chunks do not change what is read");
  }
  return 0;
}
