// SPDX-License-Identifier: Apache-2.0
#include "crd.hpp"

#include "header_output.hpp"
#include <kube/codec/json.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube::gen {
namespace {

constexpr std::string_view kDefinition = R"({{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "spec": {{
    "group": "example.com", "scope": "Namespaced", "names": {{"kind": "Foo", "plural": "foos"}},
    "versions": [{{"name": "v1", "served": true, "schema": {{"openAPIV3Schema": {}}}}}]}}}})";

Document document(const std::string& json) {
  return {"foo.json", decode_json<Value>(json), json_key_order(json)};
}

/// Returns the members of the kind, given the JSON of its properties.
std::vector<Member> members_of(const std::string& properties, const std::string& required = "[]") {
  const std::string schema = fmt::format(
      R"({{"type": "object", "required": {}, "properties": {}}})", required, properties);
  const std::vector<Package> packages = read_crds({document(fmt::format(kDefinition, schema))}, "");
  return packages.at(0).structs.back().members;
}

std::string error_of(const std::string& schema) {
  try {
    static_cast<void>(read_crds({document(fmt::format(kDefinition, schema))}, ""));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string spelling(const std::string& schema, const std::string& required = "[]") {
  return spell(members_of(R"({"x": )" + schema + "}", required).at(1).shape, Site::kInside);
}

TEST(ReadCrds, MapsRequiredFieldsToPlainTypesAndOthersToOptionalOnes) {
  const std::string required = R"(["x"])";

  EXPECT_EQ(spelling(R"({"type": "string"})"), "OptionalString");
  EXPECT_EQ(spelling(R"({"type": "string"})", required), "String");
  EXPECT_EQ(spelling(R"({"type": "integer"})"), "std::optional<std::int64_t>");
  EXPECT_EQ(spelling(R"({"type": "integer", "format": "int32"})", required), "std::int32_t");
  EXPECT_EQ(spelling(R"({"type": "boolean"})", required), "bool");
  EXPECT_EQ(spelling(R"({"type": "number"})"), "std::optional<double>");
  EXPECT_EQ(spelling(R"({"type": "object", "properties": {"y": {"type": "string"}}})"),
            "Box<FooX>");
  EXPECT_EQ(spelling(R"({"type": "object", "properties": {"y": {"type": "string"}}})", required),
            "FooX");
}

TEST(ReadCrds, WritesNullForARequiredFieldThatMayBeNull) {
  const Member member =
      members_of(R"({"x": {"type": "string", "nullable": true}})", R"(["x"])").at(1);

  EXPECT_EQ(member.shape.name, "OptionalString");
  EXPECT_FALSE(member.omit_empty);
}

TEST(ReadCrds, KeepsUndescribedContent) {
  EXPECT_EQ(spelling(R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})"),
            "Value");
  EXPECT_EQ(spelling(R"({"type": "object", "x-kubernetes-embedded-resource": true})"), "Value");
  EXPECT_EQ(spelling(R"({"type": "object"})"), "Value");
  EXPECT_EQ(spelling(R"({"x-kubernetes-preserve-unknown-fields": true})"), "Value");
}

TEST(ReadCrds, MapsContainers) {
  EXPECT_EQ(spelling(R"({"type": "array", "items": {"type": "string"}})"), "List<String>");
  EXPECT_EQ(spelling(R"({"type": "array", "items": {"type": "string", "nullable": true}})"),
            "List<Value>");
  EXPECT_EQ(spelling(R"({"type": "object", "additionalProperties": {"type": "boolean"}})"),
            "Map<bool>");
  EXPECT_EQ(spelling(R"({"type": "object", "additionalProperties": true})"), "Map<Value>");
}

TEST(ReadCrds, KeepsTimesAsText) {
  // A Time has whole seconds: a round trip would change a value that another client wrote.
  EXPECT_EQ(spelling(R"({"type": "string", "format": "date-time"})"), "OptionalString");
}

TEST(ReadCrds, NamesTheLocationOfAProblem) {
  const std::string path = "foo.json: spec.versions[0].schema.openAPIV3Schema";

  EXPECT_EQ(error_of("3"), path + ": expected object, found integer");
  EXPECT_EQ(error_of(R"({"type": "object", "properties": {"x": {}}})"),
            path + ".properties.x: the type is missing");
  EXPECT_EQ(error_of(R"({"type": "object", "properties": {"x": {"type": "strin"}}})"),
            path + R"(.properties.x.type: "strin" is not a type)");
  EXPECT_EQ(error_of(R"({"type": "object", "properties": {"x": {"type": "array"}}})"),
            path + ".properties.x: the schema of the items is missing");
  EXPECT_EQ(
      error_of(R"({"type": "object", "properties": {"x": {"$ref": "#/y"}}})"),
      path + ".properties.x.$ref: the schema of a custom resource cannot refer to another one");
}

TEST(ReadCrds, RefusesNamesThatCannotBeDescribed) {
  const auto with_name = [](const std::string& name) {
    return error_of(
        fmt::format(R"({{"type": "object", "properties": {{"{}": {{"type": "string"}}}}}})", name));
  };

  EXPECT_NE(with_name("").find("without a name"), std::string::npos);
  EXPECT_NE(with_name(std::string(256, 'x')).find("more than 255 bytes"), std::string::npos);
  EXPECT_NE(with_name("a\\u0000b").find("NUL"), std::string::npos);
  EXPECT_EQ(with_name(std::string(255, 'x')), "no error");
}

TEST(ReadCrds, RefusesNestingWithoutEnd) {
  std::string schema = R"({"type": "string"})";
  for (int i = 0; i < 100; ++i) schema = R"({"type": "array", "items": )" + schema + "}";

  EXPECT_NE(error_of(R"({"type": "object", "properties": {"x": )" + schema + "}}").find("nested"),
            std::string::npos);
}

TEST(ReadCrds, RefusesOtherVersionsOfDefinitions) {
  const Document old = document(
      R"({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"})");

  EXPECT_THROW(static_cast<void>(read_crds({old}, "")), InputError);
}

TEST(ReadCrds, RefusesDocumentsWithoutADefinition) {
  const Document pod = document(R"({"apiVersion": "v1", "kind": "Pod"})");

  EXPECT_THROW(static_cast<void>(read_crds({pod}, "")), InputError);
}

TEST(ReadCrds, RefusesTheSameKindTwice) {
  const Document foo = document(fmt::format(kDefinition, R"({"type": "object"})"));

  EXPECT_THROW(static_cast<void>(read_crds({foo, foo}, "")), InputError);
}

/// Removes comments and literals; the rest of a header must not contain any input.
std::string code_only(const std::string& header) {
  std::string code;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header.compare(i, 2, "//") == 0) {
      i = header.find('\n', i);
    } else if (header[i] == '"') {
      for (++i; header[i] != '"'; ++i) i += header[i] == '\\' ? 1 : 0;
    } else {
      code += header[i];
    }
  }
  return code;
}

TEST(UserHeader, ShowsNoTextOfTheSchemaOutsideCommentsAndLiterals) {
  // Each byte is tried where it could do harm: in a name, a description, a default and a value.
  for (int c = 1; c < 128; ++c) {
    const std::string text =
        encode_json(Value{std::string{static_cast<char>(c)} + "@@" + static_cast<char>(c)});
    const std::string schema = fmt::format(
        R"({{"type": "object", "description": {0}, "properties": {{{0}: {{"type": "string",
            "description": {0}, "default": {0}, "enum": [{0}]}}}}}})",
        text);
    const std::vector<Package> packages =
        read_crds({document(fmt::format(kDefinition, schema))}, "");

    const std::string header = user_header(packages, {"1", "foo.yaml\n@@\\"});

    EXPECT_EQ(code_only(header).find('@'), std::string::npos) << "byte " << c;
    EXPECT_EQ(header.find("\\\n"), std::string::npos) << "byte " << c;
    EXPECT_EQ(header.find("\?\?"), std::string::npos) << "byte " << c;
  }
}

std::vector<std::string> names_of(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(member.json);
  return names;
}

TEST(Crd, DeclaresFieldsInTheOrderOfTheDefinition) {
  EXPECT_EQ(names_of(members_of(R"({"status": {"type": "string"}, "spec": {"type": "string"},
                                    "apiVersion": {"type": "string"}, "alpha": {"type": "string"},
                                    "metadata": {"type": "object"}, "a\u0062": {"type": "string"}})")),
            (std::vector<std::string>{"metadata", "status", "spec", "alpha", "ab"}));
}

TEST(Crd, WritesJsonInTheOrderOfServersNevertheless) {
  const std::string schema =
      R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {
          "z": {"type": "string"}, "m": {"type": "string"}, "a": {"type": "string"}}}}})";

  const std::vector<Package> packages = read_crds({document(fmt::format(kDefinition, schema))}, "");

  const Struct& spec = packages.at(0).structs.at(0);
  EXPECT_EQ(names_of(spec.members), (std::vector<std::string>{"z", "m", "a"}));
  EXPECT_EQ(spec.json_order, (std::vector<std::size_t>{2, 1, 0}));
}

TEST(KeyOrder, IsThatOfTheTextInJsonAndYaml) {
  const auto show = [](const KeyOrder& order) {
    std::string text;
    for (const auto& [key, below] : order.members) {
      text += key + ' ';
      for (const KeyOrder& element : below.elements) {
        for (const auto& member : element.members) text += "[" + member.key + "] ";
      }
    }
    return text;
  };

  const KeyOrder json =
      json_key_order(R"( { "b" : [ 1, {"y": {}, "x": "]}"} ] , "a":null, "c":{} } )");
  const std::vector<KeyOrder> yaml =
      yaml_key_orders("---\n---\nb:\n- 1\n- y: {}\n  x: 1\na:\nc: {}\n---\nd: 1\n");

  EXPECT_EQ(show(json), "b [y] [x] a c ");
  ASSERT_EQ(yaml.size(), 2U);
  EXPECT_EQ(show(yaml[0]), "b [y] [x] a c ");
  EXPECT_EQ(show(yaml[1]), "d ");
}

TEST(KeyOrder, PutsKeysThatAreNotInTheTextLast) {
  const Ref<Value> root = decode_json<Value>(R"({"a": 1, "b": 2})");
  const KeyOrder order = json_key_order(R"({"b": 2})");
  const Place place{"foo.json", *root, &order};

  EXPECT_LT(place.position_of("b"), place.position_of("a"));
  EXPECT_EQ((Place{"foo.json", *root}).position_of("a"),
            (Place{"foo.json", *root}).position_of("b"));
}

}  // namespace
}  // namespace kube::gen
