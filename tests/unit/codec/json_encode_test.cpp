// SPDX-License-Identifier: Apache-2.0
// JSON is encoded byte for byte like API servers do.
#include <kube/codec/json.hpp>

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/apps/v1.hpp>
#include <kube/api/certificates/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace kube {
namespace {

using apiextensions::v1::JSONSchemaProps;
using core::v1::Container;
using core::v1::Event;
using core::v1::Pod;
using core::v1::Probe;
using core::v1::Secret;

TEST(JsonEncode, BeginsWithKindAndVersion) {
  EXPECT_EQ(
      encode_json(Pod{}),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"containers":null},"status":{}})");
  EXPECT_TRUE(encode_json(apps::v1::Deployment{})
                  .starts_with(R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{},)"));
}

TEST(JsonEncode, OmitsKindAndVersionInsideLists) {
  core::v1::PodList list;
  list.metadata.resource_version = "5";
  list.items.emplace_back().metadata.name = "a";

  EXPECT_EQ(encode_json(list),
            R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)"
            R"({"metadata":{"name":"a"},"spec":{"containers":null},"status":{}}]})");
  EXPECT_EQ(encode_json(core::v1::PodList{}),
            R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":null})");
}

TEST(JsonEncode, OmitsEmptyFields) {
  Pod pod;
  pod.metadata.labels = Map<String>(std::initializer_list<std::pair<std::string_view, String>>{});
  pod.metadata.finalizers = List<String>(std::initializer_list<String>{});
  pod.metadata.annotations = {{"", ""}};
  pod.spec.containers = List<Container>(std::initializer_list<Container>{});
  pod.spec.priority = 0;
  pod.spec.enable_service_links = false;
  pod.spec.runtime_class_name = "";
  pod.spec.security_context.emplace();

  EXPECT_EQ(test::item_json(pod),
            R"({"metadata":{"annotations":{"":""}},"spec":{"containers":[],"securityContext":{},)"
            R"("priority":0,"runtimeClassName":"","enableServiceLinks":false},"status":{}})");
}

TEST(JsonEncode, WritesInlineStructsFlat) {
  Probe probe;
  probe.tcp_socket.emplace().port = 80;
  probe.period_seconds = 5;
  core::v1::EnvVar variable{.name = "A", .value = {}, .value_from = {}};
  auto& key = variable.value_from.emplace().config_map_key_ref.emplace();
  key.name = "settings";
  key.key = "a";

  EXPECT_EQ(encode_json(probe), R"({"tcpSocket":{"port":80},"periodSeconds":5})");
  EXPECT_EQ(encode_json(variable),
            R"({"name":"A","valueFrom":{"configMapKeyRef":{"name":"settings","key":"a"}}})");
}

TEST(JsonEncode, WritesTimesAndNull) {
  Event event;
  event.first_timestamp = Time::from_unix(1'800'000'000);
  event.event_time = MicroTime::parse("2026-01-31T12:00:00.000001Z");
  event.metadata.creation_timestamp = Time::from_unix(0);

  EXPECT_EQ(test::item_json(event),
            R"({"metadata":{"creationTimestamp":"1970-01-01T00:00:00Z"},"involvedObject":{},)"
            R"("source":{},"firstTimestamp":"2027-01-15T08:00:00Z","lastTimestamp":null,)"
            R"("eventTime":"2026-01-31T12:00:00.000001Z","reportingComponent":"",)"
            R"("reportingInstance":""})");
}

TEST(JsonEncode, WritesQuantitiesAndIntegersOrStrings) {
  Container container;
  container.name = "c";
  container.resources.limits = {{"memory", "1Gi"}, {"cpu", Quantity{}}};
  policy::v1::PodDisruptionBudgetSpec budget;
  budget.min_available = "50%";
  budget.max_unavailable = 3;

  EXPECT_EQ(encode_json(container),
            R"({"name":"c","resources":{"limits":{"cpu":"0","memory":"1Gi"}}})");
  EXPECT_EQ(encode_json(budget), R"({"minAvailable":"50%","maxUnavailable":3})");
}

TEST(JsonEncode, WritesBytesAsBase64) {
  Secret secret;
  secret.data = {{"a", ""}, {"b", "hi"}, {"c", "\xff\xef"}, {"d", "hello, world!"}, {"e", Bytes{}}};

  EXPECT_EQ(test::item_json(secret), R"({"metadata":{},"data":{"a":"","b":"aGk=","c":"/+8=",)"
                                     R"("d":"aGVsbG8sIHdvcmxkIQ==","e":null}})");
  EXPECT_EQ(test::item_json(*decode_json<Secret>(R"({"data":{"a":"","b":null}})")),
            R"({"metadata":{},"data":{"a":"","b":null}})");
}

// Regression: bytes that were set but empty became null in a copy.
TEST(JsonEncode, WritesACopyLikeTheOriginal) {
  const auto request = decode_json<certificates::v1::CertificateSigningRequestSpec>(
      R"({"request":"","signerName":"x"})");
  auto copy = *request;
  const auto moved = std::move(copy);

  EXPECT_EQ(encode_json(*request), R"({"request":"","signerName":"x"})");
  EXPECT_EQ(encode_json(moved), encode_json(*request));
}

TEST(JsonEncode, EscapesAsGoDoes) {
  EXPECT_EQ(encode_json(String{"\"\\/\b\f\n\r\t\x01\x1f\x7f"}), R"("\"\\/\b\f\n\r\t\u0001\u001f)"
                                                                "\x7f\"");
  EXPECT_EQ(encode_json(String{"<a href=\"&\">"}), R"("\u003ca href=\"\u0026\"\u003e")");
  EXPECT_EQ(encode_json(String{"\xe2\x80\xa8|\xe2\x80\xa9|\xe2\x82\xac|\xf0\x9f\x98\x80"}),
            "\"\\u2028|\\u2029|\xe2\x82\xac|\xf0\x9f\x98\x80\"");
  EXPECT_EQ(encode_json(String{std::string("a\0b", 3)}), R"("a\u0000b")");
}

TEST(JsonEncode, EscapesAtEveryPosition) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (const auto& [character, escaped] : {std::pair{"<", "\\u003c"}, std::pair{"\n", "\\n"},
                                             std::pair{"\xe2\x80\xa8", "\\u2028"}}) {
      const std::string filler(before, 'x');

      EXPECT_EQ(encode_json(String{filler + character + filler}),
                '"' + filler + escaped + filler + '"');
    }
  }
}

TEST(JsonEncode, WritesDoublesAsGoDoes) {
  const auto text = [](double number) { return encode_json(Value{number}); };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(-0.0), "-0");
  EXPECT_EQ(text(1), "1");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-2.5), "-2.5");
  EXPECT_EQ(text(1e20), "100000000000000000000");
  EXPECT_EQ(text(1e21), "1e+21");
  EXPECT_EQ(text(123456789012345680000.0), "123456789012345680000");
  EXPECT_EQ(text(0.000001), "0.000001");
  EXPECT_EQ(text(0.0000001), "1e-7");
  EXPECT_EQ(text(1.5e-9), "1.5e-9");
  EXPECT_EQ(text(1e-10), "1e-10");
  EXPECT_EQ(text(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(text(5e-324), "5e-324");
  EXPECT_EQ(text(0.30000000000000004), "0.30000000000000004");
}

TEST(JsonEncode, WritesNullForNumbersThatJsonDoesNotHave) {
  EXPECT_EQ(encode_json(Value{std::numeric_limits<double>::infinity()}), "null");
  EXPECT_EQ(encode_json(Value{std::numeric_limits<double>::quiet_NaN()}), "null");
}

TEST(JsonEncode, WritesIntegersInFull) {
  EXPECT_EQ(encode_json(Value{std::numeric_limits<std::int64_t>::max()}), "9223372036854775807");
  EXPECT_EQ(encode_json(Value{std::numeric_limits<std::int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(encode_json(std::int32_t{-7}), "-7");
}

TEST(JsonEncode, WritesTheActiveFormOfASchema) {
  for (const std::string_view json :
       {R"({"additionalProperties":true})", R"({"additionalProperties":false})",
        R"({"additionalProperties":{"type":"string"}})", R"({"items":{"type":"string"}})",
        R"({"items":[{"type":"string"},{}]})",
        R"({"dependencies":{"a":["b"],"c":{"type":"object"}}})",
        R"({"default":{"a":[1,null]},"enum":[null,1,"a"],"example":"x"})",
        R"({"maximum":1e+21,"minimum":-0.5,"multipleOf":1e-7})"}) {
    EXPECT_EQ(encode_json(*decode_json<JSONSchemaProps>(json)), json);
  }
  EXPECT_EQ(encode_json(*decode_json<JSONSchemaProps>(R"({"items":[]})")), R"({"items":null})");
  EXPECT_EQ(encode_json(*decode_json<JSONSchemaProps>(R"({"dependencies":{"d":[],"e":null}})")),
            R"({"dependencies":{"d":null,"e":null}})");
}

TEST(JsonEncode, WritesAnyJsonSortedAndCompact) {
  EXPECT_EQ(encode_json(
                *decode_json<Value>(R"( { "b" : [ 1 , 2.5 , "x" , null , true ] , "a" : { } } )")),
            R"({"a":{},"b":[1,2.5,"x",null,true]})");
  EXPECT_EQ(encode_json(Value{}), "null");
}

TEST(JsonEncode, RejectsRawContentThatIsNotJson) {
  apps::v1::ControllerRevision revision;
  revision.data = RawExtension{"{\"a\":1} and more"};

  EXPECT_THROW(static_cast<void>(encode_json(revision)), CodecError);
  revision.data = RawExtension{"{\"a\":1}"};
  EXPECT_EQ(test::item_json(revision), R"({"metadata":{},"data":{"a":1},"revision":0})");
}

TEST(JsonEncode, ReadsBackWhatItWrote) {
  for (const char* file : {"core_v1_pods", "apps_v1_deployments"}) {
    for (const std::string& item : test::recorded_items(file, Format::kJson)) {
      const auto value = decode_json<Value>(item);

      EXPECT_EQ(*decode_json<Value>(encode_json(*value)), *value);
    }
  }
}

}  // namespace
}  // namespace kube
