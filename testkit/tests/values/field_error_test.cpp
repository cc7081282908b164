// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/field_error.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ER-3
TEST(FieldError, HasTheTextOfARealServer) {
  const std::vector<std::string> supported{"a", "b\"c"};
  const std::vector<std::pair<FieldError, const char*>> expected{
      {invalid_value("f", "x", "why"), R"(f: Invalid value: "x": why)"},
      {invalid_value("f", Value::integer(3), ""), "f: Invalid value: 3"},
      {invalid_value("f", json(R"({"a":[1]})"), "why"), R"(f: Invalid value: {"a":[1]}: why)"},
      {required_value("f"), "f: Required value"},
      {required_value("f", "why"), "f: Required value: why"},
      {duplicate_value("f[1]", "x"), R"(f[1]: Duplicate value: "x")"},
      {forbidden_value("f", "why"), "f: Forbidden: why"},
      {not_supported("f", "x", supported),
       R"(f: Unsupported value: "x": supported values: "a", "b\"c")"},
      {too_long("f", 1), "f: Too long: may not be more than 1 byte"},
      {too_many("f", 9, 8), "f: Too many: 9: must have at most 8 items"},
      {type_invalid("f", "string", "why"), R"(f: Invalid value: "string": why)"},
  };
  for (const auto& [error, words] : expected) EXPECT_EQ(error.text(), words);
  EXPECT_EQ(expected[0].first.type, "FieldValueInvalid");
  EXPECT_EQ(expected[10].first.type, "FieldValueTypeInvalid");
}

// ER-1, ER-2
TEST(FieldError, MakesAStatus) {
  const std::vector<FieldError> one{required_value("spec.x")};
  EXPECT_EQ(
      encode_json(invalid_status("apps", "Deployment", "d", one)),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Deployment.apps \"d\" is invalid: spec.x: Required value","reason":"Invalid","details":{"name":"d","group":"apps","kind":"Deployment","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.x"}]},"code":422})");
  // Several errors are enclosed in brackets; the text lists equal ones once, the causes list each.
  const std::vector<FieldError> three{required_value("a"), required_value("a"),
                                      required_value("b")};
  const auto status = invalid_status("", "Pod", "p", three);
  EXPECT_EQ(status.message, R"(Pod "p" is invalid: [a: Required value, b: Required value])");
  EXPECT_EQ(status.details->causes.size(), 3u);
}

// CR-7
TEST(UnknownFields, AreNamedWithTheirPaths) {
  const SchemaNode& pod = *builtin_schema("", "v1", "Pod");
  Value object = json(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"any":"thing"},"odd":1},
    "spec":{"containers":[{"name":"a"},{"name":"b","bogus":1,"resources":{"limits":{"cpu":"1"}}}],"x":{"y":1}},"top":2})");
  const std::string before = text(object);

  EXPECT_THAT(unknown_fields(pod, object),
              ElementsAre("metadata.odd", "spec.containers[1].bogus", "spec.x", "top"));
  EXPECT_EQ(text(object), before);

  EXPECT_EQ(remove_unknown_fields(pod, object).size(), 4u);
  EXPECT_THAT(unknown_fields(pod, object), IsEmpty());
  EXPECT_EQ(object["spec"]["containers"].size(), 2u);
}

// CR-7: no field written by a real server is unknown
TEST(UnknownFields, AreNotReportedForRecordedObjects) {
  for (const auto& [file, group, version, kind] :
       std::initializer_list<std::tuple<const char*, const char*, const char*, const char*>>{
           {"core_v1_pods.json", "", "v1", "Pod"},
           {"core_v1_nodes.json", "", "v1", "Node"},
           {"apps_v1_deployments.json", "apps", "v1", "Deployment"},
           {"autoscaling_v2_horizontalpodautoscalers.json", "autoscaling", "v2",
            "HorizontalPodAutoscaler"},
           {"resource.k8s.io_v1_resourceslices.json", "resource.k8s.io", "v1", "ResourceSlice"},
           {"apiextensions.k8s.io_v1_customresourcedefinitions.json", "apiextensions.k8s.io", "v1",
            "CustomResourceDefinition"}}) {
    const Value list = json(test::fixture(file));
    for (const Value& item : list["items"].as_array()) {
      EXPECT_THAT(unknown_fields(*builtin_schema(group, version, kind), item), IsEmpty()) << kind;
    }
  }
  EXPECT_EQ(builtin_schema("", "v1", "Nonsense"), nullptr);
}

}  // namespace
}  // namespace kube::testkit::detail
