// SPDX-License-Identifier: Apache-2.0
// No document may exhaust the stack, or use memory out of proportion to its size.
#include <kube/codec/options.hpp>

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kube {
namespace {

using apiextensions::v1::JSONSchemaProps;
using core::v1::Pod;
using test::error_of;
using test::times;
namespace wire = test::wire;

std::string nested_arrays(std::size_t depth) { return times(depth, "[") + times(depth, "]"); }

std::string nested_schemas(std::size_t depth) {
  return times(depth, R"({"not":)") + "{}" + times(depth, "}");
}

/// Creates nested messages, each in field `number`; iteratively, because they may be deep.
std::string nested_messages(std::size_t depth, std::uint32_t number) {
  std::string reversed;
  std::size_t size = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    const std::string head = wire::tag(number, 2) + wire::varint(size);
    reversed.append(head.rbegin(), head.rend());
    size += head.size();
  }
  return {reversed.rbegin(), reversed.rend()};
}

TEST(Limits, RefuseDeepJson) {
  Decoder<Value> decoder{{.limits = {.max_depth = 10}}};

  EXPECT_NO_THROW(static_cast<void>(decoder.json(nested_arrays(11))));
  EXPECT_EQ(error_of([&] { return decoder.json(nested_arrays(12)); }),
            "[0][0][0][0][0][0][0][0][0][0][0]: nested too deeply (byte 11)");
  EXPECT_NO_THROW(static_cast<void>(decoder.json(times(10, R"({"a":)") + "{}" + times(10, "}"))));
  EXPECT_EQ(error_of([&] { return decoder.json(times(11, R"({"a":)") + "{}" + times(11, "}")); }),
            "a.a.a.a.a.a.a.a.a.a.a: nested too deeply (byte 55)");
}

TEST(Limits, RefuseDeepJsonByDefault) {
  for (const std::size_t depth : {std::size_t{1000}, std::size_t{1'000'000}}) {
    EXPECT_THROW(static_cast<void>(decode_json<Value>(nested_arrays(depth))), CodecError);
    EXPECT_THROW(static_cast<void>(decode_json<Value>(times(depth, "["))), CodecError);
    EXPECT_THROW(static_cast<void>(decode_json<Value>(times(depth, R"({"a":)"))), CodecError);
    EXPECT_THROW(static_cast<void>(decode_json<JSONSchemaProps>(nested_schemas(depth))),
                 CodecError);
    // The same for skipped content.
    EXPECT_THROW(static_cast<void>(decode_json<Pod>("{\"x\":" + nested_arrays(depth) + "}")),
                 CodecError);
    EXPECT_THROW(static_cast<void>(decode_json<Pod>("{\"x\":" + times(depth, R"({"a":)"))),
                 CodecError);
    EXPECT_THROW(static_cast<void>(
                     decode_json<JSONSchemaProps>("{\"default\":" + nested_arrays(depth) + "}")),
                 CodecError);
  }
  EXPECT_NO_THROW(static_cast<void>(decode_json<Value>(nested_arrays(150))));
  EXPECT_NO_THROW(static_cast<void>(decode_json<JSONSchemaProps>(nested_schemas(150))));
}

TEST(Limits, RefuseDeepProtobuf) {
  Decoder<JSONSchemaProps> decoder{{.limits = {.max_depth = 10}}};

  EXPECT_NO_THROW(static_cast<void>(decoder.protobuf(nested_messages(10, 28))));
  EXPECT_EQ(error_of([&] { return decoder.protobuf(nested_messages(11, 28)); }),
            "not.not.not.not.not.not.not.not.not.not.not: nested too deeply (byte 33)");
}

TEST(Limits, RefuseDeepProtobufByDefault) {
  for (const std::size_t depth : {std::size_t{1000}, std::size_t{500'000}}) {
    EXPECT_THROW(
        static_cast<void>(decode_protobuf_message<JSONSchemaProps>(nested_messages(depth, 28))),
        CodecError);
    // Unknown groups are skipped, but only up to a limit of depth.
    EXPECT_THROW(static_cast<void>(decode_protobuf_message<Pod>(times(depth, wire::tag(99, 3)))),
                 CodecError);
    EXPECT_THROW(static_cast<void>(decode_protobuf_message<Pod>(times(depth, wire::tag(99, 3)) +
                                                                times(depth, wire::tag(99, 4)))),
                 CodecError);
  }
  EXPECT_NO_THROW(
      static_cast<void>(decode_protobuf_message<JSONSchemaProps>(nested_messages(150, 28))));
  // Unknown messages are skipped as a whole, at any depth.
  EXPECT_NO_THROW(static_cast<void>(decode_protobuf_message<Pod>(nested_messages(100'000, 99))));
}

TEST(Limits, RefuseTextThatIsTooLong) {
  const DecodeLimits limits{.max_text = 100};
  Decoder<Pod> decoder{{.limits = limits}};
  const std::string fits(100, 'x');
  const std::string too_long(101, 'x');
  const auto json = [](std::string_view text) {
    return R"({"metadata":{"name":")" + std::string{text} + "\"}}";
  };
  const auto message = [](std::string_view text) { return wire::bytes(1, wire::bytes(1, text)); };

  EXPECT_EQ(decoder.json(json(fits))->metadata.name, fits);
  EXPECT_EQ(decoder.protobuf(message(fits))->metadata.name, fits);
  EXPECT_EQ(error_of([&] { return decoder.json(json(too_long)); }),
            "metadata.name: text is too long (byte 21)");
  EXPECT_EQ(error_of([&] { return decoder.protobuf(message(too_long)); }),
            "metadata.name: text is too long (byte 4)");
  EXPECT_THROW(
      static_cast<void>(decoder.json(R"({"metadata":{"labels":{")" + too_long + "\":\"\"}}}")),
      CodecError);
  EXPECT_THROW(static_cast<void>(decoder.json(R"({"metadata":{"managedFields":[{"fieldsV1":")" +
                                              too_long + "\"}]}}")),
               CodecError);
  EXPECT_THROW(static_cast<void>(Decoder<Value>{{.limits = limits}}.json('"' + too_long + '"')),
               CodecError);
}

TEST(Limits, TakeKeysOfAMegabyte) {
  const std::string key(1 << 20, 'k');

  EXPECT_EQ(decode_json<Value>("{\"" + key + "\":1}")->as_object().at(key).as_integer(), 1);
  EXPECT_EQ(decode_json<Pod>(R"({"metadata":{"labels":{")" + key + "\":\"v\"}}}")
                ->metadata.labels.at(key),
            "v");
  EXPECT_EQ(decode_json<Pod>("{\"" + key + R"(":{},"metadata":{"name":"p"}})")->metadata.name, "p");
  EXPECT_EQ(decode_protobuf_message<Pod>(wire::bytes(1, wire::entry(11, key, "v")))
                ->metadata.labels.at(key),
            "v");
}

TEST(Limits, RefuseThousandsOfEmptyStructs) {
  const std::string json = R"({"spec":{"containers":[{})" + times(100'000, ",{}") + "]}}";
  const std::string message = wire::bytes(2, times(100'000, wire::bytes(2, "")));

  EXPECT_TRUE(error_of([&] {
                return decode_json<Pod>(json);
              }).ends_with("out of proportion to its input (byte 0)"));
  EXPECT_TRUE(error_of([&] {
                return decode_protobuf_message<Pod>(message);
              }).ends_with("out of proportion to its input (byte 0)"));
  // null is an empty struct, too.
  EXPECT_THROW(static_cast<void>(decode_json<JSONSchemaProps>("{\"allOf\":[null" +
                                                              times(100'000, ",null") + "]}")),
               CodecError);
}

TEST(Limits, TakeThousandsOfEmptyStructsIfAllowed) {
  const std::string message = wire::bytes(2, times(20'000, wire::bytes(2, "")));
  Decoder<Pod> decoder{{.limits = {.max_expansion = 1000}}};

  EXPECT_EQ(decoder.protobuf(message)->spec.containers.size(), 20'000U);
}

TEST(Limits, AllowUnusualShapesOfSmallDocuments) {
  EXPECT_EQ(decode_json<Pod>(R"({"spec":{"containers":[{})" + times(99, ",{}") + "]}}")
                ->spec.containers.size(),
            100U);
  EXPECT_EQ(decode_json<Value>("[0" + times(50'000, ",0") + "]")->size(), 50'001U);
  EXPECT_EQ(decode_json<Value>("[{}" + times(50'000, ",{}") + "]")->size(), 50'001U);
}

TEST(Limits, ApplyToEachDocumentAnew) {
  Decoder<Pod> decoder{{.pool = std::make_shared<Pool>()}};
  const std::string bomb = R"({"spec":{"containers":[{})" + times(100'000, ",{}") + "]}}";
  const std::string pod = test::recorded_items("core_v1_pods", Format::kJson).at(0);
  const Ref<Pod> before = decoder.json(pod);

  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(static_cast<void>(decoder.json(bomb)), CodecError);
    EXPECT_EQ(*decoder.json(pod), *before);
  }
}

TEST(Limits, RefuseObjectsBeyondTheArena) {
  // 70 MiB of text in pieces that are each within the limit.
  std::string json = R"({"data":{)";
  for (int i = 0; i < 7; ++i) {
    if (i > 0) json += ',';
    json += "\"k" + std::to_string(i) + "\":\"" + std::string(10 << 20, 'x') + '"';
  }
  json += "}}";

  EXPECT_TRUE(error_of([&] {
                return decode_json<core::v1::ConfigMap>(json);
              }).starts_with("object with more text than the limit of"));
}

}  // namespace
}  // namespace kube
