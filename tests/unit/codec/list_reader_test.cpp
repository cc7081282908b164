// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/list_reader.hpp>

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using test::error_of;
namespace wire = test::wire;

/// Returns the size of the next chunk, given the number of remaining bytes.
using Cut = std::function<std::size_t(std::size_t left)>;

Cut chunks_of(std::size_t size) {
  return [size](std::size_t) { return size; };
}

template <typename T>
struct Listed {
  std::vector<Ref<T>> items;
  ListMetadata head;

  [[nodiscard]] std::vector<std::string> json() const {
    std::vector<std::string> out;
    for (const Ref<T>& item : items) out.push_back(encode_json(*item));
    return out;
  }
};

template <typename T>
Listed<T> read(Format format, std::string_view body, const Cut& cut, DecoderOptions options = {}) {
  ListReader<T> reader{format, std::move(options)};
  Listed<T> listed;
  while (!body.empty()) {
    const std::size_t size = std::min(std::max<std::size_t>(cut(body.size()), 1), body.size());
    // Each chunk is a separate allocation, so that reading beyond it is detected.
    const std::vector<char> chunk(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    reader.feed({chunk.data(), chunk.size()}, [&](Ref<T> item) { listed.items.push_back(item); });
    body.remove_prefix(size);
  }
  listed.head = reader.finish([&](Ref<T> item) { listed.items.push_back(item); });
  return listed;
}

template <typename T>
void expect_same_however_cut(const std::string& file, Format format) {
  const std::string body = test::fixture(file + (format == Format::kJson ? ".json" : ".pb"));
  const auto whole = read<T>(format, body, chunks_of(body.size()));
  ASSERT_FALSE(whole.items.empty());

  for (std::size_t size = 1; size <= 64; ++size) {
    const auto cut = read<T>(format, body, chunks_of(size), {.pool = std::make_shared<Pool>()});
    ASSERT_EQ(cut.json(), whole.json()) << file << " in chunks of " << size;
    ASSERT_EQ(cut.head.resource_version, whole.head.resource_version);
    ASSERT_EQ(cut.head.kind, whole.head.kind);
  }
  std::mt19937 random{11};
  for (int round = 0; round < 60; ++round) {
    const Cut randomly = [&](std::size_t left) {
      return round % 2 == 0 ? random() % 300 : random() % (left + 1);
    };
    ASSERT_EQ(read<T>(format, body, randomly).json(), whole.json()) << file;
  }
}

TEST(ListReader, GivesTheSameItemsInChunksOfAnySize) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    expect_same_however_cut<Pod>("core_v1_pods", format);
    expect_same_however_cut<ConfigMap>("core_v1_configmaps", format);
    expect_same_however_cut<apps::v1::Deployment>("apps_v1_deployments", format);
  }
}

TEST(ListReader, GivesTheSameCustomResourcesInChunksOfAnySize) {
  expect_same_however_cut<Value>("samplecontroller.k8s.io_v1alpha1_foos", Format::kJson);
}

TEST(ListReader, GivesTheSameItemsForEveryPlaceToCutOnce) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string body =
        test::fixture(format == Format::kJson ? "core_v1_pods.json" : "core_v1_pods.pb");
    const auto whole = read<Pod>(format, body, chunks_of(body.size()));
    for (std::size_t at = 1; at < body.size(); ++at) {
      std::size_t next = at;
      const auto cut =
          read<Pod>(format, body, [&](std::size_t left) { return std::exchange(next, left); });
      ASSERT_EQ(cut.json(), whole.json()) << at;
    }
  }
}

TEST(ListReader, ReadsTheSameFromBothFormats) {
  const auto json = read<Pod>(Format::kJson, test::fixture("core_v1_pods.json"), chunks_of(100));
  const auto protobuf =
      read<Pod>(Format::kProtobuf, test::fixture("core_v1_pods.pb"), chunks_of(100));

  EXPECT_EQ(json.json(), protobuf.json());
  EXPECT_EQ(json.head.resource_version, protobuf.head.resource_version);
  EXPECT_EQ(json.head.kind, "PodList");
  EXPECT_EQ(protobuf.head.kind, "PodList");
  EXPECT_EQ(json.head.api_version, "v1");
  EXPECT_EQ(protobuf.head.api_version, "v1");
}

TEST(ListReader, SharesContentBetweenItems) {
  core::v1::ConfigMapList list;
  for (int i = 0; i < 20; ++i) {
    ConfigMap& map = list.items.emplace_back();
    map.metadata.name = "settings-" + std::to_string(i);
    map.data = {{"config.yaml", String{std::string(2000, 'x')}}};
  }
  const auto pool = std::make_shared<Pool>();
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string body = format == Format::kJson ? encode_json(list) : encode_protobuf(list);

    const auto listed = read<ConfigMap>(format, body, chunks_of(777), {.pool = pool});

    ASSERT_EQ(listed.items.size(), 20U);
    EXPECT_LT(bytes_of(listed.items[19]).own, 1000U);
    EXPECT_EQ(*listed.items[19], list.items[19]);
  }
}

TEST(ListReader, AppliesTheProjection) {
  const auto listed = read<Pod>(Format::kProtobuf, test::fixture("core_v1_pods.pb"), chunks_of(9),
                                {.projection = fields<Pod>("metadata.name")});

  Pod expected;
  expected.metadata.name = "loner-74bm5";
  EXPECT_EQ(*listed.items.at(0), expected);
}

// --- JSON ---

Listed<ConfigMap> read_json(std::string_view body, std::size_t size = 1) {
  return read<ConfigMap>(Format::kJson, body, chunks_of(size));
}

TEST(ListReader, ReadsJsonWithWhiteSpaceAndMembersInAnyOrder) {
  for (std::size_t size = 1; size < 20; ++size) {
    const auto listed = read_json(
        " \n{ \"items\" : [ { } , {\"metadata\":{\"name\":\"b\"}}\n]\t, \"future\" : [ 1 , \"]}\" "
        "],"
        "\"metadata\" : { \"resourceVersion\" : \"7\" , \"items\" : [ 1 ] , \"continue\":\"\\\"{\" "
        "} ,"
        "\"apiVersion\":\"v1\" , \"kind\" : \"ConfigMapList\" } \r\n",
        size);

    ASSERT_EQ(listed.items.size(), 2U);
    EXPECT_EQ(listed.items[1]->metadata.name, "b");
    EXPECT_EQ(listed.head.resource_version, "7");
    EXPECT_EQ(listed.head.continue_token, "\"{");
    EXPECT_EQ(listed.head.kind, "ConfigMapList");
    EXPECT_EQ(listed.head.remaining_item_count, std::nullopt);
  }
}

TEST(ListReader, IsNotMisledByTextInItems) {
  const std::string text = R"(]},{\"items\":[\\\"\\]}{[)";
  const std::string body = R"({"kind":"ConfigMapList","apiVersion":"v1","items":[{"data":{"k":")" +
                           text + R"("}},{"data":{"\"}]":"\\"}}]})";
  for (std::size_t size = 1; size < 40; ++size) {
    const auto listed = read_json(body, size);

    ASSERT_EQ(listed.items.size(), 2U) << size;
    EXPECT_EQ(listed.items[0]->data.at("k"), R"(]},{"items":[\"\]}{[)");
    EXPECT_EQ(listed.items[1]->data.at("\"}]"), "\\");
  }
}

TEST(ListReader, AcceptsNullItems) {
  EXPECT_TRUE(
      read_json(
          R"({"kind":"ConfigMapList","apiVersion":"v1","items":null,"metadata":{"resourceVersion":"1"}})")
          .items.empty());
  EXPECT_TRUE(read_json(R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":null,"items":[]})")
                  .items.empty());
  EXPECT_TRUE(read_json(R"({"kind":"ConfigMapList","apiVersion":"v1"})").items.empty());
}

TEST(ListReader, RejectsADocumentWithoutTheKindOfAList) {
  EXPECT_EQ(error_of([] { return read_json("{}"); }),
            "kind: missing, so the response is not a list (byte 0)");
}

TEST(ListReader, NamesTheOffsetInTheWholeBody) {
  const std::string body = R"({"kind":"ConfigMapList","items":[{"metadata":{}},{"data":{"k":5}}]})";
  for (std::size_t size = 1; size < 30; ++size) {
    EXPECT_EQ(
        error_of([&] { return read_json(body, size); }),
        "data['k']: expected string, found number (byte " + std::to_string(body.find('5')) + ")");
  }
}

TEST(ListReader, RefusesGarbageInJson) {
  const auto problem = [](std::string_view body, std::size_t size) {
    try {
      read_json(body, size);
    } catch (const CodecError& error) {
      return error.problem();
    }
    return std::string{"nothing was thrown"};
  };
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
    EXPECT_EQ(problem("<html>", size), "expected a list object");
    EXPECT_EQ(problem("", size), "the list ends before it is complete");
    EXPECT_EQ(problem(" ", size), "the list ends before it is complete");
    EXPECT_EQ(problem("{items:[]}", size), "expected key in quotes");
    EXPECT_EQ(problem(R"({"items" []})", size), "expected ':'");
    EXPECT_EQ(problem(R"({"items":{}})", size), "items: expected list");
    EXPECT_EQ(problem(R"({"items":"x"})", size), "items: expected list");
    EXPECT_EQ(problem(R"({"items":[{} {}]})", size), "items: expected ',' or ']'");
    EXPECT_EQ(problem(R"({"items":[{}x,{}]})", size), "items: expected ',' or ']'");
    EXPECT_EQ(problem(R"({"items":[{},]})", size), "expected value");
    EXPECT_EQ(problem(R"({"items":[,{}]})", size), "expected value");
    EXPECT_EQ(problem(R"({"items":[]"kind":"x"})", size), "expected ',' or '}'");
    EXPECT_EQ(problem(R"({"items":[]}{})", size), "unexpected data after the end of the list");
    EXPECT_EQ(problem(R"({"items":[5,{}]})", size), "expected object, found number");
    EXPECT_EQ(problem(R"({"items":[nothing]})", size), "expected object, found 'n'");
    EXPECT_EQ(problem(R"({"metadata":{"resourceVersion":5}})", size),
              "metadata.resourceVersion: expected string, found integer");
    EXPECT_NE(problem(R"({"metadata":{"resourceVersion":"1"]})", size), "nothing was thrown");
    EXPECT_NE(problem(R"({"kind":tru})", size), "nothing was thrown");
    EXPECT_NE(problem("{\"items\":[{\"data\":{\"k\":\"\xff\"}}]}", size), "nothing was thrown");
  }
}

// --- protobuf ---

std::string enveloped(std::string_view list, std::string_view kind = "ConfigMapList") {
  return std::string{kEnvelopeMagic} + wire::bytes(1, wire::bytes(1, "v1") + wire::bytes(2, kind)) +
         wire::bytes(2, list);
}

std::string named(std::string_view name) { return wire::bytes(1, wire::bytes(1, name)); }

Listed<ConfigMap> read_protobuf(std::string_view body, std::size_t size = 1) {
  return read<ConfigMap>(Format::kProtobuf, body, chunks_of(size));
}

TEST(ListReader, ReadsProtobufWithUnknownFieldsAnywhere) {
  const std::string unknown = wire::integer(77, -1) + wire::bytes(78, std::string(100, '?'));
  const std::string body =
      std::string{kEnvelopeMagic} + unknown +
      wire::bytes(1, wire::bytes(1, "v1") + unknown + wire::bytes(2, "ConfigMapList")) +
      wire::bytes(2, unknown + wire::bytes(2, named("a")) + unknown +
                         wire::bytes(1, unknown + wire::bytes(2, "7") + wire::bytes(3, "more") +
                                            wire::integer(4, 5)) +
                         wire::bytes(2, named("b")) + unknown) +
      unknown + wire::bytes(3, "") + wire::bytes(4, "");
  for (std::size_t size = 1; size < 130; ++size) {
    const auto listed = read_protobuf(body, size);

    ASSERT_EQ(listed.items.size(), 2U) << size;
    EXPECT_EQ(listed.items[0]->metadata.name, "a");
    EXPECT_EQ(listed.items[1]->metadata.name, "b");
    EXPECT_EQ(listed.head.resource_version, "7");
    EXPECT_EQ(listed.head.continue_token, "more");
    EXPECT_EQ(listed.head.remaining_item_count, 5);
    EXPECT_EQ(listed.head.kind, "ConfigMapList");
  }
}

TEST(ListReader, ReadsEmptyProtobufLists) {
  EXPECT_TRUE(read_protobuf(enveloped("")).items.empty());
  EXPECT_EQ(read_protobuf(enveloped(wire::bytes(2, ""))).items.size(), 1U);
}

TEST(ListReader, NamesThePlaceInTheWholeProtobufBody) {
  const std::string body = enveloped(wire::bytes(2, named("a")) + wire::bytes(2, named("\xff")));
  for (std::size_t size = 1; size < 30; ++size) {
    EXPECT_EQ(
        error_of([&] { return read_protobuf(body, size); }),
        "metadata.name: text is not valid UTF-8 (byte " + std::to_string(body.find('\xff')) + ")");
  }
}

TEST(ListReader, RefusesGarbageInProtobuf) {
  const std::string magic{kEnvelopeMagic};
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    for (const std::string& body :
         {std::string{"k8t"}, std::string{"{}"}, magic, magic + wire::fixed32(1),
          magic + std::string(11, '\xff'), magic + wire::tag(1, 2) + std::string(11, '\xff'),
          magic + wire::bytes(1, "\x0a\x7f"), enveloped(wire::tag(2, 2) + "\x7f"),
          enveloped(wire::bytes(2, wire::bytes(1, "\x0a\x7f"))), enveloped(wire::fixed64(5, 1)),
          enveloped(wire::bytes(1, "\x12\x7f")), enveloped(wire::tag(5, 0)),
          enveloped(wire::tag(2, 2)), enveloped("") + wire::fixed32(9)}) {
      EXPECT_THROW(static_cast<void>(read_protobuf(body, size)), CodecError) << body;
    }
  }
}

TEST(ListReader, RejectsAnItemThatExceedsItsList) {
  // The item claims 10 bytes; the list has only 3 left, though the body has more.
  const std::string body = std::string{kEnvelopeMagic} + wire::tag(2, 2) + "\x05" +
                           wire::tag(2, 2) + "\x0a" + "abc" + wire::bytes(3, "0123456789");

  EXPECT_EQ(error_of([&] { return read_protobuf(body, 1); }),
            "field extends beyond the end of the list (byte 6)");
  EXPECT_EQ(error_of([&] { return read_protobuf(body, 100); }),
            "field extends beyond the end of the list (byte 6)");
}

// --- both ---

TEST(ListReader, RejectsTruncatedBodiesAfterTheCompleteItems) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string body = test::fixture(format == Format::kJson ? "core_v1_configmaps.json"
                                                                   : "core_v1_configmaps.pb");
    const auto whole = read<ConfigMap>(format, body, chunks_of(body.size())).json();
    const std::size_t last_needed =
        format == Format::kJson ? body.find_last_of('}') : body.size() - 4;
    for (std::size_t size = 0; size < last_needed; ++size) {
      ListReader<ConfigMap> reader{format};
      std::vector<std::string> items;
      reader.feed(std::string_view{body}.substr(0, size),
                  [&](const Ref<ConfigMap>& item) { items.push_back(encode_json(*item)); });

      EXPECT_THROW(static_cast<void>(reader.finish()), CodecError) << size;
      ASSERT_LE(items.size(), whole.size());
      EXPECT_TRUE(std::equal(items.begin(), items.end(), whole.begin()));
    }
  }
}

TEST(ListReader, RefusesAListOfAnotherKindOrVersion) {
  EXPECT_EQ(
      error_of([] { return read_json(R"({"kind":"SecretList","apiVersion":"v1","items":[]})"); }),
      "expected v1 ConfigMapList, found v1 SecretList (byte 0)");
  EXPECT_EQ(error_of([] {
              return read_json(R"({"kind":"ConfigMapList","apiVersion":"v2","items":[]})");
            }),
            "expected v1 ConfigMapList, found v2 ConfigMapList (byte 0)");
  EXPECT_EQ(error_of([] { return read_protobuf(enveloped("", "SecretList")); }),
            "expected v1 ConfigMapList, found v1 SecretList (byte 0)");
  EXPECT_EQ(error_of([] { return read_json(test::fixture("notfound.json"), 10); }),
            "expected v1 ConfigMapList, found v1 Status (byte 0)");
}

TEST(ListReader, RefusesItemsBeyondTheLimitBeforeTheyAreWhole) {
  const DecodeLimits limits{.max_frame = 1000};
  const std::string json = R"({"items":[{"data":{"k":")" + std::string(2000, 'x') + "\"}}]}";
  const std::string protobuf = enveloped(wire::bytes(2, std::string(2000, 'x')));
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    EXPECT_TRUE(error_of([&] {
                  return read<ConfigMap>(Format::kJson, json, chunks_of(size), {.limits = limits});
                }).starts_with("object larger than the limit of 1000 bytes"));
    EXPECT_TRUE(error_of([&] {
                  return read<ConfigMap>(Format::kProtobuf, protobuf, chunks_of(size),
                                         {.limits = limits});
                }).starts_with("object larger than the limit of 1000 bytes"));
  }
  // The length prefix alone is enough to reject the item.
  ListReader<ConfigMap> reader{Format::kProtobuf, {.limits = limits}};
  EXPECT_THROW(reader.feed(protobuf.substr(0, protobuf.find("xx")), [](const Ref<ConfigMap>&) {}),
               CodecError);
}

TEST(ListReader, TakesItemsUpToTheLimit) {
  const std::string item = R"({"data":{"k":")" + std::string(500, 'x') + "\"}}";
  const std::string body =
      "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"items\":[" + item + "," + item + "]}";

  EXPECT_EQ(
      read<ConfigMap>(Format::kJson, body, chunks_of(7), {.limits = {.max_frame = item.size()}})
          .items.size(),
      2U);
}

TEST(ListReader, LetsExceptionsOfTheCallerThrough) {
  struct Enough {};
  ListReader<ConfigMap> reader{Format::kJson};

  EXPECT_THROW(reader.feed(R"({"items":[{},{}]})", [](const Ref<ConfigMap>&) { throw Enough{}; }),
               Enough);
}

}  // namespace
}  // namespace kube
