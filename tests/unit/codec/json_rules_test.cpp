// SPDX-License-Identifier: Apache-2.0
// JSON rules of Kubernetes for decoding and encoding.
#include <kube/api/apiextensions/v1.hpp>
#include <kube/api/apps/v1.hpp>
#include <kube/api/coordination/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kube {
namespace {

using apps::v1::Deployment;
using core::v1::ConfigMap;
using core::v1::Pod;
using core::v1::Secret;
using core::v1::Service;

template <typename T>
Ref<T> read(std::string_view text) {
  return decode_json<T>(text);
}

template <typename T>
std::string error_of(std::string_view text, DecodeLimits limits = {}) {
  try {
    Decoder<T> decoder{{.limits = limits}};
    static_cast<void>(decoder.json(text));
  } catch (const CodecError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Json, OmitsEmptyFieldsLikeGo) {
  EXPECT_EQ(encode_json(Pod{.metadata = {.name = "a"}}),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},)"
            R"("spec":{"containers":null},"status":{}})");
  EXPECT_EQ(encode_json(core::v1::PodCondition{.type = "Ready", .status = "True"}),
            R"({"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":null})");
}

TEST(Json, FlattensInlineStructs) {
  const auto volume =
      read<core::v1::Volume>(R"({"name":"v","configMap":{"name":"c","optional":true}})");

  EXPECT_EQ(volume->config_map->name, "c");
  EXPECT_EQ(volume->config_map->optional, true);
  EXPECT_EQ(encode_json(*volume), R"({"name":"v","configMap":{"name":"c","optional":true}})");
}

TEST(Json, ReadsIntOrStringAsEither) {
  const auto service = read<Service>(
      R"({"spec":{"ports":[{"port":80,"targetPort":8080},{"port":81,"targetPort":"http"}]}})");

  EXPECT_EQ(service->spec.ports[0].target_port, IntOrString{8080});
  EXPECT_EQ(service->spec.ports[1].target_port, IntOrString{"http"});
  EXPECT_EQ(error_of<Service>(R"({"spec":{"ports":[{"targetPort":1.5}]}})"),
            "spec.ports[0].targetPort: expected 32-bit integer or string, found \"1.5\" (byte 32)");
}

TEST(Json, ReadsQuantitiesAsTextOrNumberAndRefusesOthers) {
  const auto pod = read<Pod>(
      R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"500m","memory":1024}}}]}})");
  const auto& limits = pod->spec.containers[0].resources.limits;

  EXPECT_EQ(limits.at("cpu").text(), "500m");
  EXPECT_EQ(limits.at("memory").value(), 1024);
  EXPECT_EQ(
      error_of<Pod>(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"many"}}}]}})"),
      "spec.containers[0].resources.limits['cpu']: expected quantity, found \"many\" (byte 53)");
}

TEST(Json, ReadsTimes) {
  const auto pod = read<Pod>(R"({"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},)"
                             R"("status":{"startTime":null}})");
  EXPECT_EQ(pod->metadata.creation_timestamp.str(), "2026-01-02T03:04:05Z");
  EXPECT_FALSE(pod->status.start_time);

  const auto lease =
      read<coordination::v1::Lease>(R"({"spec":{"renewTime":"2026-01-02T03:04:05.123456Z"}})");
  EXPECT_EQ(lease->spec.renew_time.str(), "2026-01-02T03:04:05.123456Z");
  EXPECT_EQ(error_of<Pod>(R"({"metadata":{"creationTimestamp":"today"}})"),
            "metadata.creationTimestamp: expected RFC 3339 time, found \"today\" (byte 33)");
  EXPECT_EQ(error_of<Pod>(R"({"metadata":{"creationTimestamp":7}})"),
            "metadata.creationTimestamp: expected RFC 3339 time, found \"7\" (byte 33)");
}

TEST(Json, HasBytesAsBase64) {
  const auto secret = read<Secret>(R"({"data":{"a":"aGVsbG8=","empty":"","none":null}})");

  EXPECT_EQ(secret->data.at("a"), "hello");
  EXPECT_EQ(secret->data.at("empty"), "");
  EXPECT_EQ(encode_json(Secret{.data = {{"k", Bytes{std::string("\0\xff", 2)}}}}),
            R"({"kind":"Secret","apiVersion":"v1","metadata":{},"data":{"k":"AP8="}})");
  for (const char* bad : {"a", "a===", "aGVsbG8", "a!==", "=aaa", "aaaa="}) {
    EXPECT_NE(error_of<Secret>(R"({"data":{"a":")" + std::string{bad} + R"("}})")
                  .find("malformed base64"),
              std::string::npos)
        << bad;
  }
}

TEST(Json, KeepsEmbeddedJsonVerbatim) {
  const auto revision = read<apps::v1::ControllerRevision>(R"({"data":{"b": [1, 2],"a":null}})");

  EXPECT_EQ(revision->data.raw(), R"({"b": [1, 2],"a":null})");
  EXPECT_FALSE(read<apps::v1::ControllerRevision>(R"({"data":null})")->data);
}

TEST(Json, KeepsMapEntriesWithEmptyValues) {
  const auto map = read<ConfigMap>(R"({"data":{"b":"","a":"x","c":null}})");

  EXPECT_EQ(map->data.size(), 3U);
  EXPECT_EQ(
      encode_json(*map),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"a":"x","b":"","c":""}})");
}

TEST(Json, TakesNullForUnset) {
  const auto pod = read<Pod>(
      R"({"metadata":null,"spec":{"containers":null,"nodeName":null,"hostNetwork":null,)"
      R"("securityContext":null,"nodeSelector":null,"priority":null,"runtimeClassName":null,)"
      R"("terminationGracePeriodSeconds":null}})");

  EXPECT_EQ(*pod, Pod{});
  EXPECT_EQ(*read<Pod>(R"({"spec":{"containers":[null]}})"), (Pod{.spec = {.containers = {{}}}}));
}

TEST(Json, IgnoresUnknownFieldsButChecksThem) {
  EXPECT_EQ(read<Pod>(R"({"news":{"deep":[1,{"x":"\u00e9"}]},"metadata":{"name":"a","x":1e5}})")
                ->metadata.name,
            "a");
  EXPECT_NE(error_of<Pod>(R"({"news":{"deep":[1,]}})"), "nothing was thrown");
  EXPECT_NE(error_of<Pod>(R"({"news":"\x"})"), "nothing was thrown");
}

TEST(Json, TellsNamesApartByCase) {
  EXPECT_EQ(*read<Pod>(R"({"Metadata":{"name":"a"},"metadata":{"Name":"b"}})"), Pod{});
}

TEST(Json, HandlesDuplicateNamesLikeGo) {
  const auto pod = read<Pod>(
      R"({"metadata":{"name":"a","labels":{"x":"1"}},"metadata":{"namespace":"n","labels":{"y":"2"}},)"
      R"("spec":{"nodeName":"one","nodeName":"two","containers":[{"name":"a"},{"name":"b"}],)"
      R"("containers":[{"name":"c"}],"securityContext":{"runAsUser":1},"securityContext":{"runAsGroup":2}}})");

  EXPECT_EQ(pod->metadata.name, "a");
  EXPECT_EQ(pod->metadata.namespace_, "n");
  EXPECT_EQ(pod->metadata.labels.size(), 2U);
  EXPECT_EQ(pod->spec.node_name, "two");
  ASSERT_EQ(pod->spec.containers.size(), 1U);
  EXPECT_EQ(pod->spec.containers[0].name, "c");
  EXPECT_EQ(pod->spec.security_context->run_as_user, 1);
  EXPECT_EQ(pod->spec.security_context->run_as_group, 2);
}

TEST(Json, ReadsEscapesAndWritesThemAsTheServerDoes) {
  const auto map =
      read<ConfigMap>(R"({"data":{"k":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00\ud800x"}})");

  EXPECT_EQ(map->data.at("k"), "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx");
  EXPECT_EQ(encode_json(Value{"<a>&\"\\\n\x01\xe2\x80\xa8\xe2\x82\xac"}),
            "\"\\u003ca\\u003e\\u0026\\\"\\\\\\n\\u0001\\u2028\xe2\x82\xac\"");
}

TEST(Json, WritesNumbersAsGoDoes) {
  EXPECT_EQ(encode_json(Value{0.0}), "0");
  EXPECT_EQ(encode_json(Value{1.5}), "1.5");
  EXPECT_EQ(encode_json(Value{1e20}), "100000000000000000000");
  EXPECT_EQ(encode_json(Value{1e21}), "1e+21");
  EXPECT_EQ(encode_json(Value{1e-6}), "0.000001");
  EXPECT_EQ(encode_json(Value{1.25e-7}), "1.25e-7");
  EXPECT_EQ(encode_json(Value{INT64_MIN}), "-9223372036854775808");
}

TEST(Json, ReadsSchemasThatAreFlagOrObjectOrList) {
  using apiextensions::v1::JSONSchemaProps;
  const std::string text =
      R"({"items":[{"type":"string"}],"additionalProperties":{"type":"integer"},)"
      R"("additionalItems":false,"dependencies":{"a":["b"],"c":{"type":"object"}}})";
  const auto schema = read<JSONSchemaProps>(text);

  EXPECT_EQ(schema->items->json_schemas[0].type, "string");
  EXPECT_TRUE(schema->additional_properties->allows);
  EXPECT_EQ(schema->additional_properties->schema->type, "integer");
  EXPECT_FALSE(schema->additional_items->allows);
  EXPECT_EQ(*decode_json<Value>(encode_json(*schema)), *decode_json<Value>(text));
  EXPECT_EQ(error_of<JSONSchemaProps>(R"({"additionalItems":[]})"),
            "additionalItems: expected boolean or object, found array (byte 19)");
}

TEST(Json, RefusesAnotherKindOrVersion) {
  EXPECT_EQ(error_of<Pod>(R"({"kind":"Service"})"),
            "expected kind \"Pod\", found \"Service\" (byte 8)");
  EXPECT_EQ(error_of<Deployment>(R"({"apiVersion":"apps/v1beta1"})"),
            "expected apiVersion \"apps/v1\", found \"apps/v1beta1\" (byte 14)");
}

TEST(Json, NamesTheLocationOfAnError) {
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"containers":[{},{"image":7}]}})"),
            "spec.containers[1].image: expected string, found number (byte 35)");
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"containers":{}}})"),
            "spec.containers: expected list, found object (byte 22)");
  EXPECT_EQ(error_of<Pod>(R"({"metadata":{"labels":{"a":["b"]}}})"),
            "metadata.labels['a']: expected string, found array (byte 27)");
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"priority":3000000000}})"),
            "spec.priority: number 3000000000 does not fit into 32 bits (byte 20)");
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"priority":1.5}})"),
            "spec.priority: expected integer, found a fraction (byte 20)");
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"hostNetwork":"yes"}})"),
            "spec.hostNetwork: expected boolean, found string (byte 23)");
  EXPECT_EQ(error_of<Pod>(R"({"spec":{"nodeName":"a)"),
            "spec.nodeName: unterminated string (byte 21)");
  EXPECT_EQ(error_of<Pod>(""), "expected object, found end of input (byte 0)");
  EXPECT_EQ(error_of<Pod>("{} x"), "expected end of the document, found 'x' (byte 3)");
  EXPECT_EQ(error_of<Pod>("{\"metadata\":{\"name\":\"\xff\"}}"),
            "document is not valid UTF-8 (byte 0)");
}

TEST(Json, RefusesMalformedNumbers) {
  for (const char* bad :
       {"01", "-", "1.", ".5", "1e", "+1", "0x10", "NaN", "Infinity", "--1", "1e400"}) {
    EXPECT_NE(error_of<Value>(bad), "nothing was thrown") << bad;
  }
}

// Regression: a number that does not fit a double was decoded as zero if its exponent was negative.
TEST(Json, DistinguishesOverflowFromUnderflow) {
  const auto read = [](const std::string& text) { return decode_json<Value>(text)->as_double(); };
  const std::string zeros(400, '0');

  EXPECT_EQ(read("1" + zeros + "e-395"), 1e5);
  EXPECT_EQ(read("0." + zeros + "1e410"), 1e9);
  for (const std::string& small :
       {"0." + zeros + "1", "1" + zeros + "e-1000", std::string{"1e-99999999999999999999"},
        "0" + ("." + zeros), std::string{"0e99999999999999999999"}, "0." + zeros + "1e10"}) {
    EXPECT_EQ(read(small), 0.0) << small;
    EXPECT_EQ(read("-" + small), 0.0) << small;
  }
  for (const std::string& large :
       {"1" + zeros, "1" + zeros + "e-1", "1" + zeros + zeros + "e-400", "1" + zeros + ".5E-10",
        std::string{"1e99999999999999999999"}, "0." + zeros + "1e1000"}) {
    EXPECT_THROW(read(large), CodecError) << large;
    EXPECT_THROW(read("-" + large), CodecError) << large;
  }
}

TEST(Json, RefusesControlCharactersInStrings) {
  EXPECT_NE(error_of<Value>("\"a\nb\""), "nothing was thrown");
  EXPECT_NE(error_of<Value>(std::string("\"a\0b\"", 5)), "nothing was thrown");
}

TEST(Json, HasALimitForDepth) {
  EXPECT_EQ(error_of<Value>(repeated("[", 100'000)),
            repeated("[0]", 12) + "..." + repeated("[0]", 12) + ": nested too deeply (byte 201)");
  EXPECT_NE(error_of<Pod>(R"({"unknown":)" + repeated("[", 100'000)), "nothing was thrown");
  EXPECT_NE(error_of<Value>(repeated(R"({"a":)", 100'000)), "nothing was thrown");
  EXPECT_EQ(error_of<Value>(repeated("[", 150) + repeated("]", 150)), "nothing was thrown");
}

TEST(Json, HasALimitForText) {
  const DecodeLimits limits{.max_text = 1000};
  EXPECT_NE(error_of<Pod>(R"({"metadata":{"name":")" + repeated("x", 2000) + "\"}}", limits),
            "nothing was thrown");
  EXPECT_NE(
      error_of<Pod>(R"({"metadata":{"labels":{")" + repeated("k", 2000) + R"(":""}}})", limits),
      "nothing was thrown");
}

TEST(Json, TakesAMegabyteForAKey) {
  const std::string key = repeated("k", 1'000'000);
  EXPECT_EQ(read<ConfigMap>(R"({"data":{")" + key + R"(":"v"}})")->data.at(key), "v");
  const std::string error = error_of<ConfigMap>(R"({"data":{")" + key + R"(":7}})");
  EXPECT_LT(error.size(), 300U) << "messages stay short";
}

TEST(Json, RejectsMemoryAmplification) {
  const std::string text = R"({"spec":{"volumes":[)" + repeated("{},", 100'000) + R"({}]}})";
  EXPECT_NE(error_of<Pod>(text, {.max_expansion = 8}).find("out of proportion"), std::string::npos);
}

TEST(Json, ReadsWhiteSpaceAnywhere) {
  EXPECT_EQ(
      read<Pod>(" \n{ \"metadata\" :\t{ \"name\" : \"a\" , \"labels\" : { \"x\" : \"y\" } } } \r\n")
          ->metadata.labels.at("x"),
      "y");
}

}  // namespace
}  // namespace kube
