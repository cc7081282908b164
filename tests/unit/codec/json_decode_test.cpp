// SPDX-License-Identifier: Apache-2.0
// JSON is decoded with the rules of the Go types of Kubernetes.
#include <kube/codec/json.hpp>

#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/apps/v1.hpp>
#include <kube/api/certificates/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using apiextensions::v1::JSONSchemaProps;
using core::v1::ConfigMap;
using core::v1::Event;
using core::v1::Pod;
using core::v1::Secret;
using policy::v1::PodDisruptionBudget;
using test::error_of;

Ref<Pod> pod_with_spec(std::string_view members) {
  return decode_json<Pod>(R"({"spec":{)" + std::string{members} + "}}");
}

Ref<Pod> pod_with_metadata(std::string_view members) {
  return decode_json<Pod>(R"({"metadata":{)" + std::string{members} + "}}");
}

Ref<Pod> pod_with_container(std::string_view members) {
  return pod_with_spec(R"("containers":[{)" + std::string{members} + "}]");
}

TEST(JsonDecode, DecodesAServersAnswer) {
  const std::string item = test::recorded_items("core_v1_pods", Format::kJson).at(0);

  const Ref<Pod> pod = decode_json<Pod>(item);

  EXPECT_EQ(pod->metadata.name, "loner-74bm5");
  EXPECT_EQ(pod->metadata.generation, 1);
  EXPECT_EQ(pod->metadata.labels.at("topology.kubernetes.io/zone"), "z1");
  EXPECT_EQ(pod->spec.containers[0].resources.limits.at("cpu").text(), "500m");
  EXPECT_EQ(pod->spec.termination_grace_period_seconds, 30);
  EXPECT_EQ(pod->spec.enable_service_links, true);
  EXPECT_EQ(pod->spec.priority, 0);
  ASSERT_TRUE(pod->spec.security_context);
  EXPECT_EQ(*pod->spec.security_context, core::v1::PodSecurityContext{});
  EXPECT_EQ(pod->spec.tolerations.size(), 2U);
  EXPECT_FALSE(pod->spec.affinity);
}

TEST(JsonDecode, SkipsWhiteSpaceEverywhere) {
  const Ref<Pod> spaced = decode_json<Pod>(
      "\r\n { \"metadata\" : {\t\"labels\" : { \"a\" : \"1\" , \"b\" : \"2\" } ,\n"
      "\"finalizers\" : [ \"x\" , \"y\" ] } , \"spec\" : { \"priority\" : 5 , \"hostPID\" : true "
      ", \"containers\" : [ ] } , \"status\" : { } } \n");

  EXPECT_EQ(*spaced, *decode_json<Pod>(R"({"metadata":{"labels":{"a":"1","b":"2"},)"
                                       R"("finalizers":["x","y"]},)"
                                       R"("spec":{"priority":5,"hostPID":true}})"));
}

TEST(JsonDecode, ReadsMembersInAnyOrder) {
  EXPECT_EQ(
      *decode_json<Pod>(R"({"spec":{"nodeName":"n","containers":[{"image":"i","name":"c"}]},)"
                        R"("metadata":{"uid":"u","name":"p"}})"),
      *decode_json<Pod>(R"({"metadata":{"name":"p","uid":"u"},)"
                        R"("spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n"}})"));
}

TEST(JsonDecode, IgnoresUnknownFields) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"future":[{"a":[1.5e3,null,true,"\u00e4\n"]},{}],"metadata":{"name":"p","x":{}},)"
      R"("spec":{"unheardOf":false,"nodeName":"n","another":"\ud83d\ude00"}})");

  EXPECT_EQ(pod->metadata.name, "p");
  EXPECT_EQ(pod->spec.node_name, "n");
}

TEST(JsonDecode, ValidatesIgnoredFields) {
  for (const std::string_view text :
       {R"({"future":[1,]})", R"({"future":{"a"}})", R"({"future":{"a":1,}})", R"({"future":01})",
        R"({"future":1.})", R"({"future":tru})", R"({"future":"\x"})", R"({"future":"\u12"})",
        R"({"future":})", R"({"future":[1})", R"({"future":{"\q":1}})", "{\"future\":\"\n\"}"}) {
    EXPECT_THROW(static_cast<void>(decode_json<Pod>(text)), CodecError) << text;
  }
}

TEST(JsonDecode, DistinguishesNamesByCase) {
  const Ref<Pod> pod =
      decode_json<Pod>(R"({"Metadata":{"name":"no"},"metadata":{"Name":"no","NAME":"no"}})");

  EXPECT_EQ(pod->metadata.name, "");
}

TEST(JsonDecode, DistinguishesNamesWithACommonPrefix) {
  const Ref<Pod> pod = pod_with_spec(
      R"("serviceAccount":"a","serviceAccountName":"b","serviceAccountNames":"c","serviceA":"d")");

  EXPECT_EQ(pod->spec.service_account, "a");
  EXPECT_EQ(pod->spec.service_account_name, "b");
}

TEST(JsonDecode, ReadsEscapesInNames) {
  EXPECT_EQ(pod_with_metadata(R"("n\u0061me":"p","labels":{"\u0061\n":"1"})")->metadata.name, "p");
  EXPECT_EQ(pod_with_metadata(R"("labels":{"\u0061\n":"1"})")->metadata.labels.at("a\n"), "1");
}

// --- null ---

TEST(JsonDecode, DecodesNullAsUnsetInEveryKindOfField) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"metadata":{"name":null,"generation":null,"creationTimestamp":null,)"
      R"("deletionTimestamp":null,"deletionGracePeriodSeconds":null,"labels":null,)"
      R"("ownerReferences":null,"finalizers":null,"managedFields":[{"time":null,"fieldsV1":null}]},)"
      R"("spec":{"containers":null,"hostNetwork":null,"priority":null,"securityContext":null,)"
      R"("enableServiceLinks":null,"runtimeClassName":null,"overhead":null},"status":null})");

  Pod expected;
  expected.metadata.managed_fields.emplace_back();
  EXPECT_EQ(*pod, expected);
  EXPECT_TRUE(pod->metadata.labels.is_null());
  EXPECT_TRUE(pod->spec.containers.is_null());
  EXPECT_FALSE(pod->spec.runtime_class_name.has_value());
  EXPECT_FALSE(pod->spec.priority.has_value());
}

TEST(JsonDecode, DecodesNullAsUnsetInLeaves) {
  EXPECT_EQ(*decode_json<Event>(R"({"metadata":null,"involvedObject":null,"eventTime":null,)"
                                R"("firstTimestamp":null,"series":null,"count":null})"),
            Event{});
  EXPECT_EQ(*decode_json<PodDisruptionBudget>(R"({"spec":{"minAvailable":null,"selector":null}})"),
            PodDisruptionBudget{});
  EXPECT_EQ(*decode_json<JSONSchemaProps>(
                R"({"default":null,"maximum":null,"items":null,"additionalProperties":null,)"
                R"("example":null,"enum":null,"x-kubernetes-list-type":null})"),
            JSONSchemaProps{});
  EXPECT_EQ(*decode_json<Secret>(R"({"data":null,"immutable":null,"type":null})"), Secret{});
}

TEST(JsonDecode, DecodesNullElementsAsEmpty) {
  const Ref<Pod> pod =
      decode_json<Pod>(R"({"metadata":{"finalizers":["a",null]},"spec":{"containers":[null],)"
                       R"("securityContext":{"supplementalGroups":[1,null]}}})");

  EXPECT_EQ(pod->metadata.finalizers, (List<String>{"a", ""}));
  ASSERT_EQ(pod->spec.containers.size(), 1U);
  EXPECT_EQ(pod->spec.containers[0], core::v1::Container{});
  EXPECT_EQ(pod->spec.security_context->supplemental_groups, (List<std::int64_t>{1, 0}));
}

TEST(JsonDecode, DecodesNullMapValuesAsEmpty) {
  EXPECT_EQ(pod_with_metadata(R"("labels":{"a":null,"b":""})")->metadata.labels,
            (Map<String>{{"a", ""}, {"b", ""}}));
  EXPECT_EQ(test::item_json(*decode_json<Secret>(R"({"data":{"a":"","b":null}})")),
            R"({"metadata":{},"data":{"a":"","b":null}})");
  const auto schema = decode_json<JSONSchemaProps>(R"({"properties":{"a":null,"b":{}}})");
  EXPECT_EQ(schema->properties.at("a"), JSONSchemaProps{});
}

// A manifest may contain `cpu: null`; servers treat it as zero.
TEST(JsonDecode, DecodesNullQuantitiesAndTimesInMapsAsZero) {
  const Ref<Pod> pod = pod_with_container(R"("resources":{"limits":{"cpu":null,"memory":"1Gi"}})");
  const auto budget = decode_json<PodDisruptionBudget>(
      R"({"status":{"disruptedPods":{"a":null,"b":"2026-01-01T00:00:00Z"}}})");

  EXPECT_EQ(pod->spec.containers[0].resources.limits.at("cpu").value(), 0);
  EXPECT_EQ(pod->spec.containers[0].resources.limits.at("memory").text(), "1Gi");
  EXPECT_FALSE(budget->status.disrupted_pods.at("a").is_set());
  EXPECT_TRUE(budget->status.disrupted_pods.at("b").is_set());
}

// --- duplicate names ---

TEST(JsonDecode, LetsTheLastOfEqualNamesWin) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"metadata":{"name":"first, and of some length","name":"second","generation":1,)"
      R"("generation":2,"deletionGracePeriodSeconds":1,"deletionGracePeriodSeconds":2,)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","creationTimestamp":"2026-01-02T00:00:00Z"}})");

  EXPECT_EQ(pod->metadata.name, "second");
  EXPECT_EQ(pod->metadata.generation, 2);
  EXPECT_EQ(pod->metadata.deletion_grace_period_seconds, 2);
  EXPECT_EQ(pod->metadata.creation_timestamp.str(), "2026-01-02T00:00:00Z");
}

TEST(JsonDecode, MergesDuplicateStructs) {
  const Ref<Pod> pod =
      decode_json<Pod>(R"({"spec":{"nodeName":"a","securityContext":{"runAsUser":1}},)"
                       R"("spec":{"hostname":"b","securityContext":{"runAsGroup":2}},)"
                       R"("spec":{"securityContext":{"runAsUser":3,"sysctls":[{"name":"x"}]}}})");

  EXPECT_EQ(pod->spec.node_name, "a");
  EXPECT_EQ(pod->spec.hostname, "b");
  EXPECT_EQ(pod->spec.security_context->run_as_user, 3);
  EXPECT_EQ(pod->spec.security_context->run_as_group, 2);
  EXPECT_EQ(pod->spec.security_context->sysctls.size(), 1U);
}

TEST(JsonDecode, MergesDuplicateMaps) {
  const Ref<Pod> pod = pod_with_metadata(
      R"("labels":{"c":"3","a":"1"},"labels":{"b":"2","a":"the last one wins"},"labels":{})");

  EXPECT_EQ(pod->metadata.labels,
            (Map<String>{{"a", "the last one wins"}, {"b", "2"}, {"c", "3"}}));
}

TEST(JsonDecode, ReplacesStructsInDuplicateMaps) {
  const auto schema = decode_json<JSONSchemaProps>(
      R"({"properties":{"a":{"type":"string","title":"t"},"b":{"type":"object"}},)"
      R"("properties":{"a":{"format":"date"}}})");

  EXPECT_EQ(schema->properties.size(), 2U);
  EXPECT_EQ(schema->properties.at("a").format, "date");
  EXPECT_EQ(schema->properties.at("a").type, "");
}

TEST(JsonDecode, ReplacesDuplicateLists) {
  const Ref<Pod> pod = pod_with_metadata(R"("finalizers":["a","b","c"],"finalizers":["d"])");

  EXPECT_EQ(pod->metadata.finalizers, (List<String>{"d"}));
}

TEST(JsonDecode, NullResetsOptionalFields) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"metadata":{"labels":{"a":"1"},"labels":null,"finalizers":["x"],"finalizers":null,)"
      R"("deletionTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":null,)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","creationTimestamp":null,)"
      R"("managedFields":[{"fieldsV1":{"f:a":{}},"fieldsV1":null}]},)"
      R"("spec":{"priority":3,"priority":null,"securityContext":{"runAsUser":1},)"
      R"("securityContext":null,"runtimeClassName":"x","runtimeClassName":null}})");

  EXPECT_TRUE(pod->metadata.labels.is_null());
  EXPECT_TRUE(pod->metadata.finalizers.is_null());
  EXPECT_FALSE(pod->metadata.deletion_timestamp.is_set());
  EXPECT_FALSE(pod->metadata.creation_timestamp.is_set());
  EXPECT_FALSE(pod->metadata.managed_fields[0].fields_v1.is_set());
  EXPECT_FALSE(pod->spec.priority.has_value());
  EXPECT_FALSE(pod->spec.security_context);
  EXPECT_FALSE(pod->spec.runtime_class_name.has_value());
}

TEST(JsonDecode, NullResetsAnyTime) {
  for (int second = 0; second < 8; ++second) {
    const std::string time = "\"2026-01-01T00:00:0" + std::to_string(second) + "Z\"";

    EXPECT_FALSE(pod_with_metadata("\"creationTimestamp\":" + time + ",\"creationTimestamp\":null")
                     ->metadata.creation_timestamp.is_set());
    EXPECT_TRUE(pod_with_metadata("\"creationTimestamp\":null,\"creationTimestamp\":" + time)
                    ->metadata.creation_timestamp.is_set());
    EXPECT_TRUE(
        pod_with_metadata("\"creationTimestamp\":" + time + ",\"creationTimestamp\":" + time)
            ->metadata.creation_timestamp.is_set());
  }
}

TEST(JsonDecode, NullDoesNotChangeRequiredFields) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"metadata":{"name":"a","name":null,"generation":4,"generation":null},)"
      R"("spec":{"hostNetwork":true,"hostNetwork":null,"nodeName":"n"},"spec":null})");

  EXPECT_EQ(pod->metadata.name, "a");
  EXPECT_EQ(pod->metadata.generation, 4);
  EXPECT_TRUE(pod->spec.host_network);
  EXPECT_EQ(pod->spec.node_name, "n");
}

TEST(JsonDecode, KeepsTheLastOfEqualKeysInAnyJson) {
  EXPECT_EQ(*decode_json<Value>(R"({"a":1,"b":2,"a":{"x":1},"a":{"y":2}})"),
            Value::object({{"a", Value::object({{"y", 2}})}, {"b", 2}}));
}

// --- text ---

TEST(JsonDecode, ReadsEscapes) {
  EXPECT_EQ(pod_with_metadata(R"("name":"\"\\\/\b\f\n\r\t\u0041\u00e4\u20AC")")->metadata.name,
            "\"\\/\b\f\n\r\tA\xc3\xa4\xe2\x82\xac");
  EXPECT_EQ(pod_with_metadata(R"("name":"a\u0000b")")->metadata.name, std::string("a\0b", 3));
}

TEST(JsonDecode, JoinsSurrogatePairsAndReplacesUnpairedOnes) {
  const auto name = [](std::string_view escaped) {
    return pod_with_metadata("\"name\":\"" + std::string{escaped} + '"')->metadata.name.str();
  };
  EXPECT_EQ(name(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(name(R"(\uD83D\uDE00 and some more)"), "\xf0\x9f\x98\x80 and some more");
  EXPECT_EQ(name(R"(\ud800)"), "\xef\xbf\xbd");
  EXPECT_EQ(name(R"(\udc00)"), "\xef\xbf\xbd");
  EXPECT_EQ(name(R"(\ud800\u0041)"),
            "\xef\xbf\xbd"
            "A");
  EXPECT_EQ(name(R"(\ud800\ud83d\ude00)"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(name(R"(\udc00\ud83d\ude00)"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(name(R"(\ud83d\n)"), "\xef\xbf\xbd\n");
}

TEST(JsonDecode, RefusesMalformedText) {
  for (const std::string_view text :
       {R"("\x")", R"("\u")", R"("\u12")", R"("\u12g4")", R"("\)", R"("abc)", R"("\ud83d\u)",
        "\"a\nb\"", "\"a\tb\"", "\"\x01\"", "\"0123456789abcdef\x1f\""}) {
    EXPECT_THROW(static_cast<void>(pod_with_metadata("\"name\":" + std::string{text})), CodecError)
        << text;
  }
}

TEST(JsonDecode, RejectsInvalidUtf8) {
  for (const std::string_view text : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80",
                                      "\xf5\x80\x80\x80", "long enough for a whole vector \x80"}) {
    EXPECT_EQ(error_of([&] { return pod_with_metadata("\"name\":\"" + std::string{text} + '"'); }),
              "document is not valid UTF-8 (byte 0)");
    EXPECT_THROW(static_cast<void>(decode_json<Value>('"' + std::string{text} + '"')), CodecError);
  }
}

TEST(JsonDecode, KeepsTextOfEveryLength) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string plain(size, 'x');
    const std::string escaped = plain + "\\n" + plain + "\\u00e4";

    EXPECT_EQ(pod_with_metadata("\"name\":\"" + plain + '"')->metadata.name, plain);
    EXPECT_EQ(pod_with_metadata("\"name\":\"" + escaped + '"')->metadata.name,
              plain + "\n" + plain + "\xc3\xa4");
  }
}

// --- numbers ---

TEST(JsonDecode, ReadsNumbersUpToTheirLimits) {
  EXPECT_EQ(pod_with_spec(R"("priority":2147483647)")->spec.priority, 2147483647);
  EXPECT_EQ(pod_with_spec(R"("priority":-2147483648)")->spec.priority, -2147483648);
  EXPECT_EQ(pod_with_metadata(R"("generation":9223372036854775807)")->metadata.generation,
            INT64_MAX);
  EXPECT_EQ(pod_with_metadata(R"("generation":-9223372036854775808)")->metadata.generation,
            INT64_MIN);
  EXPECT_EQ(pod_with_spec(R"("priority":-0)")->spec.priority, 0);
}

TEST(JsonDecode, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(error_of([] { return pod_with_spec(R"("priority":2147483648)"); }),
            "spec.priority: number 2147483648 does not fit into 32 bits (byte 20)");
  EXPECT_EQ(error_of([] { return pod_with_spec(R"("priority":-2147483649)"); }),
            "spec.priority: number -2147483649 does not fit into 32 bits (byte 20)");
  EXPECT_EQ(error_of([] { return pod_with_metadata(R"("generation":9223372036854775808)"); }),
            "metadata.generation: number 9223372036854775808 does not fit into 64 bits (byte 26)");
}

TEST(JsonDecode, RefusesFractionsForIntegers) {
  for (const std::string_view number : {"1.5", "1.0", "1e3", "1E0", "-0.0"}) {
    EXPECT_EQ(error_of([&] { return pod_with_spec("\"priority\":" + std::string{number}); }),
              "spec.priority: expected integer, found a fraction (byte 20)")
        << number;
  }
}

TEST(JsonDecode, RefusesMalformedNumbers) {
  for (const std::string_view number :
       {"01", "-", "-a", "1.", "1.e1", ".5", "+1", "1e", "1e+", "0x10", "1_000", "NaN", "--1"}) {
    EXPECT_THROW(static_cast<void>(pod_with_spec("\"priority\":" + std::string{number})),
                 CodecError)
        << number;
    EXPECT_THROW(static_cast<void>(decode_json<Value>(number)), CodecError) << number;
  }
}

TEST(JsonDecode, ReadsDoubles) {
  const auto maximum = [](std::string_view number) {
    return decode_json<JSONSchemaProps>("{\"maximum\":" + std::string{number} + '}')->maximum;
  };
  EXPECT_EQ(maximum("0"), 0.0);
  EXPECT_EQ(maximum("5"), 5.0);
  EXPECT_EQ(maximum("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(maximum("1E+2"), 100.0);
  EXPECT_EQ(maximum("0.1"), 0.1);
  EXPECT_EQ(maximum("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(maximum("5e-324"), 5e-324);
  EXPECT_EQ(maximum("1e-400"), 0.0);  // underflows to zero
  EXPECT_EQ(maximum("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(error_of([&] { return maximum("1e400"); }), "maximum: number out of range (byte 11)");
}

TEST(JsonDecode, TellsIntegersFromDoublesInAnyJson) {
  const Ref<Value> value = decode_json<Value>(
      R"([1,1.0,1e3,9223372036854775807,-9223372036854775808,9223372036854775808,-0,0.1,1e-400])");

  using Kind = Value::Kind;
  const std::vector<Kind> kinds{Kind::kInteger, Kind::kDouble,  Kind::kDouble,
                                Kind::kInteger, Kind::kInteger, Kind::kDouble,
                                Kind::kInteger, Kind::kDouble,  Kind::kDouble};
  ASSERT_EQ(value->size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ((*value)[i].kind(), kinds[i]) << i;
  EXPECT_EQ((*value)[3].as_integer(), INT64_MAX);
  EXPECT_EQ((*value)[4].as_integer(), INT64_MIN);
  EXPECT_EQ((*value)[5].as_double(), 0x1p63);
}

// --- leaf types ---

TEST(JsonDecode, ReadsTimes) {
  const auto time = [](std::string_view text) {
    return pod_with_metadata("\"creationTimestamp\":\"" + std::string{text} + '"')
        ->metadata.creation_timestamp;
  };
  EXPECT_EQ(time("2026-01-31T12:00:00Z").str(), "2026-01-31T12:00:00Z");
  EXPECT_EQ(time("2026-01-01T00:00:00.5+02:00").str(), "2025-12-31T22:00:00Z");
  EXPECT_FALSE(time("0001-01-01T00:00:00Z").is_set());
  for (const std::string_view text : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-01-31"}) {
    EXPECT_EQ(error_of([&] { return time(text); }),
              "metadata.creationTimestamp: expected RFC 3339 time, found \"" + std::string{text} +
                  "\" (byte 33)");
  }
  EXPECT_THROW(static_cast<void>(pod_with_metadata(R"("creationTimestamp":5)")), CodecError);
}

TEST(JsonDecode, ReadsMicroTimes) {
  const Ref<Event> event = decode_json<Event>(R"({"eventTime":"2026-01-31T12:00:00.123456Z"})");

  EXPECT_EQ(event->event_time.str(), "2026-01-31T12:00:00.123456Z");
  EXPECT_THROW(static_cast<void>(decode_json<Event>(R"({"eventTime":"noon"})")), CodecError);
}

TEST(JsonDecode, ReadsQuantitiesAsTextOrNumber) {
  const Ref<Pod> pod = pod_with_container(
      R"("resources":{"limits":{"a":"500m","b":1.5,"c":3,"d":"1.500","e":"1E3","f":" 2 "}})");
  const Map<Quantity>& limits = pod->spec.containers[0].resources.limits;

  EXPECT_EQ(limits.at("a"), Quantity{"0.5"});
  EXPECT_EQ(limits.at("b"), Quantity{"1500m"});
  EXPECT_EQ(limits.at("c"), Quantity{"3"});
  EXPECT_EQ(limits.at("d").text(), "1.500");  // keeps the original form
  EXPECT_EQ(limits.at("e").value(), 1000);
  EXPECT_EQ(limits.at("f"), Quantity{"2"});  // servers trim white space
  for (const std::string_view bad : {R"("")", R"("many")", R"("1.2.3")", "true", "{}", "[]"}) {
    EXPECT_THROW(static_cast<void>(pod_with_container(R"("resources":{"limits":{"a":)" +
                                                      std::string{bad} + "}}")),
                 CodecError)
        << bad;
  }
}

TEST(JsonDecode, ReadsIntegersOrStrings) {
  const auto budget =
      decode_json<PodDisruptionBudget>(R"({"spec":{"minAvailable":"50%","maxUnavailable":3}})");
  EXPECT_EQ(budget->spec.min_available, IntOrString{"50%"});
  EXPECT_EQ(budget->spec.max_unavailable, IntOrString{3});
  EXPECT_FALSE(budget->spec.min_available == IntOrString{50});
  for (const std::string_view bad : {"1.0", "1e3", "99999999999", "true", "{}", "[]"}) {
    EXPECT_THROW(static_cast<void>(decode_json<PodDisruptionBudget>(
                     "{\"spec\":{\"minAvailable\":" + std::string{bad} + "}}")),
                 CodecError)
        << bad;
  }
}

TEST(JsonDecode, ReadsBytesFromBase64) {
  const auto decoded = [](std::string_view text) {
    const auto secret = decode_json<Secret>("{\"data\":{\"a\":\"" + std::string{text} + "\"}}");
    return std::string{secret->data.at("a").view()};
  };
  EXPECT_EQ(decoded(""), "");
  EXPECT_EQ(decoded("aGk="), "hi");
  EXPECT_EQ(decoded("aGVsbG8sIHdvcmxkIQ=="), "hello, world!");
  EXPECT_EQ(decoded("aG\\nk\\u003d"), "hi");
  EXPECT_EQ(decoded("/+8="), "\xff\xef");
  for (const std::string_view bad :
       {"aGk", "aG k=", "a", "=", "aGk==", "aGk=aGk=", "aG-_", "====", "\\u00e4AAA"}) {
    EXPECT_EQ(error_of([&] { return decoded(bad); }), "data['a']: malformed base64 (byte 14)")
        << bad;
  }
  EXPECT_EQ(error_of([] { return decode_json<Secret>(R"({"data":{"a":5}})"); }),
            "data['a']: expected base64 string, found number (byte 13)");
}

TEST(JsonDecode, KeepsRawExtensionsVerbatim) {
  const auto revision = [](std::string_view data) {
    return decode_json<apps::v1::ControllerRevision>("{\"data\":" + std::string{data} + '}');
  };
  EXPECT_EQ(revision(R"({"a": [1, 2.50, "\u0041"]})")->data.raw(), R"({"a": [1, 2.50, "\u0041"]})");
  EXPECT_EQ(revision("[]")->data.raw(), "[]");
  EXPECT_FALSE(revision("null")->data.is_set());
  EXPECT_THROW(static_cast<void>(revision("{\"a\":}")), CodecError);
}

TEST(JsonDecode, KeepsManagedFieldsInPiecesThatAddUp) {
  const auto fields = [](std::string_view json) {
    return pod_with_metadata("\"managedFields\":[{\"fieldsV1\":" + std::string{json} + "}]")
        ->metadata.managed_fields[0]
        .fields_v1.str();
  };
  for (const std::string_view json :
       {R"({"f:metadata":{"f:labels":{".":{}}}})",
        R"({"f:status":{"f:podIPs":{".":{},"k:{\"ip\":\"10.0.0.7\"}":{".":{},"f:ip":{}}}}})",
        R"({"k:{\"ip\":\"10.0.0.7\"}":{},"k:{\"ip\":\"fd00::7\"}":{}})",
        R"({"k:{\"ip\":\"\"}":{}})", R"({"k:{\"ip\":\"}":{}})", R"({})", "5", "[]",
        R"("k:{\"ip\":\"10.0.0.7")"}) {
    EXPECT_EQ(fields(json), json);
  }
}

TEST(JsonDecode, SelectsTheFormOfASchemaByItsToken) {
  const auto schema = decode_json<JSONSchemaProps>(
      R"({"items":{"type":"string"},"additionalProperties":{"type":"object"},)"
      R"("additionalItems":false,)"
      R"("dependencies":{"a":["b","c"],"d":{"type":"object"},"e":null,"f":[]}})");

  EXPECT_EQ(schema->items->schema->type, "string");
  EXPECT_TRUE(schema->items->json_schemas.empty());
  EXPECT_TRUE(schema->additional_properties->allows);
  EXPECT_EQ(schema->additional_properties->schema->type, "object");
  ASSERT_TRUE(schema->additional_items);
  EXPECT_FALSE(schema->additional_items->allows);
  EXPECT_FALSE(schema->additional_items->schema);
  EXPECT_EQ(schema->dependencies.at("a").property, (List<String>{"b", "c"}));
  EXPECT_EQ(schema->dependencies.at("d").schema->type, "object");
  EXPECT_TRUE(schema->dependencies.contains("e"));
  EXPECT_TRUE(schema->dependencies.contains("f"));
  EXPECT_TRUE(decode_json<JSONSchemaProps>(R"({"additionalProperties":true})")
                  ->additional_properties->allows);
  EXPECT_EQ(decode_json<JSONSchemaProps>(R"({"items":[{"type":"a"},{"type":"b"}]})")
                ->items->json_schemas.size(),
            2U);
}

TEST(JsonDecode, RefusesTokensThatASchemaCannotHold) {
  EXPECT_EQ(error_of([] { return decode_json<JSONSchemaProps>(R"({"additionalProperties":5})"); }),
            "additionalProperties: expected boolean or object, found number (byte 24)");
  EXPECT_EQ(error_of([] { return decode_json<JSONSchemaProps>(R"({"items":"x"})"); }),
            "items: expected array or object, found string (byte 9)");
  EXPECT_EQ(error_of([] { return decode_json<JSONSchemaProps>(R"({"items":true})"); }),
            "items: expected array or object, found boolean (byte 9)");
  EXPECT_THROW(static_cast<void>(decode_json<JSONSchemaProps>(R"({"dependencies":{"a":true}})")),
               CodecError);
}

TEST(JsonDecode, LetsTheLastFormOfASchemaWin) {
  const auto schema = decode_json<JSONSchemaProps>(
      R"({"additionalProperties":{"type":"string"},"additionalProperties":false,)"
      R"("items":[{"type":"a"}],"items":{"type":"b"}})");

  EXPECT_FALSE(schema->additional_properties->allows);
  EXPECT_FALSE(schema->additional_properties->schema);
  EXPECT_TRUE(schema->items->json_schemas.empty());
  EXPECT_EQ(schema->items->schema->type, "b");
}

// --- the document as a whole ---

TEST(JsonDecode, ChecksKindAndVersionIfTheyAreGiven) {
  EXPECT_EQ(decode_json<Pod>(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}})")
                ->metadata.name,
            "p");
  EXPECT_NO_THROW(static_cast<void>(decode_json<Pod>(R"({"kind":"","apiVersion":null})")));
  EXPECT_EQ(error_of([] { return decode_json<Pod>(R"({"kind":"Service","apiVersion":"v1"})"); }),
            "expected kind \"Pod\", found \"Service\" (byte 8)");
  EXPECT_EQ(error_of([] { return decode_json<Pod>(R"({"kind":"Pod","apiVersion":"v2"})"); }),
            "expected apiVersion \"v1\", found \"v2\" (byte 27)");
  EXPECT_EQ(error_of([] {
              return decode_json<apps::v1::Deployment>(
                  R"({"apiVersion":"extensions/v1beta1","kind":"Deployment"})");
            }),
            "expected apiVersion \"apps/v1\", found \"extensions/v1beta1\" (byte 14)");
}

TEST(JsonDecode, LeavesTheKindOfInnerObjectsAlone) {
  const Ref<Pod> pod = decode_json<Pod>(
      R"({"metadata":{"kind":"x","ownerReferences":[{"kind":"ReplicaSet","apiVersion":"apps/v1"}]}})");

  EXPECT_EQ(pod->metadata.owner_references[0].kind, "ReplicaSet");
}

TEST(JsonDecode, RejectsAnythingButAnObject) {
  EXPECT_EQ(error_of([] { return decode_json<Pod>(""); }),
            "expected object, found end of input (byte 0)");
  EXPECT_EQ(error_of([] { return decode_json<Pod>("  "); }),
            "expected object, found end of input (byte 2)");
  EXPECT_EQ(error_of([] { return decode_json<Pod>("[]"); }),
            "expected object, found array (byte 0)");
  EXPECT_EQ(error_of([] { return decode_json<Pod>("null"); }),
            "expected object, found null (byte 0)");
  EXPECT_EQ(error_of([] { return decode_json<Pod>("{} {}"); }),
            "expected end of the document, found object (byte 3)");
  EXPECT_EQ(error_of([] { return decode_json<Value>("1 2"); }),
            "expected end of the document, found number (byte 2)");
  EXPECT_EQ(error_of([] { return decode_json<Value>(""); }),
            "expected value, found end of input (byte 0)");
}

TEST(JsonDecode, ReadsAnyJson) {
  EXPECT_TRUE(decode_json<Value>("null")->is_null());
  EXPECT_TRUE(decode_json<Value>(" true ")->as_bool());
  EXPECT_EQ(decode_json<Value>("\"text of some length\"")->as_string(), "text of some length");
  EXPECT_TRUE(decode_json<Value>("[]")->is_array());
  EXPECT_TRUE(decode_json<Value>("{}")->is_object());
  EXPECT_EQ(*decode_json<Value>(R"({"b":[1,[],{}],"a":{"":null}})"),
            Value::object({{"a", Value::object({{"", nullptr}})},
                           {"b", Value::array({1, Value::array(), Value::object()})}}));
}

TEST(JsonDecode, ReadsTypesThatAreNoStructs) {
  EXPECT_EQ(*decode_json<List<String>>(R"(["a","b"])"), (List<String>{"a", "b"}));
  EXPECT_EQ(*decode_json<Map<String>>(R"({"b":"2","a":"1"})"),
            (Map<String>{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(decode_json<Quantity>("\"1Gi\"")->value(), 1 << 30);
  EXPECT_EQ(*decode_json<std::int64_t>("5"), 5);
  EXPECT_EQ(*decode_json<String>("\"x\""), "x");
}

TEST(JsonDecode, KeepsEmptyApartFromAbsent) {
  const Ref<Pod> empty = decode_json<Pod>(
      R"({"metadata":{"labels":{},"finalizers":[]},"spec":{"runtimeClassName":""}})");
  const Ref<Pod> absent = decode_json<Pod>("{}");

  EXPECT_FALSE(empty->metadata.labels.is_null());
  EXPECT_FALSE(empty->metadata.finalizers.is_null());
  EXPECT_TRUE(empty->spec.runtime_class_name.has_value());
  EXPECT_TRUE(absent->metadata.labels.is_null());
  EXPECT_TRUE(absent->metadata.finalizers.is_null());
  EXPECT_FALSE(absent->spec.runtime_class_name.has_value());
}

TEST(JsonDecode, SortsMaps) {
  const Ref<ConfigMap> map =
      decode_json<ConfigMap>(R"({"data":{"c":"3","a":"1","B":"2","a-long-key-of-its-own":"4"}})");

  std::vector<std::string> keys;
  for (const auto& [key, value] : map->data) keys.push_back(key.str());
  EXPECT_EQ(keys, (std::vector<std::string>{"B", "a", "a-long-key-of-its-own", "c"}));
}

// Small maps use a different sort algorithm from large ones.
TEST(JsonDecode, SortsSmallAndLargeMaps) {
  std::mt19937 random{17};
  for (const std::size_t count : {2, 9, 31, 32, 33, 64, 300}) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(fmt::format("key-{:05}", i));
    const std::vector<std::string> sorted = keys;
    std::shuffle(keys.begin(), keys.end(), random);
    std::string members;
    for (const std::string& key : keys) {
      members += fmt::format("{}\"{}\":\"of {}\"", members.empty() ? "" : ",", key, key);
    }
    const Ref<ConfigMap> map = decode_json<ConfigMap>("{\"data\":{" + members + "}}");
    const Ref<Value> value = decode_json<Value>("{" + members + "}");
    std::vector<std::string> found;
    for (const auto& [key, text] : map->data) {
      found.push_back(key.str());
      EXPECT_EQ(text, "of " + key.str());
    }
    EXPECT_EQ(found, sorted);
    found.clear();
    for (const auto& [key, text] : value->as_object()) {
      found.push_back(key.str());
      EXPECT_EQ(text.as_string(), "of " + key.str());
    }
    EXPECT_EQ(found, sorted);
  }
}

TEST(JsonDecode, LetsTheLastOfEqualKeysWin) {
  const std::string text = R"({"b":"1","a":"2","b":"3","c":"4","a":"5","b":"6"})";
  EXPECT_EQ(encode_json(*decode_json<Value>(text)), R"({"a":"5","b":"6","c":"4"})");
  EXPECT_EQ(encode_json(decode_json<ConfigMap>("{\"data\":" + text + "}")->data),
            R"({"a":"5","b":"6","c":"4"})");
}

}  // namespace
}  // namespace kube
