// SPDX-License-Identifier: Apache-2.0
// Input: a watch stream, fed whole and in chunks, which must give the same events.
#include "fuzz.hpp"

#include "../support/watch_reader.hpp"
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/pool.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using kube::core::v1::ConfigMap;

/// Formats the events before the end of the stream or the first error.
template <typename Feed>
std::vector<std::string> read(kube::Format format, Feed feed) {
  std::vector<std::string> events;
  try {
    kube::test::WatchReader<ConfigMap> reader{format, {.pool = std::make_shared<kube::Pool>()}};
    feed([&](std::string_view chunk) {
      reader.feed(chunk, [&](const kube::test::ReadEvent<ConfigMap>& event) {
        events.push_back(
            std::string{kube::to_string(event.type)} +
            (event.object ? kube::encode_json(*event.object) : std::string{event.status}));
      });
    });
    reader.finish();
  } catch (const kube::CodecError& error) {
    events.push_back(error.what());
  }
  return events;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream = kube::fuzz::text_of(data + 1, size - 1);
  for (const kube::Format format : {kube::Format::kJson, kube::Format::kProtobuf}) {
    const auto whole = read(format, [&](auto chunk) { chunk(stream); });
    const auto cut =
        read(format, [&](auto chunk) { kube::fuzz::in_chunks(stream, data[0], chunk); });
    kube::fuzz::require(whole == cut, "chunks do not change what is read");
  }
  return 0;
}
