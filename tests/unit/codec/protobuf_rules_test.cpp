// SPDX-License-Identifier: Apache-2.0
// Protobuf rules of Kubernetes for decoding and encoding, and hostile input.
#include <kube/api/authentication/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/protobuf.hpp>

#include <protozero/pbf_writer.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using protozero::pbf_writer;

template <typename T>
Ref<T> read(std::string_view message) {
  return decode_protobuf_message<T>(message);
}

template <typename T>
std::string error_of(std::string_view message, DecodeLimits limits = {}) {
  try {
    Decoder<T> decoder{{.limits = limits}};
    static_cast<void>(decoder.protobuf(message));
  } catch (const CodecError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Creates a message with `fill`.
template <typename Fill>
std::string message(Fill fill) {
  std::string out;
  pbf_writer writer{out};
  fill(writer);
  return out;
}

/// Encodes a pod with this spec.
std::string pod_with_spec(const std::string& spec) {
  return message([&](pbf_writer& pod) { pod.add_message(2, spec); });
}

TEST(Protobuf, IsWrittenInTheEnvelopeOfTheServer) {
  const std::string bytes = encode_protobuf(ConfigMap{.metadata = {.name = "a"}});
  const Envelope envelope = open_envelope(bytes);

  EXPECT_EQ(envelope.kind, "ConfigMap");
  EXPECT_EQ(envelope.api_version, "v1");
  EXPECT_EQ(decode_protobuf<ConfigMap>(bytes)->metadata.name, "a");
}

TEST(Protobuf, InTheEnvelopeOfAnotherKindIsRefused) {
  try {
    static_cast<void>(decode_protobuf<Pod>(encode_protobuf(ConfigMap{})));
    FAIL();
  } catch (const CodecError& error) {
    EXPECT_EQ(error.problem(), "expected v1 Pod, found v1 ConfigMap");
  }
  EXPECT_THROW(static_cast<void>(decode_protobuf<Pod>("{}")), CodecError);
  EXPECT_THROW(static_cast<void>(decode_protobuf<Pod>(std::string_view{"k8s\0\xff", 5})),
               CodecError);
}

TEST(Protobuf, WritesPlainFieldsEvenWhenZero_CT8) {
  // name, generateName, namespace, selfLink, uid, resourceVersion, generation, creationTimestamp
  EXPECT_EQ(encode_protobuf_message(meta::v1::ObjectMeta{}),
            (std::string{"\x0a\0\x12\0\x1a\0\x22\0\x2a\0\x32\0\x38\0\x42\0", 16}));
}

TEST(Protobuf, IgnoresUnknownFieldsOfEveryWireType) {
  std::string bytes = message([](pbf_writer& pod) {
    pod.add_uint64(100, 7);
    pod.add_fixed64(101, 7);
    pod.add_string(102, "text");
    pod.add_fixed32(103, 7);
  });
  bytes += std::string{"\xc3\x06\x08\x01\xc4\x06", 6};  // group 104 that contains a field
  bytes += message([](pbf_writer& pod) {
    pod.add_message(1, message([](pbf_writer& metadata) { metadata.add_string(1, "a"); }));
  });

  EXPECT_EQ(read<Pod>(bytes)->metadata.name, "a");
}

TEST(Protobuf, MergesMessagesThatAreSplit) {
  const std::string bytes =
      pod_with_spec(message([](pbf_writer& spec) {
        spec.add_string(10, "node");
        spec.add_message(14, message([](pbf_writer& context) { context.add_int64(2, 5); }));
      })) +
      pod_with_spec(message([](pbf_writer& spec) {
        spec.add_string(8, "account");
        spec.add_message(14, message([](pbf_writer& context) { context.add_int64(6, 6); }));
      }));
  const auto pod = read<Pod>(bytes);

  EXPECT_EQ(pod->spec.node_name, "node");
  EXPECT_EQ(pod->spec.service_account_name, "account");
  EXPECT_EQ(pod->spec.security_context->run_as_user, 5);
  EXPECT_EQ(pod->spec.security_context->run_as_group, 6);
}

TEST(Protobuf, ConcatenatesListsThatAreSplit) {
  const auto container = [](const char* name) {
    return message([&](pbf_writer& one) { one.add_string(1, name); });
  };
  const auto pod = read<Pod>(pod_with_spec(message([&](pbf_writer& spec) {
    spec.add_message(2, container("a"));
    spec.add_string(10, "node");
    spec.add_message(2, container("b"));
    spec.add_message(2, container("c"));
  })));

  ASSERT_EQ(pod->spec.containers.size(), 3U);
  EXPECT_EQ(pod->spec.containers[2].name, "c");
}

TEST(Protobuf, SortsMapsAndLetsTheLastOfEqualKeysWin) {
  const auto entry = [](const char* key, const char* value) {
    return message([&](pbf_writer& one) {
      one.add_string(2, value);  // the value may precede the key
      one.add_string(1, key);
    });
  };
  const auto map = read<ConfigMap>(message([&](pbf_writer& config) {
    config.add_message(2, entry("b", "1"));
    config.add_message(2, entry("a", "2"));
    config.add_message(2, entry("b", "3"));
    config.add_message(2, std::string{});  // neither key nor value: both are empty
  }));

  EXPECT_EQ(map->data, (Map<String>{{"", ""}, {"a", "2"}, {"b", "3"}}));
}

TEST(Protobuf, ReadsPackedAndUnpackedNumbers) {
  const auto context = [](auto fill) { return read<core::v1::PodSecurityContext>(message(fill)); };
  const std::vector<std::int64_t> groups{1, 300, -1};
  const auto packed = context(
      [&](pbf_writer& writer) { writer.add_packed_int64(4, groups.begin(), groups.end()); });
  const auto single = context([&](pbf_writer& writer) {
    for (const std::int64_t group : groups) writer.add_int64(4, group);
  });

  EXPECT_EQ(packed->supplemental_groups, (List<std::int64_t>{1, 300, -1}));
  EXPECT_EQ(*packed, *single);
}

TEST(Protobuf, UnwrapsListsInWrapperMessages) {
  const authentication::v1::UserInfo user{.username = "u",
                                          .extra = {{"scopes", {"a", "b"}}, {"none", {}}}};
  EXPECT_EQ(*read<authentication::v1::UserInfo>(encode_protobuf_message(user)), user);
}

TEST(Protobuf, RefusesWrongWireTypes) {
  EXPECT_EQ(error_of<Pod>(message([](pbf_writer& pod) { pod.add_uint64(2, 1); })),
            "spec: expected PodSpec, found wire type 0 (byte 1)");
  EXPECT_EQ(error_of<Pod>(pod_with_spec(message([](pbf_writer& spec) { spec.add_uint64(10, 1); }))),
            "spec.nodeName: expected string, found wire type 0 (byte 3)");
  EXPECT_EQ(
      error_of<Pod>(pod_with_spec(message([](pbf_writer& spec) { spec.add_string(11, "x"); }))),
      "spec.hostNetwork: expected boolean, found wire type 2 (byte 3)");
}

TEST(Protobuf, RefusesMalformedNumbersAndLengths) {
  EXPECT_EQ(error_of<Pod>("\x12\xff"), "spec: truncated number (byte 1)");
  EXPECT_EQ(error_of<Pod>("\x12\x05"), "spec: length of 5 extends beyond the end (byte 1)");
  EXPECT_EQ(error_of<Pod>("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            "spec: length of 18446744073709551615 extends beyond the end (byte 1)");
  EXPECT_EQ(error_of<Pod>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            "malformed number (byte 0)");
  EXPECT_EQ(error_of<Pod>(std::string_view{"\x02\x01", 2}), "malformed field tag (byte 0)");
  EXPECT_EQ(error_of<Pod>("\x16"), "spec: expected PodSpec, found wire type 6 (byte 1)");
  EXPECT_EQ(error_of<Pod>("\xa4\x06"), "unexpected end of a group (byte 0)");
  EXPECT_NE(error_of<Pod>("\xa3\x06"), "nothing was thrown");
}

TEST(Protobuf, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(error_of<Pod>(pod_with_spec(
                message([](pbf_writer& spec) { spec.add_int64(25, 3'000'000'000); }))),
            "spec.priority: number 3000000000 does not fit into 32 bits (byte 4)");
  EXPECT_EQ(read<Pod>(pod_with_spec(message([](pbf_writer& spec) {
              spec.add_int64(25, -5);
            })))->spec.priority,
            -5);
}

TEST(Protobuf, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(
      error_of<Pod>(pod_with_spec(message([](pbf_writer& spec) { spec.add_string(10, "a\xff"); }))),
      "spec.nodeName: text is not valid UTF-8 (byte 4)");
}

TEST(Protobuf, HasALimitForDepth) {
  std::string bomb;
  for (int i = 0; i < 5000; ++i) bomb += "\xa3\x06";
  EXPECT_NE(error_of<Pod>(bomb).find("nested too deeply"), std::string::npos);
}

TEST(Protobuf, RejectsMemoryAmplification) {
  const std::string spec = message([](pbf_writer& writer) {
    for (int i = 0; i < 100'000; ++i) writer.add_message(1, std::string{});
  });
  EXPECT_NE(error_of<Pod>(pod_with_spec(spec)).find("out of proportion"), std::string::npos);
}

TEST(Protobuf, HasALimitForText) {
  const std::string bytes =
      pod_with_spec(message([](pbf_writer& spec) { spec.add_string(10, std::string(2000, 'x')); }));
  EXPECT_EQ(error_of<Pod>(bytes, {.max_text = 1000}), "spec.nodeName: text is too long (byte 6)");
}

}  // namespace
}  // namespace kube
