// SPDX-License-Identifier: Apache-2.0
// Input: the body of a LIST, fed whole and in chunks, which must give the same items.
#include "fuzz.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/list_reader.hpp>
#include <kube/object/pool.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using kube::core::v1::ConfigMap;

/// Formats the items before the end or the first error, then the head or the error.
template <typename Feed>
std::vector<std::string> read(kube::Format format, Feed feed) {
  std::vector<std::string> seen;
  try {
    kube::ListReader<ConfigMap> reader{format, {.pool = std::make_shared<kube::Pool>()}};
    feed([&](std::string_view chunk) {
      reader.feed(chunk, [&](const kube::Ref<ConfigMap>& item) {
        seen.push_back(kube::encode_json(*item));
      });
    });
    const kube::ListMetadata& head = reader.finish();
    seen.push_back(head.kind + ' ' + head.resource_version + ' ' + head.continue_token);
  } catch (const kube::CodecError& error) {
    seen.push_back(error.what());
  }
  return seen;
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
