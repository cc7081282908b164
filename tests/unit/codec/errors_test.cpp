// SPDX-License-Identifier: Apache-2.0
// Error messages of decoders: the field, the problem and the byte.
#include <kube/codec/error.hpp>

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using core::v1::Pod;
using test::error_of;
namespace wire = test::wire;

struct Mistake {
  /// The document; `^` marks the byte offset in the message.
  std::string_view json;
  std::string_view message;
};

std::string with_byte(std::string_view message, std::size_t offset) {
  return std::string{message} + " (byte " + std::to_string(offset) + ")";
}

template <typename T>
void expect_mistake(const Mistake& mistake) {
  const std::size_t offset = mistake.json.find('^');
  std::string json{mistake.json};
  json.erase(offset, 1);

  EXPECT_EQ(error_of([&] { return decode_json<T>(json); }), with_byte(mistake.message, offset))
      << json;
}

TEST(CodecError, NamesFieldProblemAndByteOfMistakesInJson) {
  for (const Mistake& mistake : std::vector<Mistake>{
           {R"({"spec":{"containers":[{},{},{},{"name":"c","image":^5}]}})",
            "spec.containers[3].image: expected string, found number"},
           {R"({"metadata":{"labels":{"app":^["web"]}}})",
            "metadata.labels['app']: expected string, found array"},
           {R"({"metadata":{"labels":^["app"]}})", "metadata.labels: expected object, found array"},
           {R"({"metadata":{"finalizers":^{"a":1}}})",
            "metadata.finalizers: expected list, found object"},
           {R"({"metadata":{"finalizers":["a",^true]}})",
            "metadata.finalizers[1]: expected string, found boolean"},
           {R"({"spec":{"hostNetwork":^"true"}})",
            "spec.hostNetwork: expected boolean, found string"},
           {R"({"spec":{"priority":^"high"}})",
            "spec.priority: expected 32-bit integer, found string"},
           {R"({"metadata":{"generation":^true}})",
            "metadata.generation: expected integer, found boolean"},
           {R"({"metadata":{"generation":^1.5}})",
            "metadata.generation: expected integer, found a fraction"},
           {R"({"spec":{"securityContext":^[]}})",
            "spec.securityContext: expected object, found array"},
           {R"({"spec":{"containers":[{"ports":[{"containerPort":^99999999999}]}]}})",
            "spec.containers[0].ports[0].containerPort: number 99999999999 does not fit into 32 "
            "bits"},
           {R"({"metadata":{"creationTimestamp":^"noon"}})",
            "metadata.creationTimestamp: expected RFC 3339 time, found \"noon\""},
           {R"({"spec":{"containers":[{"resources":{"limits":{"cpu":^"much"}}}]}})",
            "spec.containers[0].resources.limits['cpu']: expected quantity, found \"much\""},
           {R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":^true}}}]}})",
            "spec.containers[0].livenessProbe.httpGet.port: expected integer or string, found "
            "boolean"},
           {R"({"metadata":{"name":^x}})", "metadata.name: expected string, found 'x'"},
           {"{\"metadata\":{\"name\":^\x7f}}", "metadata.name: expected string, found byte 127"},
           {R"({"metadata":{"name":"a"^ "uid":"b"}})",
            "metadata: expected ',' or '}', found string"},
           {R"({"metadata":{"name"^ "a"}})", "metadata: expected ':', found string"},
           {R"({"metadata":{^name:"a"}})", "metadata: expected key in quotes, found 'n'"},
           {R"({"metadata":{"name":"a",^}})", "metadata: expected key in quotes, found '}'"},
           {R"({"metadata":{"name":"^abc)", "metadata.name: unterminated string"},
           {R"({"metadata":{"name":"a\^x"}})", "metadata.name: unknown escape in a string"},
           {R"({"metadata":{"name":"a\u^12"}})", "metadata.name: malformed \\u escape"},
           {R"({"spec":{"hostPID":^trve}})", "spec.hostPID: malformed literal, expected true"},
           {R"({"spec":{"nodeName":^nil}})", "spec.nodeName: malformed literal, expected null"},
           {R"({"metadata":{"name":"a"}^)", "expected ',' or '}', found end of input"},
           {R"({"metadata":{"finalizers":["a"^)",
            "metadata.finalizers: expected ',' or ']', found end of input"},
       }) {
    // Skips white space after `^`: the scanner reports the next character that is not white space.
    Mistake adjusted = mistake;
    std::string json{mistake.json};
    if (const std::size_t mark = json.find("^ "); mark != std::string::npos) {
      json.replace(mark, 2, " ^");
      adjusted.json = json;
      expect_mistake<Pod>(adjusted);
    } else {
      expect_mistake<Pod>(mistake);
    }
  }
}

TEST(CodecError, NamesThePlaceInAnyJson) {
  for (const Mistake& mistake : std::vector<Mistake>{
           {R"({"spec":{"list":[1,{"a.b":^tru}]}})",
            "spec.list[1].a.b: malformed literal, expected true"},
           {R"([1,^])", "[1]: expected value, found ']'"},
           {R"({"a":1.^x})", "a: malformed number"},
           {R"({"a":0^1})", "a: malformed number"},
       }) {
    expect_mistake<Value>(mistake);
  }
}

TEST(CodecError, HasItsPartsAsMembers) {
  try {
    static_cast<void>(decode_json<Pod>(R"({"spec":{"nodeName":5}})"));
    FAIL() << "a number was taken for a text";
  } catch (const CodecError& error) {
    EXPECT_EQ(error.path(), "spec.nodeName");
    EXPECT_EQ(error.problem(), "expected string, found number");
    EXPECT_EQ(error.offset(), 20U);
  }
}

TEST(CodecError, CountsBytesFromTheStartOfALargerDocument) {
  Decoder<Pod> decoder;

  EXPECT_EQ(error_of([&] { return decoder.json(R"({"spec":{"nodeName":5}})", 1000); }),
            "spec.nodeName: expected string, found number (byte 1020)");
  EXPECT_EQ(error_of([&] { return decoder.protobuf(wire::bytes(2, wire::integer(10, 5)), 1000); }),
            "spec.nodeName: expected string, found wire type 0 (byte 1003)");
  EXPECT_EQ(error_of([&] { return decoder.json("\xff", 1000); }),
            "document is not valid UTF-8 (byte 1000)");
}

TEST(CodecError, ShortensNamesFromHostileDocuments) {
  const std::string key(1 << 20, 'k');
  const std::string json = R"({"metadata":{"labels":{")" + key + R"(":5}}})";

  const std::string message = error_of([&] { return decode_json<Pod>(json); });

  EXPECT_TRUE(message.starts_with("metadata.labels['kkkkkkkk")) << message.substr(0, 100);
  EXPECT_TRUE(message.find("expected string, found number") != std::string::npos);
  EXPECT_LT(message.size(), 300U);
}

TEST(CodecError, QuotesOnlyTheBeginningOfABadValue) {
  const std::string json =
      R"({"metadata":{"creationTimestamp":")" + std::string(1 << 20, '9') + R"("}})";

  EXPECT_LT(error_of([&] { return decode_json<Pod>(json); }).size(), 300U);
  EXPECT_LT(error_of([&] {
              return decode_json<Pod>(R"({"kind":")" + std::string(1 << 20, 'k') + "\"}");
            }).size(),
            300U);
  EXPECT_LT(error_of([&] {
              return decode_json<Pod>(R"({"spec":{"priority":)" + std::string(1 << 20, '9') + "}}");
            }).size(),
            300U);
}

struct BadMessage {
  std::string message;
  std::string_view expected;
  std::size_t offset;
};

TEST(CodecError, NamesFieldProblemAndByteOfMistakesInProtobuf) {
  const std::string empty_containers = test::times(3, wire::bytes(2, ""));
  for (const BadMessage& bad : std::vector<BadMessage>{
           {wire::bytes(2, empty_containers + wire::bytes(2, wire::integer(2, 5))),
            "spec.containers[3].image: expected string, found wire type 0", 11},
           {wire::bytes(1, wire::bytes(1, "\xff")), "metadata.name: text is not valid UTF-8", 4},
           {wire::bytes(1, wire::entry(11, "app", "\xff")),
            "metadata.labels['app']: text is not valid UTF-8", 11},
           {wire::bytes(1, wire::bytes(7, "x")),
            "metadata.generation: expected integer, found wire type 2", 3},
           {wire::bytes(2, wire::integer(25, 1LL << 40)),
            "spec.priority: number 1099511627776 does not fit into 32 bits", 4},
           {wire::bytes(2, wire::tag(10, 2) + wire::varint(100)),
            "spec.nodeName: length of 100 extends beyond the end", 3},
           {wire::bytes(1, wire::bytes(8, wire::tag(1, 0))),
            "metadata.creationTimestamp: malformed time", 4},
           {wire::bytes(
                2, wire::bytes(2, wire::bytes(8, wire::entry(1, "cpu", wire::bytes(1, "much"))))),
            "spec.containers[0].resources.limits['cpu']: expected quantity", 15},
           {wire::tag(1, 2) + "\x05" + "ab", "metadata: length of 5 extends beyond the end", 1},
           {wire::bytes(2, wire::tag(25, 0) + "\x80"), "spec.priority: truncated number", 4},
           {wire::bytes(2, wire::tag(99, 5) + "123"), "spec: truncated field", 4},
       }) {
    EXPECT_EQ(error_of([&] { return decode_protobuf_message<Pod>(bad.message); }),
              with_byte(bad.expected, bad.offset));
  }
}

TEST(CodecError, NamesWhatAnEnvelopeHoldsInstead) {
  const std::string service = std::string{"k8s\0", 4} +
                              wire::bytes(1, wire::bytes(1, "v1") + wire::bytes(2, "Service")) +
                              wire::bytes(2, "");

  EXPECT_EQ(error_of([&] { return decode_protobuf<Pod>(service); }),
            "expected v1 Pod, found v1 Service (byte 0)");
  EXPECT_EQ(error_of([] { return decode_protobuf<Pod>("{\"kind\":\"Pod\"}"); }),
            "not a Kubernetes protobuf object: the magic bytes are missing (byte 0)");
  EXPECT_EQ(error_of([] {
              return decode_protobuf<Pod>(std::string{"k8s\0\x0a", 5});
            }),
            "malformed protobuf envelope (byte 4)");
}

}  // namespace
}  // namespace kube
