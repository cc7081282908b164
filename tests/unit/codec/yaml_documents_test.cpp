// SPDX-License-Identifier: Apache-2.0
// YAML is read like the tools of Kubernetes do, and written so that it reads back.
#include <kube/codec/yaml.hpp>

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using test::error_of;

std::string json_of(std::string_view yaml) { return encode_json(*decode_yaml<Value>(yaml)); }

std::string refusal(std::string_view yaml) {
  return error_of([&] { return decode_yaml_documents(yaml); });
}

TEST(Yaml, ResolvesPlainWordsLikeYaml11) {
  const std::vector<std::pair<std::string_view, std::string_view>> words{
      // booleans
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"on", "true"},
      {"On", "true"},
      {"ON", "true"},
      {"y", "true"},
      {"Y", "true"},
      {"false", "false"},
      {"no", "false"},
      {"No", "false"},
      {"off", "false"},
      {"OFF", "false"},
      {"n", "false"},
      {"N", "false"},
      {"tRUE", "\"tRUE\""},
      {"yEs", "\"yEs\""},
      // null
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"nUll", "\"nUll\""},
      // integers
      {"0", "0"},
      {"-0", "0"},
      {"+1", "1"},
      {"-17", "-17"},
      {"017", "15"},
      {"-017", "-15"},
      {"0777", "511"},
      {"00", "0"},
      {"08", "8"},
      {"0o17", "15"},
      {"0O17", "15"},
      {"0o8", "\"0o8\""},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"+0x10", "16"},
      {"0x", "\"0x\""},
      {"0b11", "3"},
      {"-0b11", "-3"},
      {"0B11", "3"},
      {"1_000", "1000"},
      {"1_", "1"},
      {"0x_1", "1"},
      {"_1", "\"_1\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      // floating point
      {".5", "0.5"},
      {"1.", "1"},
      {"1.5", "1.5"},
      {"-0.0", "0"},
      {"09.5", "9.5"},
      {"1_0.5", "10.5"},
      {"1e3", "1000"},
      {"1E5", "100000"},
      {"1e21", "1e+21"},
      {"1e-400", "0"},
      // text that resembles a number
      {"1e400", "\"1e400\""},
      {"1e3x", "\"1e3x\""},
      {"1.2.3", "\"1.2.3\""},
      {"12:30:45", "\"12:30:45\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\""},
      {".", "\".\""},
      {"+", "\"+\""},
      {"=", "\"=\""},
      {"infinity", "\"infinity\""},
      {"nan", "\"nan\""},
      {"0x1p3", "\"0x1p3\""},
      // quoted or tagged
      {"'yes'", "\"yes\""},
      {"\"1\"", "\"1\""},
      {"'~'", "\"~\""},
      {"''", "\"\""},
      {"!!str 5", "\"5\""},
      {"!!str yes", "\"yes\""},
      {"! 5", "\"5\""},
      {"!!int \"5\"", "5"},
      {"!!bool \"yes\"", "true"},
      {"'it''s'", "\"it's\""},
      {"\"\\u0041\\n\\x41\\t\"", "\"A\\nA\\t\""},
  };
  for (const auto& [word, expected] : words) {
    EXPECT_EQ(json_of("a: " + std::string{word} + "\n"), "{\"a\":" + std::string{expected} + "}")
        << word;
  }
  EXPECT_EQ(decode_yaml<Value>("a: 9223372036854775808\n")->get_double("a"), 0x1p63);
}

TEST(Yaml, RefusesNumbersThatJsonDoesNotHave) {
  for (const std::string_view word : {".inf", "-.Inf", "+.INF", ".nan", ".NaN"}) {
    EXPECT_EQ(refusal("a:\n  b: " + std::string{word}),
              "a.b: line 2, column 6: JSON has no number " + std::string{word} + " (byte 8)");
  }
}

TEST(Yaml, ConvertsKeysToText) {
  EXPECT_EQ(json_of("1: a\n1.5: b\ntrue: c\n0x10: d\n010: e\n1_0: f\n"),
            R"({"1":"a","1.5":"b","10":"f","16":"d","8":"e","true":"c"})");
  EXPECT_EQ(json_of("yes: 1\nno: 2\n"), R"({"false":2,"true":1})");
  EXPECT_EQ(json_of("\"yes\": 1\n'1': 2\n"), R"({"1":2,"yes":1})");
  EXPECT_EQ(json_of("'': 1\n"), R"({"":1})");
}

TEST(Yaml, RejectsKeysThatAreNotText) {
  EXPECT_EQ(refusal("a:\n  ? [x]\n  : y\n"), "a: line 2, column 5: key is not a string (byte 7)");
  EXPECT_NE(refusal("? {x: 1}\n: y\n"), "nothing was thrown");
  EXPECT_NE(refusal("~: y\n"), "nothing was thrown");
}

TEST(Yaml, RejectsDuplicateKeys) {
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "line 3, column 1: key \"a\" is set twice (byte 10)");
  EXPECT_EQ(refusal("x:\n  - {a: 1, a: 2}\n"),
            "x[0]: line 2, column 12: key \"a\" is set twice (byte 14)");
  EXPECT_NE(refusal("yes: 1\ntrue: 2\n"), "nothing was thrown");
}

TEST(Yaml, ReadsSeveralDocuments) {
  const auto documents = decode_yaml_documents(
      "# first\nkind: A\n---\nkind: B\n...\n---\n---\n# empty\n---\n[1]\n---\n~\n");

  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0]->get_string("kind"), "A");
  EXPECT_EQ(documents[1]->get_string("kind"), "B");
  EXPECT_EQ(*documents[2], Value::array({1}));
}

TEST(Yaml, RequiresExactlyOneDocumentForAnObject) {
  EXPECT_EQ(error_of([] { return decode_yaml<Pod>("# nothing\n"); }),
            "expected one YAML document, found 0 (byte 0)");
  EXPECT_EQ(error_of([] { return decode_yaml<Pod>("kind: Pod\n---\nkind: Pod\n"); }),
            "expected one YAML document, found 2 (byte 0)");
  EXPECT_EQ(decode_yaml<Pod>("---\nkind: Pod\nmetadata: {name: p}\n---\n")->metadata.name, "p");
}

TEST(Yaml, ReadsJson) {
  const std::string item = test::recorded_items("apps_v1_deployments", Format::kJson).at(0);

  EXPECT_EQ(*decode_yaml<Value>(item), *decode_json<Value>(item));
  EXPECT_EQ(*decode_yaml<apps::v1::Deployment>(item), *decode_json<apps::v1::Deployment>(item));
}

TEST(Yaml, ReadsBlocksOfText) {
  EXPECT_EQ(json_of("a: |\n  x\n   y\n  z\n"), R"({"a":"x\n y\nz\n"})");
  EXPECT_EQ(json_of("a: |-\n  x\n"), R"({"a":"x"})");
  EXPECT_EQ(json_of("a: |+\n  x\n\n"), R"({"a":"x\n\n"})");
  EXPECT_EQ(json_of("a: >\n  x\n  y\n\n  z\n"), R"({"a":"x y\nz\n"})");
  EXPECT_EQ(json_of("a: |\n  yes\nb: |-\n  5\n"), R"({"a":"yes\n","b":"5"})");
  EXPECT_EQ(json_of("a: plain text\n  over lines\n"), R"({"a":"plain text over lines"})");
}

TEST(Yaml, ResolvesAnchorsAndAliases) {
  EXPECT_EQ(json_of("a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n"),
            R"({"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]},{"k":[1]}]})");
  EXPECT_EQ(json_of("a: &s yes\nb: *s\n"), R"({"a":true,"b":true})");
  EXPECT_NE(refusal("a: *unknown\n"), "nothing was thrown");
}

TEST(Yaml, MergesMaps) {
  EXPECT_EQ(json_of("base: &b {x: 1, k: 2}\nz:\n  <<: *b\n  k: 3\n"),
            R"({"base":{"k":2,"x":1},"z":{"k":3,"x":1}})");
  EXPECT_EQ(json_of("<<: [{k: 2, x: 1}, {k: 5, w: 6}]\n"), R"({"k":2,"w":6,"x":1})");
  EXPECT_EQ(json_of("z:\n  \"<<\": {k: 2}\n"), R"({"z":{"\u003c\u003c":{"k":2}}})");
  EXPECT_EQ(refusal("z:\n  <<: 5\n"),
            "z: line 2, column 7: <<: expected a map or a list of maps (byte 9)");
  EXPECT_NE(refusal("<<: [5]\n"), "nothing was thrown");
  EXPECT_NE(refusal("<<: ~\n"), "nothing was thrown");
}

TEST(Yaml, RefusesAliasesThatRepeatWithoutEnd) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  std::string maps = "a0: &a0 {k: v}\n";
  std::string merges = "a0: &a0 {k: v}\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + last + test::times(8, "," + last) + "]\n";
    maps += name + ": &" + name + " {x: " + last + ", y: " + last + "}\n";
    merges += name + ": &" + name + " {<<: [" + last + ", " + last + "]}\n";
  }
  for (const std::string& yaml : {bomb, maps, merges}) {
    EXPECT_TRUE(refusal(yaml).find("aliases") != std::string::npos) << refusal(yaml);
  }
}

TEST(Yaml, RejectsRecursiveAliases) {
  EXPECT_NE(refusal("&a [*a]\n"), "nothing was thrown");
  EXPECT_NE(refusal("&a {k: *a}\n"), "nothing was thrown");
  EXPECT_NE(refusal("&a {<<: *a}\n"), "nothing was thrown");
}

TEST(Yaml, RefusesDeepDocuments) {
  EXPECT_NE(refusal(std::string(100'000, '[')), "nothing was thrown");
  EXPECT_NE(refusal(test::times(300, "[") + test::times(300, "]")), "nothing was thrown");
  EXPECT_NE(refusal(test::times(100'000, "{a: ")), "nothing was thrown");
  EXPECT_NE(refusal(test::times(100'000, "- ")), "nothing was thrown");
  EXPECT_EQ(refusal(test::times(150, "[") + test::times(150, "]")), "nothing was thrown");
}

TEST(Yaml, NamesLineAndColumnOfAMistake) {
  const auto names = [](std::string_view yaml, std::string_view place) {
    return refusal(yaml).starts_with(place) ? "" : refusal(yaml);
  };
  EXPECT_EQ(names("a: 1\nb: [1, 2\nc: 3\n", "line 3, column 2"), "");
  EXPECT_EQ(names("a:\n\tb: 1\n", "line 2, column 3"), "");
  EXPECT_EQ(names("a: b: c\n", "line 1, column 5"), "");
  EXPECT_EQ(names("a: {x: 1\n", "line "), "");
  EXPECT_EQ(names("- 1\n- *x\n", "line 2, column 3"), "");
  EXPECT_EQ(names("%YAML 3.0\n---\na\n", "line 1"), "");
}

// Regression: the underlying parser delivered empty documents for ever.
TEST(Yaml, RejectsInvalidTokensBetweenDocuments) {
  EXPECT_EQ(refusal(","), "line 1, column 1: expected a document (byte 0)");
  EXPECT_EQ(refusal("- a\n,\n"), "line 2, column 1: expected a document (byte 4)");
  EXPECT_NE(refusal(", a\n"), "nothing was thrown");
  EXPECT_NE(refusal("a: 1\n---\n, b\n"), "nothing was thrown");
  EXPECT_EQ(decode_yaml_documents("---\n---\n---\na\n---\n---\nb\n").size(), 2U);
}

TEST(Yaml, NumbersDocumentsAndTellsTheirLines) {
  const auto documents = decode_yaml_stream("# first\na: 1\n---\n---\n\n# third\n[b]\n--- c\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].number, 1U);
  EXPECT_EQ(documents[0].line, 2U);
  EXPECT_EQ(documents[1].number, 3U);
  EXPECT_EQ(documents[1].line, 7U);
  EXPECT_EQ(documents[2].number, 4U);
  EXPECT_EQ(documents[2].line, 8U);
  EXPECT_EQ(documents[2].content->as_string(), "c");
}

TEST(Yaml, NamesTheMalformedDocument) {
  for (const std::string_view broken : {"a: [", "a: 1\na: 2", "'open", "@a", "a: *none"}) {
    try {
      (void)decode_yaml_stream("a: 1\n---\n---\n" + std::string{broken} + "\n---\nb: 2\n");
      ADD_FAILURE() << broken;
    } catch (const YamlError& error) {
      EXPECT_EQ(error.document(), 3U) << broken << ": " << error.what();
    }
  }
}

// Otherwise the rest of the document would become part of the text.
TEST(Yaml, RefusesQuotedTextWithoutAnEnd) {
  for (const std::string_view yaml :
       {"a: \"x\n", "a: \"x", "a: 'x\n", "a: 'x", "a: \"x\nb: 1\n", "a: 'x\n\nb: 1\n", "- \"\n"}) {
    EXPECT_TRUE(refusal(yaml).starts_with("line ")) << yaml << ": " << refusal(yaml);
  }
}

TEST(Yaml, RefusesWhatIsNotUtf8) {
  for (const std::string_view yaml : {"a: \"\xff\"\n", "\xff\xfe\xff: 1\n", "a: [\"\xc3\"]\n"}) {
    // A decoder may replace such bytes, but must not pass them on.
    try {
      for (const auto& document : decode_yaml_documents(yaml)) {
        EXPECT_NO_THROW(static_cast<void>(decode_json<Value>(encode_json(*document))));
      }
    } catch (const CodecError&) {
      SUCCEED();
    }
  }
}

TEST(Yaml, PropagatesErrorsOfTheType) {
  EXPECT_TRUE(error_of([] {
                return decode_yaml<Pod>("spec:\n  nodeName: 5\n");
              }).starts_with("spec.nodeName: expected string, found number"));
  EXPECT_TRUE(error_of([] {
                return decode_yaml<ConfigMap>("data:\n  enabled: yes\n");
              }).starts_with("data['enabled']: expected string, found boolean"));
  EXPECT_TRUE(error_of([] {
                return decode_yaml<Pod>("kind: Service\n");
              }).starts_with("expected kind \"Pod\", found \"Service\""));
}

TEST(Yaml, ReadsAPodAsItIsWrittenByHand) {
  const auto pod = decode_yaml<Pod>(R"(apiVersion: v1
kind: Pod
metadata:
  name: web          # a comment
  labels: {app: web, "release": '1'}
spec:
  hostNetwork: yes
  containers:
  - name: c
    image: "nginx:1.25"
    command: [sh, -c, "echo 'hi'"]
    resources:
      limits:
        cpu: 0.5
        memory: 1Gi
    ports:
    - containerPort: 0x50
    env:
    - name: SCRIPT
      value: |
        #!/bin/sh
        exit 0
    livenessProbe:
      httpGet: {port: http}
)");

  EXPECT_EQ(pod->metadata.labels.at("release"), "1");
  EXPECT_TRUE(pod->spec.host_network);
  const core::v1::Container& container = pod->spec.containers[0];
  EXPECT_EQ(container.command, (List<String>{"sh", "-c", "echo 'hi'"}));
  EXPECT_EQ(container.resources.limits.at("cpu"), Quantity{"500m"});
  EXPECT_EQ(container.ports[0].container_port, 80);
  EXPECT_EQ(container.env[0].value, "#!/bin/sh\nexit 0\n");
  EXPECT_EQ(container.liveness_probe->http_get->port, IntOrString{"http"});
}

// --- writing ---

TEST(Yaml, WritesBlocksWithListsUnderTheirKey) {
  Pod pod;
  pod.metadata.name = "web";
  pod.metadata.labels = {{"app", "web"}, {"release", "1"}};
  auto& container = pod.spec.containers.emplace_back();
  container.name = "c";
  container.command = {"sh", "-c", "exit 0"};
  container.env.emplace_back().name = "A";

  EXPECT_EQ(encode_yaml(pod), R"(apiVersion: v1
kind: Pod
metadata:
  labels:
    app: web
    release: "1"
  name: web
spec:
  containers:
  - command:
    - sh
    - "-c"
    - exit 0
    env:
    - name: A
    name: c
    resources: {}
status: {}
)");
}

TEST(Yaml, QuotesTextThatWouldReadAsAnotherType) {
  for (const std::string_view text : {"yes",
                                      "n",
                                      "y",
                                      "True",
                                      "null",
                                      "~",
                                      "",
                                      "1",
                                      "-1",
                                      "1_000",
                                      "0x10",
                                      "017",
                                      "1e3",
                                      ".5",
                                      ".inf",
                                      "-",
                                      "- a",
                                      "a: b",
                                      "a #b",
                                      "#a",
                                      "&a",
                                      "*a",
                                      "!a",
                                      "%a",
                                      "@a",
                                      "`a",
                                      "'a",
                                      "\"a",
                                      "{a",
                                      "[a",
                                      "a]",
                                      "a}",
                                      "a,b",
                                      "?",
                                      "? a",
                                      "|",
                                      ">",
                                      "<<",
                                      "=",
                                      " a",
                                      "a ",
                                      "a\nb",
                                      "a\tb",
                                      "\x7f",
                                      "\x01",
                                      "---",
                                      "...",
                                      "\xc3\xa4",
                                      "\xe2\x80\xa8",
                                      "\xf0\x9f\x98\x80",
                                      "a\\b",
                                      "2001-01-01",
                                      "12:30"}) {
    const Value value = Value::object({{text, Value::array({text, Value::object({{"k", text}})})}});

    EXPECT_EQ(*decode_yaml<Value>(yaml_from_json(value)), value) << yaml_from_json(value);
  }
}

TEST(Yaml, LeavesOrdinaryTextPlain) {
  EXPECT_EQ(yaml_from_json(Value::object(
                {{"image", "registry.example/web-1_2@sha256"}, {"words", "some ordinary words"}})),
            "image: registry.example/web-1_2@sha256\nwords: some ordinary words\n");
}

TEST(Yaml, WritesEveryKindOfValue) {
  for (const Value& value :
       {Value{nullptr}, Value{true}, Value{0}, Value{-5},
        Value{std::numeric_limits<std::int64_t>::min()}, Value{1.5}, Value{1e21}, Value{1e-7},
        Value{0x1p63}, Value{"text"}, Value::array(), Value::object(),
        Value::array({Value::array(), Value::array({Value::array({1})})}),
        Value::object({{"a", Value::object({{"b", Value::array({Value::object()})}})}})}) {
    const std::string yaml = yaml_from_json(value);
    if (value.is_null()) {
      EXPECT_EQ(yaml, "null\n");  // which is not a document
    } else {
      EXPECT_EQ(*decode_yaml<Value>(yaml), value) << yaml;
    }
  }
}

TEST(Yaml, ReadsBackEveryRecordedObject) {
  const Ref<Value> index = decode_json<Value>(test::fixture("index.json"));
  std::size_t objects = 0;
  for (const Value& entry : index->as_array()) {
    const std::string text = test::fixture(std::string{entry["file"].as_string()} + ".json");
    const Ref<Value> document = decode_json<Value>(text);

    ASSERT_EQ(*decode_yaml<Value>(yaml_from_json(*document)), *document)
        << entry["file"].as_string();
    ++objects;
  }
  EXPECT_GT(objects, 30U);
}

Value random_value(std::mt19937& random, int depth) {
  static const std::vector<std::string> texts{
      "",       "a",          "yes",       "no: way", "- x",        "  lead",
      "trail ", "tab\t",      "new\nline", "1.5",     "0x",         "#hash",
      "it's",   "\"quoted\"", "\\",        "{}",      "\xc3\xa4\n", "\xe2\x80\xa9"};
  switch (random() % (depth > 4 ? 5 : 8)) {
    case 0:
      return Value{nullptr};
    case 1:
      return Value{random() % 2 == 0};
    case 2:
      return Value{static_cast<std::int64_t>(random()) - 2'000'000'000};
    case 3:
      return Value{static_cast<double>(random()) / 977.0};
    case 4:
      return Value{texts[random() % texts.size()]};
    case 5: {
      Value array = Value::array();
      for (std::size_t i = random() % 4; i > 0; --i)
        array.push_back(random_value(random, depth + 1));
      return array;
    }
    default: {
      Value object = Value::object();
      for (std::size_t i = random() % 5; i > 0; --i) {
        object[texts[random() % texts.size()]] = random_value(random, depth + 1);
      }
      return object;
    }
  }
}

TEST(Yaml, ReadsBackRandomDocuments) {
  std::mt19937 random{99};
  for (int i = 0; i < 2000; ++i) {
    const Value value = Value::object({{"root", random_value(random, 0)}});
    const std::string yaml = yaml_from_json(value);

    ASSERT_EQ(*decode_yaml<Value>(yaml), value) << yaml;
  }
}

TEST(Yaml, ReadsBackLongKeys) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{1000}, std::size_t{2000}}) {
    const std::string long_key(size, 'k');
    const Value value = Value::object(
        {{long_key, Value::object({{"a", 1}, {long_key, Value::array({1, Value::object()})}})},
         {long_key + "2", Value::array({"x", Value::object({{long_key, Value::array({1})}})})},
         {std::string(size, ':'), 2},
         {"last", "one"}});

    EXPECT_EQ(*decode_yaml<Value>(yaml_from_json(value)), value) << size;
  }
}

}  // namespace
}  // namespace kube
