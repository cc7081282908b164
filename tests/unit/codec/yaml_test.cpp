// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kube {
namespace {

std::string json_of(std::string_view yaml) { return encode_json(*decode_yaml<Value>(yaml)); }

std::string error_of(std::string_view yaml) {
  try {
    static_cast<void>(decode_yaml_documents(yaml));
  } catch (const CodecError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Yaml, ReadsAnObjectOfTheApi) {
  const auto pod = decode_yaml<core::v1::Pod>(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {app: web}\nspec:\n"
      "  containers:\n  - name: a\n    image: nginx\n    ports: [{containerPort: 80}]\n");

  EXPECT_EQ(pod->metadata.labels.at("app"), "web");
  EXPECT_EQ(pod->spec.containers[0].ports[0].container_port, 80);
}

TEST(Yaml, ResolvesPlainWordsLikeKubernetes) {
  EXPECT_EQ(json_of("[yes, Off, ~, null, 1, -2, 0x10, 010, 1.5, 1e3, abc]"),
            "[true,false,null,null,1,-2,16,8,1.5,1000,\"abc\"]");
  EXPECT_EQ(json_of("['yes', \"1\", !!str 2, '']"), R"(["yes","1","2",""])");
}

TEST(Yaml, ReadsBlocksAndAnchors) {
  EXPECT_EQ(json_of("a: |\n  one\n  two\nb: >-\n  three\n  four\n"),
            R"({"a":"one\ntwo\n","b":"three four"})");
  EXPECT_EQ(json_of("a: &x {k: [1]}\nb: *x\n"), R"({"a":{"k":[1]},"b":{"k":[1]}})");
}

TEST(Yaml, ReadsSeveralDocuments) {
  EXPECT_EQ(decode_yaml_documents("a: 1\n---\n---\n# nothing\n---\nb: 2\n").size(), 2U);
  EXPECT_TRUE(decode_yaml_documents("").empty());
  EXPECT_THROW(static_cast<void>(decode_yaml<Value>("a: 1\n---\nb: 2\n")), CodecError);
  EXPECT_THROW(static_cast<void>(decode_yaml<Value>("")), CodecError);
}

TEST(Yaml, NamesTheLocationOfAnError) {
  EXPECT_EQ(error_of("spec:\n  a: 1\n  a: 2\n"),
            "spec: line 3, column 3: key \"a\" is set twice (byte 15)");
  EXPECT_NE(error_of("a: [1").find("line"), std::string::npos);
  EXPECT_NE(error_of("? [a]\n: b\n").find("key is not a string"), std::string::npos);
}

TEST(Yaml, RefusesToRepeatAliasesWithoutEnd) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ",*a") + last;
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("too many values"), std::string::npos);
}

TEST(Yaml, RefusesToNestWithoutEnd) {
  EXPECT_NE(error_of(std::string(5000, '[')), "nothing was thrown");
}

TEST(Yaml, ReadsBackWhatItWrites) {
  const Value value = Value::object(
      {{"text", "plain"},
       {"quoted",
        Value::array({"yes", "1", "", " x", "a: b", "- c", "#", "line\nbreak", "~", "0x1"})},
       {"empty", Value::object({{"list", Value::array()}, {"object", Value::object()}})},
       {"nested", Value::array({Value::object({{"a", 1}, {"b", Value::array({true, nullptr})}}),
                                Value::array({Value::array({1.5, -2})})})},
       {"key: odd", "value"}});

  EXPECT_EQ(*decode_yaml<Value>(yaml_from_json(value)), value);
  EXPECT_EQ(yaml_from_json(Value::object({{"a", Value::array({1, Value::object({{"b", "c"}})})}})),
            "a:\n- 1\n- b: c\n");
}

TEST(Yaml, WritesObjectsOfTheApi) {
  EXPECT_EQ(encode_yaml(core::v1::ConfigMap{.metadata = {.name = "a"}, .data = {{"k", "1"}}}),
            "apiVersion: v1\ndata:\n  k: \"1\"\nkind: ConfigMap\nmetadata:\n  name: a\n");
}

TEST(Yaml, OwnKeysOverrideMergedKeysInAnyOrder) {
  const Ref<Value> value = decode_yaml<Value>(
      "base: &base {color: red, size: 1}\n"
      "before: {<<: *base, color: blue}\n"
      "after: {color: blue, <<: *base}\n");

  for (const char* place : {"before", "after"}) {
    EXPECT_EQ((*value)[place]["color"].as_string(), "blue") << place;
    EXPECT_EQ((*value)[place]["size"].as_integer(), 1) << place;
  }
}

// Regression: a map of n keys took quadratic time.
TEST(Yaml, ReadsAMapOfManyKeys) {
  std::string text;
  for (int i = 100'000; i > 0; --i)
    text += "k" + std::to_string(i) + ": " + std::to_string(i) + "\n";

  EXPECT_EQ(decode_yaml<Value>(text)->as_object().size(), 100'000U);
}

}  // namespace
}  // namespace kube
