// SPDX-License-Identifier: Apache-2.0
// Objects recorded from a real kube-apiserver, as JSON and as protobuf.
#include "codec/list_splitter.hpp"
#include <kube/api/registry.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include "support/fixtures.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kube {
namespace {

struct Recording {
  std::string file;
  const ApiKind* kind = nullptr;
  bool has_protobuf = false;
};

void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.file; }

/// Returns the recorded lists of built-in kinds.
std::vector<Recording> recordings() {
  std::vector<Recording> found;
  const Ref<Value> index = decode_json<Value>(test::fixture("index.json"));
  for (const Value& entry : index->as_array()) {
    Recording recording{std::string{entry["file"].as_string()}, nullptr,
                        entry.get_bool("protobuf").value_or(false)};
    const std::string path{entry["path"].as_string()};
    for (const ApiKind& kind : api_kinds()) {
      if (kind.resource == nullptr) continue;
      const ResourceInfo& resource = *kind.resource;
      const std::string prefix = resource.group.empty() ? "/api/" : "/apis/";
      if (path == prefix + resource.api_version() + '/' + std::string{resource.plural}) {
        recording.kind = &kind;
      }
    }
    if (recording.kind != nullptr) found.push_back(recording);
  }
  return found;
}

class Block {
 public:
  explicit Block(detail::Block* block) : block_(block) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Block(Block&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ~Block() {
    if (block_ != nullptr) block_->release();
  }
  [[nodiscard]] const std::byte* object() const { return block_->root(); }

 private:
  detail::Block* block_;
};

struct Item {
  std::string bytes;
  Block block;
};

std::vector<Item> items(const Recording& recording, Format format) {
  const std::string body =
      test::fixture(recording.file + (format == Format::kJson ? ".json" : ".pb"));
  detail::DecoderCore decoder{*recording.kind->type, {}};
  detail::ListSplitter splitter{format, {}};
  std::vector<Item> found;
  splitter.feed(body, [&](std::string_view bytes, std::size_t offset) {
    found.push_back(
        {std::string{bytes}, Block{format == Format::kJson ? decoder.json(bytes, offset)
                                                           : decoder.protobuf(bytes, offset)}});
  });
  splitter.finish();
  return found;
}

class RecordedObjects : public testing::TestWithParam<Recording> {};

TEST_P(RecordedObjects, RoundTripToTheSameJson) {
  const Recording& recording = GetParam();
  for (const Item& item : items(recording, Format::kJson)) {
    std::string out;
    detail::JsonWriter{out}.item(*recording.kind->type, item.block.object());

    EXPECT_EQ(out, item.bytes);
  }
}

TEST_P(RecordedObjects, RoundTripToTheSameProtobuf) {
  const Recording& recording = GetParam();
  if (!recording.has_protobuf) return;
  for (const Item& item : items(recording, Format::kProtobuf)) {
    EXPECT_EQ(detail::encode_protobuf(*recording.kind->type, item.block.object(),
                                      detail::Wrapping::kNone),
              item.bytes);
  }
}

TEST_P(RecordedObjects, JsonAndProtobufOfOneObjectDecodeEqual) {
  const Recording& recording = GetParam();
  if (!recording.has_protobuf) return;
  const std::vector<Item> from_json = items(recording, Format::kJson);
  const std::vector<Item> from_protobuf = items(recording, Format::kProtobuf);
  ASSERT_EQ(from_json.size(), from_protobuf.size());
  const Type& type = *recording.kind->type;
  // A lease may have been renewed between the two requests, and component statuses are unordered.
  if (type.name == "Lease" || type.name == "ComponentStatus") return;
  for (std::size_t i = 0; i < from_json.size(); ++i) {
    std::string text;
    detail::JsonWriter{text}.value(type, from_protobuf[i].block.object());

    EXPECT_TRUE(
        detail::equal_values(type, from_json[i].block.object(), from_protobuf[i].block.object()))
        << from_json[i].bytes << "\n"
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedObjects, testing::ValuesIn(recordings()),
                         [](const testing::TestParamInfo<Recording>& tested) {
                           std::string name = tested.param.file;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace kube
