// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/structural_schema.hpp"
#include "testkit/validation/string_formats.hpp"
#include "values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns a schema with these properties of spec.
std::string with_spec(std::string_view properties) {
  return R"({"type":"object","properties":{"spec":{"type":"object","properties":)" +
         std::string{properties} + "}}}";
}

std::vector<std::string> errors(const std::string& schema, std::string_view object,
                                std::string_view old = {}) {
  const StructuralSchema structural{json(schema)};
  const Value before = old.empty() ? Value{} : json(old);
  std::vector<std::string> texts;
  for (const FieldError& error :
       structural.validate(json(object), old.empty() ? nullptr : &before)) {
    texts.push_back(error.text());
  }
  return texts;
}

std::string pruned(const std::string& schema, std::string_view object) {
  Value value = json(object);
  StructuralSchema{json(schema)}.prune(value);
  return text(value);
}

std::string defaulted(const std::string& schema, std::string_view object) {
  Value value = json(object);
  StructuralSchema{json(schema)}.apply_defaults(value);
  return text(value);
}

// CD-8
TEST(StructuralSchema, ReportsTheExpectedType) {
  const std::string schema = with_spec(
      R"({"replicas":{"type":"integer"},"x":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer","format":"int32"}})");
  EXPECT_THAT(
      errors(schema, R"({"spec":{"replicas":"x"}})"),
      ElementsAre(
          R"(spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string")"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"replicas":1.5,"x":7,"n":1}})"),
      ElementsAre(
          R"(spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number")",
          R"(spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer")"));
  EXPECT_THAT(errors(schema, R"({"spec":{"replicas":2.0}})"), IsEmpty());
  EXPECT_THAT(
      errors(schema, R"({"spec":[]})"),
      ElementsAre(R"(spec: Invalid value: "array": spec in body must be of type object: "array")"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"i":4294967296}})"),
      ElementsAre(
          R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i)"));
}

// CD-8, ER-3
TEST(StructuralSchema, NamesTheTypeOfTheCause) {
  const StructuralSchema schema{json(with_spec(
      R"({"a":{"type":"string","enum":["x","y"],"maxLength":3},"b":{"type":"array","maxItems":1,"items":{"type":"string"}},"c":{"type":"integer"}})"))};
  std::vector<std::pair<std::string, std::string>> causes;
  for (const FieldError& error :
       schema.validate(json(R"({"spec":{"a":"zzzz","b":["p","q"],"c":true}})"))) {
    causes.emplace_back(error.type, error.text());
  }
  using Cause = std::pair<std::string, std::string>;
  EXPECT_THAT(
      causes,
      ElementsAre(
          Cause{"FieldValueTooLong", "spec.a: Too long: may not be more than 3 bytes"},
          Cause{"FieldValueNotSupported",
                R"(spec.a: Unsupported value: "zzzz": supported values: "x", "y")"},
          Cause{"FieldValueTooMany", "spec.b: Too many: 2: must have at most 1 item"},
          Cause{
              "FieldValueTypeInvalid",
              R"(spec.c: Invalid value: "boolean": spec.c in body must be of type integer: "boolean")"}));
}

// CD-8
TEST(StructuralSchema, ChecksRangesLengthsAndPatterns) {
  const std::string schema = with_spec(R"({
    "min":{"type":"integer","minimum":2,"maximum":5},
    "ex":{"type":"number","exclusiveMinimum":true,"minimum":0.5},
    "mul":{"type":"integer","multipleOf":3},
    "short":{"type":"string","minLength":2},
    "pat":{"type":"string","pattern":"^[a-z]+$"},
    "list":{"type":"array","minItems":1,"items":{"type":"string"}},
    "map":{"type":"object","minProperties":1,"maxProperties":2,"additionalProperties":{"type":"integer"}}})");
  EXPECT_THAT(
      errors(schema,
             R"({"spec":{"min":1,"ex":0.5,"mul":4,"short":"ä","pat":"A1","list":[],"map":{}}})"),
      ElementsAre(
          "spec.ex: Invalid value: 0.5: spec.ex in body should be greater than 0.5",
          "spec.list: Invalid value: 0: spec.list in body should have at least 1 items",
          "spec.map: Invalid value: 0: spec.map in body should have at least 1 properties",
          "spec.min: Invalid value: 1: spec.min in body should be greater than or equal to 2",
          "spec.mul: Invalid value: 4: spec.mul in body should be a multiple of 3",
          R"(spec.pat: Invalid value: "A1": spec.pat in body should match '^[a-z]+$')",
          R"(spec.short: Invalid value: "ä": spec.short in body should be at least 2 chars long)"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"min":6,"map":{"a":1,"b":"x","c":3}}})"),
      ElementsAre(
          "spec.map: Too many: 3: must have at most 2 items",
          R"(spec.map.b: Invalid value: "string": spec.map.b in body must be of type integer: "string")",
          "spec.min: Invalid value: 6: spec.min in body should be less than or equal to 5"));
  EXPECT_THAT(
      errors(
          schema,
          R"({"spec":{"min":3,"ex":0.6,"mul":9,"short":"ab","pat":"abc","list":["x"],"map":{"a":1}}})"),
      IsEmpty());
}

// CD-8
TEST(StructuralSchema, ReportsMissingRequiredFields) {
  EXPECT_THAT(
      errors(R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object"}}})",
             "{}"),
      ElementsAre("spec: Required value"));
  EXPECT_THAT(
      errors(
          R"({"type":"object","properties":{"spec":{"type":"array","items":{"type":"object","required":["a","b"],
      "properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}})",
          R"({"spec":[{"a":"x"},{}]})"),
      ElementsAre("spec[0].b: Required value", "spec[1].a: Required value",
                  "spec[1].b: Required value"));
}

// CD-8
TEST(StructuralSchema, AllowsNullOnlyWhereItIsNullable) {
  const std::string schema =
      with_spec(R"({"a":{"type":"string","nullable":true},"b":{"type":"string"}})");
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":null,"b":null}})"),
      ElementsAre(
          R"(spec.b: Invalid value: "null": spec.b in body must be of type string: "null")"));
}

// CD-8
TEST(StructuralSchema, AcceptsIntegersOrStrings) {
  const std::string schema = with_spec(
      R"({"p":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}})");
  EXPECT_THAT(errors(schema, R"({"spec":{"p":1}})"), IsEmpty());
  EXPECT_THAT(errors(schema, R"({"spec":{"p":"http"}})"), IsEmpty());
  EXPECT_THAT(
      errors(schema, R"({"spec":{"p":true}})"),
      ElementsAre(
          R"(spec.p: Invalid value: "boolean": spec.p in body must be of type integer,string: "boolean")"));
}

// CD-8
TEST(StructuralSchema, CombinesSchemas) {
  const std::string schema = R"({"type":"object","properties":{"spec":{"type":"object",
    "properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"}},
    "oneOf":[{"required":["a"]},{"required":["b"]}],
    "anyOf":[{"properties":{"c":{"minimum":5}}},{"properties":{"c":{"maximum":1}}}],
    "allOf":[{"properties":{"c":{"maximum":9}}}],
    "not":{"required":["a"],"properties":{"a":{"maximum":0}}}}}})";
  EXPECT_THAT(errors(schema, R"({"spec":{"a":1,"c":7}})"), IsEmpty());
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":1,"b":1}})"),
      ElementsAre(
          R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives)"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{}})"),
      ElementsAre(
          R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid)",
          "spec.a: Required value"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":1,"c":3}})"),
      ElementsAre(R"(<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf))",
                  "spec.c: Invalid value: 3: spec.c in body should be greater than or equal to 5"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":1,"c":10}})"),
      ElementsAre(
          "spec.c: Invalid value: 10: spec.c in body should be less than or equal to 9",
          R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated)"));
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":0}})"),
      ElementsAre(R"(<nil>: Invalid value: "": "spec" must not validate the schema (not))"));
}

// CD-8
TEST(StructuralSchema, FindsDuplicatesInSetsAndListMaps) {
  const std::string schema = with_spec(R"({
    "s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
         "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}})");
  EXPECT_THAT(
      errors(schema, R"({"spec":{"s":["a","b","a","a"],"m":[{"k":"x","v":1},{"k":"x","v":2}]}})"),
      ElementsAre(R"(spec.m[1]: Duplicate value: {"k":"x"})",
                  R"(spec.s[2]: Duplicate value: "a")"));
}

// CD-8: errors in stored, unchanged values are not reported
TEST(StructuralSchema, ToleratesUnchangedInvalidParts) {
  const std::string schema =
      with_spec(R"({"a":{"type":"integer","maximum":5},"b":{"type":"integer","maximum":5},
    "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
         "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer","maximum":1}}}}})");
  const char* old = R"({"spec":{"a":9,"b":1,"m":[{"k":"x","v":7},{"k":"y","v":1}]}})";
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":9,"b":2,"m":[{"k":"y","v":0},{"k":"x","v":7}]}})", old),
      IsEmpty());
  EXPECT_THAT(
      errors(schema, R"({"spec":{"a":8,"b":2,"m":[{"k":"y","v":7}]}})", old),
      ElementsAre(
          "spec.a: Invalid value: 8: spec.a in body should be less than or equal to 5",
          "spec.m[0].v: Invalid value: 7: spec.m[0].v in body should be less than or equal to 1"));
}

// CD-8
TEST(StructuralSchema, ChecksFormats) {
  const std::string schema = with_spec(
      R"({"d":{"type":"string","format":"date-time"},"u":{"type":"string","format":"nonsense"}})");
  EXPECT_THAT(errors(schema, R"({"spec":{"d":"2026-01-02T03:04:05Z","u":"x"}})"), IsEmpty());
  EXPECT_THAT(
      errors(schema, R"({"spec":{"d":"soon"}})"),
      ElementsAre(
          R"(spec.d: Invalid value: "soon": spec.d in body must be of type date-time: "soon")"));
  struct Row {
    const char* format;
    const char* good;
    const char* bad;
  };
  for (const Row& row :
       {Row{"byte", "aGVsbG8=", "a"}, Row{"date", "2026-02-28", "2026-02-30"},
        Row{"duration", "1h5m", "1x"}, Row{"email", "a@b.example", "a.b"},
        Row{"hostname", "a.example", "-a"}, Row{"ipv4", "10.0.0.1", "10.0.0.256"},
        Row{"ipv6", "fe80::1", "10.0.0.1"}, Row{"cidr", "10.0.0.0/8", "10.0.0.0/33"},
        Row{"mac", "01:23:45:67:89:ab", "01:23"}, Row{"uri", "https://a.example/x", "a b"},
        Row{"uuid", "123e4567-e89b-12d3-a456-426614174000", "123"}, Row{"hexcolor", "#fff", "#ff"},
        Row{"k8s-short-name", "a-b", "A"}, Row{"k8s-long-name", "a.b", "a..b"}}) {
    EXPECT_TRUE(has_format(row.format, row.good)) << row.format;
    EXPECT_FALSE(has_format(row.format, row.bad)) << row.format;
  }
}

// CD-8: hostile strings and patterns
TEST(StructuralSchema, MatchesLongTextsWithoutDeepRecursion) {
  const Pattern words{"^([a-z]+ ?)*$"};
  EXPECT_TRUE(words.found_in(std::string(5000, 'a')));
  EXPECT_TRUE(Pattern{"^[a-z]*$"}.found_in(std::string(2'000'000, 'a')));
  EXPECT_FALSE(Pattern{"^(a+)+$"}.found_in(std::string(40, 'a') + '!'));
  EXPECT_FALSE(Pattern{"^b$"}.found_in("a\nb\nc"));
  EXPECT_TRUE(Pattern{"(?P<year>[0-9]{4})"}.found_in("in 2026"));
}

// CD-6
TEST(StructuralSchema, PrunesUnknownFields) {
  const std::string schema =
      with_spec(R"({"a":{"type":"object","properties":{"x":{"type":"string"}}},
    "l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"string"}}}},
    "m":{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"string"}}}},
    "p":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"k":{"type":"object","properties":{}}}}})");
  Value value = json(
      R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","odd":1},"extra":1,"spec":{"a":{"x":"1","y":2},
    "l":[{"x":"1"},{"z":1}],"m":{"any":{"x":"1","y":2}},"p":{"free":{"deep":1},"k":{"gone":1}},"q":{}}})");

  const auto removed = StructuralSchema{json(schema)}.prune(value);

  EXPECT_EQ(
      text(value),
      R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","odd":1},"spec":{"a":{"x":"1"},"l":[{"x":"1"},{}],"m":{"any":{"x":"1"}},"p":{"free":{"deep":1},"k":{}}}})");
  EXPECT_THAT(removed, ElementsAre("extra", "spec.a.y", "spec.l[1].z", "spec.m.any.y",
                                   "spec.p.k.gone", "spec.q"));
}

// CD-6
TEST(StructuralSchema, KeepsTypeAndMetadataOfEmbeddedResources) {
  const std::string schema = with_spec(
      R"({"t":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}})");
  EXPECT_EQ(
      pruned(
          schema,
          R"({"spec":{"t":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"spec":{"a":"1","b":2},"x":1}}})"),
      R"({"spec":{"t":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"spec":{"a":"1"}}}})");
  EXPECT_THAT(errors(schema, R"({"spec":{"t":{"kind":"Pod"}}})"),
              ElementsAre("spec.t.apiVersion: Required value: must not be empty"));
}

// CD-7
TEST(StructuralSchema, FillsInDefaultsParentsFirst) {
  const std::string schema = with_spec(
      R"({"a":{"type":"object","default":{},"properties":{"x":{"type":"integer","default":3}}},
    "b":{"type":"string","default":"d"},"l":{"type":"array","items":{"type":"object","properties":{"y":{"type":"boolean","default":true}}}}})");
  EXPECT_EQ(defaulted(schema, R"({"spec":{"l":[{},{"y":false}]}})"),
            R"({"spec":{"a":{"x":3},"b":"d","l":[{"y":true},{"y":false}]}})");
  EXPECT_EQ(defaulted(schema, R"({"spec":{"a":{"x":1},"b":"mine"}})"),
            R"({"spec":{"a":{"x":1},"b":"mine"}})");
  EXPECT_EQ(defaulted(schema, "{}"), "{}");
}

// CD-7
TEST(StructuralSchema, TreatsForbiddenNullsAsMissing) {
  const std::string schema = with_spec(
      R"({"a":{"type":"string","default":"d"},"b":{"type":"string"},"c":{"type":"string","nullable":true,"default":"e"}})");
  EXPECT_EQ(defaulted(schema, R"({"spec":{"a":null,"b":null,"c":null}})"),
            R"({"spec":{"a":"d","c":null}})");
}

// CD-6
TEST(StructuralSchema, PruningIsIdempotent) {
  std::mt19937 random{7};
  for (int i = 0; i < 500; ++i) {
    Value properties = Value::object();
    for (char c = 'a'; c < 'f'; ++c) {
      const std::string name(1, c);
      switch (random() % 5) {
        case 0:
          properties[name] = json(R"({"type":"string"})");
          break;
        case 1:
          properties[name] = json(
              R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}})");
          break;
        case 2:
          properties[name] = json(
              R"({"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}})");
          break;
        case 3:
          properties[name] =
              json(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})");
          break;
        default:
          break;
      }
    }
    Value schema = json(R"({"type":"object"})");
    schema["properties"] = std::move(properties);
    const StructuralSchema structural{std::move(schema)};
    Value value = Value::object({{"a", test::random_value(random, 5)},
                                 {"b", test::random_value(random, 5)},
                                 {"d", test::random_value(random, 5)}});
    structural.prune(value);
    const std::string once = text(value);
    EXPECT_THAT(structural.prune(value), IsEmpty());
    EXPECT_EQ(text(value), once);
    structural.apply_defaults(value);
    static_cast<void>(structural.validate(value));
  }
}

}  // namespace
}  // namespace kube::testkit::detail
