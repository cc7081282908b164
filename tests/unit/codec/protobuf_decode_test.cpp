// SPDX-License-Identifier: Apache-2.0
// Protobuf decoding: everything that the wire format allows, including encodings that no server
// sends.
#include <kube/codec/protobuf.hpp>

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/authentication/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"
#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kube {
namespace {

using apiextensions::v1::JSONSchemaProps;
using core::v1::Pod;
using core::v1::Secret;
using test::error_of;
using test::times;
namespace wire = test::wire;

Ref<Pod> decode(std::string_view message) { return decode_protobuf_message<Pod>(message); }
Ref<Pod> with_metadata(std::string_view fields) { return decode(wire::bytes(1, fields)); }
Ref<Pod> with_spec(std::string_view fields) { return decode(wire::bytes(2, fields)); }

std::string envelope(std::string_view kind, std::string_view raw) {
  return std::string{kEnvelopeMagic} + wire::bytes(1, wire::bytes(1, "v1") + wire::bytes(2, kind)) +
         wire::bytes(2, raw) + wire::bytes(3, "") + wire::bytes(4, "");
}

TEST(ProtobufDecode, DecodesAServersAnswer) {
  const std::string item = test::recorded_items("core_v1_pods", Format::kProtobuf).at(0);

  const Ref<Pod> pod = decode(item);

  EXPECT_EQ(pod->metadata.name, "loner-74bm5");
  EXPECT_EQ(pod->metadata.labels.at("topology.kubernetes.io/zone"), "z1");
  EXPECT_EQ(pod->spec.containers[0].resources.limits.at("cpu").text(), "500m");
  EXPECT_EQ(pod->spec.priority, 0);
  ASSERT_TRUE(pod->spec.security_context);
  EXPECT_EQ(pod->spec.tolerations.size(), 2U);
}

TEST(ProtobufDecode, ReadsTheEmptyMessage) { EXPECT_EQ(*decode(""), Pod{}); }

TEST(ProtobufDecode, OpensTheEnvelope) {
  const std::string bytes = envelope("Pod", wire::bytes(1, wire::bytes(1, "web")));

  EXPECT_EQ(decode_protobuf<Pod>(bytes)->metadata.name, "web");
  const Envelope opened = open_envelope(bytes);
  EXPECT_EQ(opened.api_version, "v1");
  EXPECT_EQ(opened.kind, "Pod");
  EXPECT_EQ(opened.raw.size(), 7U);
  EXPECT_EQ(encode_protobuf(*decode_protobuf<Pod>(bytes)).substr(0, 4), kEnvelopeMagic);
}

TEST(ProtobufDecode, OpensEnvelopesWithMoreInThem) {
  const std::string bytes =
      std::string{kEnvelopeMagic} + wire::bytes(9, "new") +
      wire::bytes(2, wire::bytes(1, wire::bytes(1, "web"))) + wire::integer(8, 1) +
      wire::bytes(1, wire::bytes(2, "Pod") + wire::bytes(1, "v1") + wire::bytes(7, "new"));

  EXPECT_EQ(decode_protobuf<Pod>(bytes)->metadata.name, "web");
}

TEST(ProtobufDecode, RefusesBrokenEnvelopes) {
  const std::string whole = envelope("Pod", wire::bytes(1, wire::bytes(1, "web")));
  for (std::size_t size = 0; size < 20; ++size) {
    // Truncated after the type: an envelope without an object, which Go decodes as an empty one.
    if (size == 15) continue;
    EXPECT_THROW(static_cast<void>(decode_protobuf<Pod>(whole.substr(0, size))), CodecError)
        << size;
  }
  EXPECT_THROW(static_cast<void>(decode_protobuf<Pod>(envelope("PodList", ""))), CodecError);
  EXPECT_THROW(static_cast<void>(decode_protobuf<Pod>(whole.substr(4))), CodecError);
}

TEST(ProtobufDecode, WritesTheEnvelopeThatItReads) {
  Pod pod;
  pod.metadata.name = "web";

  EXPECT_EQ(*decode_protobuf<Pod>(encode_protobuf(pod)), pod);
}

TEST(ProtobufDecode, SkipsUnknownFieldsOfEveryKind) {
  const std::string unknown =
      wire::integer(1000, -1) + wire::fixed64(1001, 1.5) + wire::bytes(1002, "anything \xff") +
      wire::fixed32(1003) +
      wire::group(1004, wire::integer(1, 2) + wire::group(5, "") + wire::bytes(1, "x"));

  const Ref<Pod> pod =
      decode(unknown + wire::bytes(1, unknown + wire::bytes(1, "web") + unknown) + unknown);

  EXPECT_EQ(pod->metadata.name, "web");
}

TEST(ProtobufDecode, RefusesBrokenGroups) {
  EXPECT_EQ(error_of([] { return decode(wire::tag(99, 3)); }), "unterminated group (byte 2)");
  EXPECT_EQ(error_of([] { return decode(wire::tag(99, 3) + wire::tag(98, 4)); }),
            "unterminated group (byte 2)");
  EXPECT_EQ(error_of([] { return decode(wire::tag(99, 4)); }),
            "unexpected end of a group (byte 0)");
  EXPECT_THROW(static_cast<void>(decode(wire::tag(1, 4))), CodecError);
  EXPECT_THROW(static_cast<void>(decode(wire::tag(1, 3) + wire::tag(1, 4))), CodecError);
}

TEST(ProtobufDecode, ReadsFieldsInAnyOrder) {
  const Ref<Pod> pod = decode(wire::bytes(3, wire::bytes(1, "Running")) +
                              wire::bytes(2, wire::bytes(10, "node") + wire::bytes(3, "Always")) +
                              wire::bytes(1, wire::bytes(5, "uid") + wire::bytes(1, "web")));

  EXPECT_EQ(pod->status.phase, "Running");
  EXPECT_EQ(pod->spec.node_name, "node");
  EXPECT_EQ(pod->spec.restart_policy, "Always");
  EXPECT_EQ(pod->metadata.uid, "uid");
  EXPECT_EQ(pod->metadata.name, "web");
}

TEST(ProtobufDecode, LetsTheLastOfEqualFieldsWin) {
  const Ref<Pod> pod = with_metadata(
      wire::bytes(1, "the first of the names") + wire::bytes(1, "second") + wire::integer(7, 1) +
      wire::integer(7, 2) + wire::bytes(8, wire::integer(1, 5)) +
      wire::bytes(8, wire::integer(1, 6)) + wire::integer(10, 7) + wire::integer(10, 8));

  EXPECT_EQ(pod->metadata.name, "second");
  EXPECT_EQ(pod->metadata.generation, 2);
  EXPECT_EQ(pod->metadata.creation_timestamp, Time::from_unix(6));
  EXPECT_EQ(pod->metadata.deletion_grace_period_seconds, 8);
}

TEST(ProtobufDecode, MergesSplitMessages) {
  const Ref<Pod> pod =
      decode(wire::bytes(2, wire::bytes(10, "node") + wire::bytes(14, wire::integer(2, 1))) +
             wire::bytes(1, wire::bytes(1, "web")) +
             wire::bytes(2, wire::bytes(16, "host") +
                                wire::bytes(14, wire::integer(6, 2) + wire::integer(4, 10)) +
                                wire::bytes(14, wire::integer(4, 11))) +
             wire::bytes(1, wire::bytes(5, "uid")));

  EXPECT_EQ(pod->metadata.name, "web");
  EXPECT_EQ(pod->metadata.uid, "uid");
  EXPECT_EQ(pod->spec.node_name, "node");
  EXPECT_EQ(pod->spec.hostname, "host");
  EXPECT_EQ(pod->spec.security_context->run_as_user, 1);
  EXPECT_EQ(pod->spec.security_context->run_as_group, 2);
  EXPECT_EQ(pod->spec.security_context->supplemental_groups, (List<std::int64_t>{10, 11}));
}

TEST(ProtobufDecode, MergesSplitInlineStructs) {
  // The source of a volume is a nested message in field 2.
  const Ref<Pod> pod = with_spec(
      wire::bytes(1, wire::bytes(1, "v") + wire::bytes(2, wire::bytes(1, wire::bytes(1, "/tmp"))) +
                         wire::bytes(2, wire::bytes(1, wire::bytes(2, "Directory")))));

  EXPECT_EQ(pod->spec.volumes[0].host_path->path, "/tmp");
  EXPECT_EQ(pod->spec.volumes[0].host_path->type, "Directory");
}

TEST(ProtobufDecode, CollectsNonAdjacentRepeatedFields) {
  const Ref<Pod> pod =
      with_metadata(wire::bytes(14, "a") + wire::bytes(14, "the second of the finalizers") +
                    wire::bytes(1, "web") + wire::bytes(14, "c") + wire::entry(11, "k", "v") +
                    wire::bytes(14, "d"));
  const Ref<Pod> spec = decode(
      wire::bytes(2, wire::bytes(2, wire::bytes(1, "a"))) +
      wire::bytes(2, wire::bytes(10, "node")) +
      wire::bytes(2, wire::bytes(2, wire::bytes(1, "b")) + wire::bytes(2, wire::bytes(1, "c"))));

  EXPECT_EQ(pod->metadata.finalizers,
            (List<String>{"a", "the second of the finalizers", "c", "d"}));
  EXPECT_EQ(pod->metadata.labels.at("k"), "v");
  ASSERT_EQ(spec->spec.containers.size(), 3U);
  EXPECT_EQ(spec->spec.containers[0].name, "a");
  EXPECT_EQ(spec->spec.containers[2].name, "c");
  EXPECT_EQ(spec->spec.node_name, "node");
}

TEST(ProtobufDecode, ReadsPackedAndUnpackedNumbers) {
  const std::string packed = wire::varint(1) + wire::varint(300) + wire::varint(~0ULL);
  const auto groups = [](std::string_view fields) {
    const Ref<Pod> pod = with_spec(wire::bytes(14, fields));
    return pod->spec.security_context->supplemental_groups;
  };
  EXPECT_EQ(groups(wire::bytes(4, packed)), (List<std::int64_t>{1, 300, -1}));
  EXPECT_EQ(groups(wire::integer(4, 1) + wire::integer(4, 300)), (List<std::int64_t>{1, 300}));
  EXPECT_EQ(groups(wire::integer(4, 1) + wire::bytes(4, packed) + wire::integer(4, 9)),
            (List<std::int64_t>{1, 1, 300, -1, 9}));
  EXPECT_EQ(groups(wire::bytes(4, "")), List<std::int64_t>{});
  EXPECT_THROW(static_cast<void>(groups(wire::bytes(4, "\x80"))), CodecError);
  EXPECT_THROW(static_cast<void>(groups(wire::fixed64(4, 1))), CodecError);
}

TEST(ProtobufDecode, ReadsPackedNumbersOf32Bits) {
  const auto ports = [](std::string_view fields) {
    return with_spec(wire::bytes(2, wire::bytes(25, wire::bytes(2, fields))))
        ->spec.containers[0]
        .restart_policy_rules[0]
        .exit_codes;
  };
  EXPECT_EQ(ports(wire::bytes(2, wire::varint(7) + wire::varint(8)))->values,
            (List<std::int32_t>{7, 8}));
  EXPECT_THROW(static_cast<void>(ports(wire::bytes(2, wire::varint(1ULL << 40)))), CodecError);
}

TEST(ProtobufDecode, SortsMapsAndKeepsTheLastOfEqualKeys) {
  const Ref<Pod> pod = with_metadata(wire::entry(11, "c", "3") + wire::entry(11, "a", "first") +
                                     wire::entry(11, "b", "2") + wire::bytes(1, "web") +
                                     wire::entry(11, "a", "a value of some length"));

  EXPECT_EQ(pod->metadata.labels,
            (Map<String>{{"a", "a value of some length"}, {"b", "2"}, {"c", "3"}}));
}

TEST(ProtobufDecode, ReadsMapEntriesHoweverTheyAreWritten) {
  const auto labels = [](std::string_view entry) {
    return with_metadata(wire::bytes(11, entry))->metadata.labels;
  };
  EXPECT_EQ(labels(wire::bytes(2, "v") + wire::bytes(1, "k")), (Map<String>{{"k", "v"}}));
  EXPECT_EQ(labels(wire::bytes(1, "k")), (Map<String>{{"k", ""}}));
  EXPECT_EQ(labels(wire::bytes(2, "v")), (Map<String>{{"", "v"}}));
  EXPECT_EQ(labels(""), (Map<String>{{"", ""}}));
  EXPECT_EQ(labels(wire::bytes(1, "x") + wire::bytes(2, "w") + wire::bytes(1, "k") +
                   wire::bytes(2, "a value of some length")),
            (Map<String>{{"k", "a value of some length"}}));
  EXPECT_EQ(
      labels(wire::integer(3, 5) + wire::bytes(1, "k") + wire::bytes(9, "?") + wire::bytes(2, "v")),
      (Map<String>{{"k", "v"}}));
  EXPECT_THROW(static_cast<void>(labels(wire::bytes(1, "k") + wire::integer(2, 5))), CodecError);
  EXPECT_THROW(static_cast<void>(labels(wire::bytes(1, "\xff") + wire::bytes(2, "v"))), CodecError);
  EXPECT_THROW(static_cast<void>(labels(wire::tag(1, 2) + "\x09" + "k")), CodecError);
}

TEST(ProtobufDecode, ReadsMapsOfStructsListsTimesAndBytes) {
  const auto schema = decode_protobuf_message<JSONSchemaProps>(
      wire::bytes(29, wire::bytes(2, wire::bytes(5, "string")) + wire::bytes(1, "b") +
                          wire::bytes(2, wire::bytes(6, "date"))) +
      wire::bytes(29, wire::bytes(1, "a")));
  EXPECT_EQ(schema->properties.at("a"), JSONSchemaProps{});
  EXPECT_EQ(schema->properties.at("b").type, "string");
  EXPECT_EQ(schema->properties.at("b").format, "date");

  const auto user = decode_protobuf_message<authentication::v1::UserInfo>(
      wire::entry(4, "scopes", wire::bytes(1, "x") + wire::bytes(9, "?") + wire::bytes(1, "y")) +
      wire::entry(4, "none", ""));
  EXPECT_EQ(user->extra.at("scopes"), (List<String>{"x", "y"}));
  EXPECT_TRUE(user->extra.at("none").empty());

  const auto budget = decode_protobuf_message<policy::v1::PodDisruptionBudgetStatus>(
      wire::entry(2, "b", wire::integer(1, 60)) + wire::entry(2, "a", "") + wire::bytes(2, ""));
  EXPECT_EQ(budget->disrupted_pods.at("b"), Time::from_unix(60));
  EXPECT_FALSE(budget->disrupted_pods.at("a").is_set());
  EXPECT_TRUE(budget->disrupted_pods.contains(""));

  const auto secret = decode_protobuf_message<Secret>(wire::entry(2, "k", "\xff\xfe"));
  EXPECT_EQ(secret->data.at("k"), "\xff\xfe");
}

TEST(ProtobufDecode, RefusesWrongWireTypes) {
  for (const std::string& fields :
       {wire::integer(1, 5), wire::fixed64(1, 5), wire::fixed32(1), wire::bytes(7, "x"),
        wire::fixed32(7), wire::integer(8, 5), wire::integer(10, 5) + wire::bytes(10, ""),
        wire::integer(11, 5), wire::integer(13, 5), wire::integer(14, 5), wire::fixed32(17)}) {
    EXPECT_THROW(static_cast<void>(with_metadata(fields)), CodecError);
  }
  EXPECT_THROW(static_cast<void>(decode(wire::integer(1, 5))), CodecError);
  EXPECT_THROW(static_cast<void>(decode_protobuf_message<JSONSchemaProps>(wire::integer(9, 5))),
               CodecError);
}

TEST(ProtobufDecode, RefusesUnknownWireTypes) {
  EXPECT_EQ(error_of([] { return decode(wire::tag(99, 6)); }), "unknown wire type 6 (byte 2)");
  EXPECT_EQ(error_of([] { return decode(wire::tag(99, 7)); }), "unknown wire type 7 (byte 2)");
}

TEST(ProtobufDecode, RefusesFieldNumbersThatDoNotExist) {
  EXPECT_EQ(error_of([] { return decode(wire::tag(0, 0) + '\x01'); }),
            "malformed field tag (byte 0)");
  EXPECT_EQ(error_of([] { return decode(std::string(1, '\x07')); }),
            "malformed field tag (byte 0)");
  EXPECT_EQ(error_of([] { return decode(wire::varint(1ULL << 40) + '\x01'); }),
            "malformed field tag (byte 0)");
  EXPECT_NO_THROW(static_cast<void>(decode(wire::integer((1U << 29) - 1, 1))));
}

TEST(ProtobufDecode, RefusesTruncatedNumbers) {
  for (std::size_t size = 1; size < 10; ++size) {
    const std::string cut = wire::tag(7, 0) + std::string(size, '\xff');
    EXPECT_EQ(error_of([&] { return with_metadata(cut); }),
              "metadata.generation: truncated number (byte 3)");
  }
  EXPECT_THROW(static_cast<void>(decode("\x80")), CodecError);
  EXPECT_THROW(static_cast<void>(decode(wire::tag(99, 1) + "1234567")), CodecError);
  EXPECT_THROW(static_cast<void>(decode(wire::tag(99, 5) + "123")), CodecError);
}

TEST(ProtobufDecode, AcceptsOverlongVarints) {
  // 5 in ten bytes, which no encoder writes but every decoder accepts.
  const std::string five = std::string("\x85") + std::string(8, '\x80') + std::string(1, '\0');

  EXPECT_EQ(with_metadata(wire::tag(7, 0) + five)->metadata.generation, 5);
  EXPECT_EQ(with_metadata(wire::tag(1, 2) + five + "hello")->metadata.name, "hello");
  EXPECT_EQ(with_metadata(std::string("\x8a\x80\x80\0", 4) + "\x05hello")->metadata.name, "hello");
}

TEST(ProtobufDecode, RefusesNumbersOfMoreThanTenBytes) {
  const std::string endless = std::string(10, '\xff') + '\x01';

  EXPECT_EQ(error_of([&] { return with_metadata(wire::tag(7, 0) + endless); }),
            "metadata.generation: malformed number (byte 3)");
  EXPECT_THROW(static_cast<void>(with_metadata(wire::tag(1, 2) + endless)), CodecError);
  EXPECT_THROW(static_cast<void>(decode(endless)), CodecError);
}

TEST(ProtobufDecode, RefusesLengthsBeyondTheEnd) {
  EXPECT_EQ(error_of([] { return decode(wire::tag(1, 2) + "\x01"); }),
            "metadata: length of 1 extends beyond the end (byte 1)");
  EXPECT_EQ(error_of([] { return decode(wire::tag(1, 2) + wire::varint(~0ULL)); }),
            "metadata: length of 18446744073709551615 extends beyond the end (byte 1)");
  // Within the document, but beyond the end of the message.
  EXPECT_EQ(error_of([] {
              return decode(wire::bytes(1, wire::tag(1, 2) + "\x05" + "ab") + wire::bytes(2, ""));
            }),
            "metadata.name: length of 5 extends beyond the end (byte 3)");
}

TEST(ProtobufDecode, ReadsNumbersUpToTheirLimits) {
  EXPECT_EQ(with_metadata(wire::integer(7, INT64_MIN))->metadata.generation, INT64_MIN);
  EXPECT_EQ(with_metadata(wire::integer(7, INT64_MAX))->metadata.generation, INT64_MAX);
  EXPECT_EQ(with_spec(wire::integer(25, INT32_MIN))->spec.priority, INT32_MIN);
  EXPECT_EQ(with_spec(wire::integer(25, INT32_MAX))->spec.priority, INT32_MAX);
  EXPECT_EQ(with_spec(wire::integer(11, 2))->spec.host_network, true);
  EXPECT_EQ(with_spec(wire::integer(30, 0))->spec.enable_service_links, false);
  EXPECT_THROW(static_cast<void>(with_spec(wire::integer(25, std::int64_t{INT32_MAX} + 1))),
               CodecError);
  EXPECT_THROW(static_cast<void>(with_spec(wire::integer(25, std::int64_t{INT32_MIN} - 1))),
               CodecError);
}

TEST(ProtobufDecode, ReadsDoublesThatAreNumbers) {
  const auto maximum = [](double number) {
    return decode_protobuf_message<JSONSchemaProps>(wire::fixed64(9, number))->maximum;
  };
  EXPECT_EQ(maximum(-0.5), -0.5);
  EXPECT_EQ(maximum(std::numeric_limits<double>::denorm_min()),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(error_of([&] { return maximum(std::numeric_limits<double>::quiet_NaN()); }),
            "maximum: number is not finite (byte 1)");
  EXPECT_EQ(error_of([&] { return maximum(-std::numeric_limits<double>::infinity()); }),
            "maximum: number is not finite (byte 1)");
  EXPECT_EQ(error_of([] {
              return decode_protobuf_message<JSONSchemaProps>(wire::tag(9, 1) + "1234567");
            }),
            "maximum: truncated number (byte 1)");
}

TEST(ProtobufDecode, RefusesTextThatIsNotUtf8) {
  for (const std::string_view text : {"\xff", "\xc3", "abc\xed\xa0\x80", "0123456789abcdef\x80"}) {
    EXPECT_THROW(static_cast<void>(with_metadata(wire::bytes(1, text))), CodecError);
    EXPECT_THROW(static_cast<void>(with_metadata(wire::bytes(14, text))), CodecError);
    EXPECT_THROW(static_cast<void>(with_spec(wire::bytes(29, text))), CodecError);
    EXPECT_THROW(static_cast<void>(with_metadata(wire::entry(11, text, ""))), CodecError);
  }
  EXPECT_EQ(with_metadata(wire::bytes(1, "\xc3\xa4"))->metadata.name, "\xc3\xa4");
}

TEST(ProtobufDecode, ReadsLeaves) {
  const Ref<Pod> pod = decode(
      wire::bytes(1, wire::bytes(8, "") +
                         wire::bytes(9, wire::integer(1, 1) + wire::integer(2, 999)) +
                         wire::bytes(17, wire::bytes(7, wire::bytes(1, "{\"f:a\":{}}")))) +
      wire::bytes(
          2, wire::bytes(
                 2, wire::bytes(
                        10, wire::bytes(
                                1, wire::bytes(
                                       2, wire::bytes(2, wire::integer(1, 1) + wire::integer(2, 5) +
                                                             wire::bytes(3, "http"))))))));

  EXPECT_FALSE(pod->metadata.creation_timestamp.is_set());
  EXPECT_EQ(pod->metadata.deletion_timestamp, Time::from_unix(1));
  EXPECT_EQ(pod->metadata.managed_fields[0].fields_v1.str(), "{\"f:a\":{}}");
  EXPECT_EQ(pod->spec.containers[0].liveness_probe->http_get->port, IntOrString{"http"});
}

TEST(ProtobufDecode, RefusesBrokenLeaves) {
  for (const std::string& fields :
       {wire::bytes(8, wire::integer(1, INT64_MAX)), wire::bytes(8, wire::integer(1, INT64_MIN)),
        wire::bytes(8, wire::integer(2, -1)), wire::bytes(8, wire::integer(2, 1'000'000'000)),
        wire::bytes(8, "\x08"), wire::bytes(8, "\xff"),
        wire::bytes(17, wire::bytes(7, "\x0a\x05x"))}) {
    EXPECT_THROW(static_cast<void>(with_metadata(fields)), CodecError);
  }
}

TEST(ProtobufDecode, KeepsEmptyApartFromAbsent) {
  const Ref<Pod> pod = with_spec(wire::bytes(14, "") + wire::bytes(29, "") + wire::integer(25, 0));

  EXPECT_TRUE(pod->spec.security_context);
  EXPECT_EQ(pod->spec.runtime_class_name, "");
  EXPECT_EQ(pod->spec.priority, 0);
  EXPECT_FALSE(pod->spec.affinity);
  EXPECT_FALSE(pod->spec.preemption_policy.has_value());
}

TEST(ProtobufDecode, RefusesTypesWithoutAProtobufForm) {
  EXPECT_EQ(error_of([] { return decode_protobuf_message<test::Part>(wire::bytes(1, "x")); }),
            "Part has no protobuf form (byte 0)");
  EXPECT_EQ(error_of([] { return decode_protobuf_message<Value>(wire::bytes(1, "x")); }),
            "value has no protobuf form (byte 0)");
  EXPECT_THROW(static_cast<void>(encode_protobuf_message(test::Part{})), std::logic_error);
  EXPECT_THROW(static_cast<void>(encode_protobuf_message(Value{1})), std::logic_error);
}

TEST(ProtobufEncode, WritesPlainFieldsEvenWhenZero) {
  // Like the generated Go code: metadata, spec and status are always written.
  EXPECT_EQ(encode_protobuf_message(core::v1::ContainerPort{}),
            wire::bytes(1, "") + wire::integer(2, 0) + wire::integer(3, 0) + wire::bytes(4, "") +
                wire::bytes(5, ""));
}

TEST(ProtobufEncode, WritesNegativeNumbersInTenBytes) {
  core::v1::Toleration toleration;
  toleration.toleration_seconds = -1;

  EXPECT_TRUE(encode_protobuf_message(toleration).ends_with(wire::integer(5, -1)));
  EXPECT_EQ(*decode_protobuf_message<core::v1::Toleration>(encode_protobuf_message(toleration)),
            toleration);
}

TEST(ProtobufEncode, ReadsBackLargeObjects) {
  Pod pod;
  for (int i = 0; i < 2000; ++i) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = "container " + std::to_string(i);
    container.args = {"--flag", String{std::string(static_cast<std::size_t>(i), 'x')}};
    pod.metadata.labels["label " + std::to_string(i)] = "v";
  }

  EXPECT_EQ(*decode_protobuf<Pod>(encode_protobuf(pod)), pod);
}

}  // namespace
}  // namespace kube
