// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/structural_schema.hpp"
#include "values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using test::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> problems(std::string_view schema) {
  std::vector<std::string> texts;
  for (const FieldError& error : check_structural(json(schema), "s")) texts.push_back(error.text());
  return texts;
}

// CD-9
TEST(StructuralCheck, AcceptsStructuralSchemas) {
  EXPECT_THAT(problems(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"),
              IsEmpty());
  EXPECT_THAT(problems(R"({"type":"object","properties":{
    "metadata":{"type":"object","properties":{"name":{"type":"string","pattern":"^a+$"}}},
    "spec":{"type":"object","required":["a"],"properties":{
      "a":{"type":"integer","minimum":1,"default":3},
      "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
      "any":{"x-kubernetes-preserve-unknown-fields":true},
      "map":{"type":"object","additionalProperties":{"type":"string"}},
      "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
              "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}},
      "oneOf":[{"required":["a"]},{"required":["any"]}],
      "x-kubernetes-validations":[{"rule":"self.a > 0"}]}}})"),
              IsEmpty());
}

// CD-9
TEST(StructuralCheck, RequiresATypeEverywhere) {
  EXPECT_THAT(problems("{}"), ElementsAre("s.type: Required value: must not be empty at the root"));
  EXPECT_THAT(problems(R"({"type":"string"})"),
              ElementsAre(R"(s.type: Invalid value: "string": must be object at the root)"));
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"a":{},"b":{"type":"array","items":{}}}})"),
      UnorderedElementsAre(
          "s.properties[a].type: Required value: must not be empty for specified object fields",
          "s.properties[b].items.type: Required value: must not be empty for specified array "
          "items"));
  EXPECT_THAT(problems(R"({"type":"object","properties":{"a":{"type":"array"}}})"),
              ElementsAre("s.properties[a].items: Required value: must be specified"));
}

// CD-9
TEST(StructuralCheck, RefusesKeywordsThatKubernetesDoesNotHave) {
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"a":{"type":"string","$ref":"#/x","id":"i",
      "patternProperties":{"x":{"type":"string"}},"definitions":{"d":{"type":"string"}},
      "dependencies":{"a":["b"]},"uniqueItems":true}}})"),
      UnorderedElementsAre(
          "s.properties[a].$ref: Forbidden: $ref is not supported",
          "s.properties[a].id: Forbidden: id is not supported",
          "s.properties[a].patternProperties: Forbidden: patternProperties is not supported",
          "s.properties[a].definitions: Forbidden: definitions is not supported",
          "s.properties[a].dependencies: Forbidden: dependencies is not supported",
          "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
          "runtime complexity becomes quadratic"));
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"a":{"type":"null"}}})"),
      UnorderedElementsAre(
          "s.properties[a].type: Forbidden: type cannot be set to null, use nullable as an "
          "alternative",
          R"(s.properties[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string")"));
  EXPECT_THAT(
      problems(
          R"({"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}})"),
      ElementsAre(
          "s.properties[a].items: Forbidden: items must be a schema object and not an array"));
}

// CD-9
TEST(StructuralCheck, KeepsPropertiesAndAdditionalPropertiesApart) {
  EXPECT_THAT(
      problems(
          R"({"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"}},
      "additionalProperties":{"type":"string"}}}})"),
      ElementsAre("s.properties[a].additionalProperties: Forbidden: additionalProperties and "
                  "properties are mutual exclusive"));
  EXPECT_THAT(problems(R"({"type":"object","additionalProperties":true})"),
              ElementsAre("s.additionalProperties: Forbidden: must not be used at the root"));
}

// CD-9
TEST(StructuralCheck, AllowsJunctorsOnlyToRestrict) {
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"a":{"type":"string"}},
      "allOf":[{"type":"object","description":"d","properties":{"b":{"minLength":1}}}]})"),
      UnorderedElementsAre("s.allOf[0].type: Forbidden: must be empty to be structural",
                           "s.allOf[0].description: Forbidden: must be empty to be structural",
                           "s.properties[b]: Required value: because it is defined in "
                           "s.allOf[0].properties[b]"));
}

// CD-9
TEST(StructuralCheck, ChecksExtensions) {
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{
      "a":{"type":"string","x-kubernetes-list-type":"set"},
      "b":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"bag"},
      "c":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}},
           "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","z"]},
      "d":{"type":"object","x-kubernetes-embedded-resource":true}}})"),
      UnorderedElementsAre(
          R"(s.properties[a].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified)",
          R"(s.properties[b].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map")",
          "s.properties[c].items.properties[k].default: Required value: this property is in "
          "x-kubernetes-list-map-keys, so it must have a default or be a required property",
          R"(s.properties[c].x-kubernetes-list-map-keys: Invalid value: ["k","z"]: entries must all be names of item properties)",
          "s.properties[d].properties: Required value: must not be empty if "
          "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
}

// CD-9, CD-7
TEST(StructuralCheck, ChecksPatternsAndDefaults) {
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"a":{"type":"string","pattern":"(("}}})"),
      ElementsAre(::testing::StartsWith(
          R"(s.properties[a].pattern: Invalid value: "((": must be a valid regular expression, but isn't: )")));
  EXPECT_THAT(
      problems(
          R"({"type":"object","properties":{"a":{"type":"integer","minimum":5,"default":3}}})"),
      ElementsAre(
          "s.properties[a].default: Invalid value: 3: s.properties[a].default in body should be "
          "greater than or equal to 5"));
  EXPECT_THAT(
      problems(
          R"({"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"}},
      "default":{"y":1}}}})"),
      ElementsAre(
          R"(s.properties[a].default: Invalid value: {"y":1}: must not have unknown fields)"));
}

// CD-9: the schema of metadata is defined by the server
TEST(StructuralCheck, LeavesMetadataAlone) {
  EXPECT_THAT(
      problems(R"({"type":"object","properties":{"metadata":{"type":"object",
      "properties":{"labels":{"type":"object"}}},"kind":{"type":"integer"}}})"),
      UnorderedElementsAre(
          "s.properties[metadata]: Forbidden: must not specify anything other than name and "
          "generateName, but metadata is implicitly specified",
          R"(s.properties[kind].type: Invalid value: "integer": must be string)"));
}

TEST(StructuralCheck, HandlesMalformedSchemas) {
  for (const char* schema :
       {"[]", "null", R"({"type":7})", R"({"type":"object","properties":[]})",
        R"({"type":"object","properties":{"a":1}})", R"({"type":"object","required":1})",
        R"({"type":"object","allOf":{}})"}) {
    static_cast<void>(problems(schema));
  }
}

}  // namespace
}  // namespace kube::testkit::detail
