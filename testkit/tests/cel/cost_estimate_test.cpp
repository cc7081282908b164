// SPDX-License-Identifier: Apache-2.0
// Definitions with expensive rules, and the answers of a real server (tests/fixtures/cel_costs.yaml).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"

namespace kube::testkit::detail {
namespace {

/// Returns a definition whose schema has a rule at a path.
std::string definition(Value schema, std::string_view path, const Value& entry) {
  (path.empty() ? schema : schema.at_path(path))["x-kubernetes-validations"] =
      Value::array({entry});
  return fmt::format(
      R"({{"metadata":{{"name":"robots.example.com"}},"spec":{{"group":"example.com","scope":"Namespaced",)"
      R"("names":{{"plural":"robots","kind":"Robot"}},"versions":[{{"name":"v1","served":true,"storage":true,)"
      R"("schema":{{"openAPIV3Schema":{}}}}}]}}}})",
      json_text(schema));
}

/// Returns "field: message" of each cause, without the values that compilation errors quote.
std::vector<std::string> causes_in(const Value& causes) {
  std::vector<std::string> all;
  for (const Value& cause : causes.as_array()) {
    all.push_back(fmt::format("{}: {}", cause.get_string("field").value_or(""),
                              cause.get_string("message").value_or("")));
  }
  return all;
}

// CE-12
TEST(CostEstimates, EqualThoseOfARealServer) {
  const Ref<Value> recorded = parse_json(test::fixture("cel_costs.json"));
  Api api;
  for (const Value& one : recorded->get_array("cases")) {
    const ApiReply reply =
        api.post(std::string{kDefinitions} + "?dryRun=All",
                 definition((*recorded)["schema"], *one.get_string("at"), one["entry"]));

    const Value& expected = one["answer"];
    EXPECT_EQ(reply.status(), *expected.get_integer("code")) << json_text(one["entry"]);
    if (reply.status() != 422 || !expected["causes"].is_array()) continue;
    EXPECT_EQ(causes_in((*reply.json)["details"]["causes"]), causes_in(expected["causes"]))
        << json_text(one["entry"]);
  }
}

// CE-12
TEST(CostEstimates, DoNotPreventUpdatesOfAStoredDefinition) {
  Api api;
  const auto with_items = [](std::string_view limit) {
    return definition(
        *parse_json(fmt::format(
            R"({{"type":"object","properties":{{"spec":{{"type":"object","properties":{{"l":{{"type":"array",{}"items":{{"type":"integer"}}}}}}}}}}}})",
            limit)),
        "properties.spec", Value::object({{"rule", "self.l.all(a, self.l.all(b, a + b > 0))"}}));
  };
  ASSERT_EQ(api.post(kDefinitions, with_items("")).status(), 422);
  // Stored by a version that did not limit the costs of a rule, but of all rules together.
  const Ref<Value> stored = parse_json(with_items(R"("maxItems":2000,)"));
  Value seeded = *stored;
  seeded["apiVersion"] = "apiextensions.k8s.io/v1";
  seeded["kind"] = "CustomResourceDefinition";
  seeded["status"]["storedVersions"] = Value::array({"v1"});
  api.engine.seed(seeded);
  const std::string path = std::string{kDefinitions} + "/robots.example.com";

  const ApiReply labelled = api.patch(path, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(labelled.status(), 200) << labelled.text();
  EXPECT_EQ(
      api.patch(
             path,
             R"([{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/l/maxItems","value":2001}])",
             "json-patch+json")
          .status(),
      422);
}

}  // namespace
}  // namespace kube::testkit::detail
