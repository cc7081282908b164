// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRobots = "/apis/example.com/v1/namespaces/default/robots";

/// Creates a definition of robots whose spec has this schema, with the additions in `version`.
ApiReply define(Api& api, const std::string& spec, const std::string& version = "") {
  ApiReply reply = api.post(
      kDefinitions,
      R"({"metadata":{"name":"robots.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"robots","kind":"Robot"},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" +
          spec + R"(,"status":{"type":"object","properties":{"n":{"type":"integer"}}}}}})" +
          version + "}]}}");
  EXPECT_TRUE(api.engine.settle());
  return reply;
}

std::string robot(const std::string& spec, const std::string& name = "r") {
  return fmt::format(
      R"({{"apiVersion":"example.com/v1","kind":"Robot","metadata":{{"name":"{}"}},"spec":{}}})",
      name, spec);
}

/// Returns "type field: message" of each cause.
std::vector<std::string> causes(const ApiReply& reply) {
  std::vector<std::string> all;
  for (const Value& cause : reply.json->get_array("details.causes")) {
    all.push_back(fmt::format("{} {}: {}", cause["reason"].as_string(), cause["field"].as_string(),
                              cause["message"].as_string()));
  }
  return all;
}

constexpr const char* kLegs =
    R"~({"type":"object","properties":{"legs":{"type":"integer","maximum":9},"arms":{"type":"integer"},"name":{"type":"string"}},)~"
    R"~("x-kubernetes-validations":[{"rule":"self.legs <= self.arms","message":"more arms than legs, please"},)~"
    R"~({"rule":"!has(self.name) || self.name.startsWith('r')","messageExpression":"'not ' + self.name","fieldPath":".name"}]})~";

// CE-7
TEST(Rules, RejectObjectsThatViolateThem) {
  Api api;
  ASSERT_EQ(define(api, kLegs).status(), 201);

  const ApiReply fine = api.post(kRobots, robot(R"({"legs":2,"arms":2,"name":"r2"})"));
  const ApiReply wrong = api.post(kRobots, robot(R"({"legs":3,"arms":2,"name":"x"})", "s"));
  const ApiReply failed = api.post(kRobots, robot(R"({"legs":3})", "t"));

  EXPECT_EQ(fine.status(), 201) << fine.text();
  EXPECT_EQ(wrong.status(), 422);
  EXPECT_THAT(causes(wrong),
              ElementsAre("FieldValueInvalid spec: Invalid value: more arms than legs, please",
                          "FieldValueInvalid spec.name: Invalid value: not x"));
  EXPECT_EQ(
      wrong.message(),
      "Robot.example.com \"s\" is invalid: [spec: Invalid value: more arms than legs, please, "
      "spec.name: Invalid value: not x]");
  EXPECT_THAT(causes(failed),
              ElementsAre("FieldValueInvalid spec: Invalid value: \"object\": no such key: arms "
                          "evaluating rule: more arms than legs, please"));
}

// CE-7
TEST(Rules, NameTheReasonAndTheValue) {
  Api api;
  ASSERT_EQ(
      define(
          api,
          R"({"type":"object","properties":{)"
          R"("a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]},)"
          R"("b":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'b'","reason":"FieldValueForbidden","message":"no"}]},)"
          R"("c":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'c'","reason":"FieldValueRequired","message":"need c"}]},)"
          R"("d":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'd'","reason":"FieldValueDuplicate"}]},)"
          R"("m":{"type":"object","additionalProperties":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]}},)"
          R"("l":{"type":"array","items":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]}}}})")
          .status(),
      201);

  const ApiReply wrong =
      api.post(kRobots, robot(R"({"a":1,"b":"x","c":"x","d":"x","m":{"k":1},"l":[2,1]})"));

  EXPECT_THAT(causes(wrong),
              ElementsAre("FieldValueInvalid spec.a: Invalid value: 1: failed rule: self > 1",
                          "FieldValueForbidden spec.b: Forbidden: no",
                          "FieldValueRequired spec.c: Required value: need c",
                          "FieldValueDuplicate spec.d: Duplicate value: \"x\"",
                          "FieldValueInvalid spec.l[1]: Invalid value: 1: failed rule: self > 1",
                          "FieldValueInvalid spec.m[k]: Invalid value: 1: failed rule: self > 1"));
}

// CE-8
TEST(Rules, RunOnlyIfTheTypesAreValid) {
  Api api;
  define(api, kLegs);

  const ApiReply typed = api.post(kRobots, robot(R"({"legs":"three","arms":1})"));
  const ApiReply large = api.post(kRobots, robot(R"({"legs":10,"arms":1})"));

  ASSERT_THAT(causes(typed), SizeIs(2));
  EXPECT_EQ(causes(typed)[1],
            "FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked "
            "because the object was invalid; correct the existing errors to complete validation");
  EXPECT_THAT(
      causes(large),
      ElementsAre("FieldValueInvalid spec.legs: Invalid value: 10: spec.legs in body should "
                  "be less than or equal to 9",
                  "FieldValueInvalid spec: Invalid value: more arms than legs, please"));
}

constexpr const char* kFixed =
    R"~({"type":"object","properties":{"fixed":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"fixed is immutable"}]},)~"
    R"~("once":{"type":"string"}},"x-kubernetes-validations":[)~"
    R"~({"rule":"oldSelf.hasValue() || !has(self.once)","optionalOldSelf":true,"message":"once comes later"}]})~";

// CE-9
TEST(Rules, CompareWithTheStoredObject) {
  Api api;
  ASSERT_EQ(define(api, kFixed).status(), 201);

  EXPECT_EQ(api.post(kRobots, robot(R"({"fixed":"a","once":"x"})")).status(), 422);
  ASSERT_EQ(api.post(kRobots, robot(R"({"fixed":"a"})")).status(), 201);
  const std::string path = std::string{kRobots} + "/r";
  EXPECT_EQ(api.patch(path, R"({"spec":{"once":"x"}})").status(), 200);
  const ApiReply changed = api.patch(path, R"({"spec":{"fixed":"b"}})");
  EXPECT_EQ(changed.status(), 422);
  EXPECT_THAT(
      causes(changed),
      ElementsAre("FieldValueInvalid spec.fixed: Invalid value: \"b\": fixed is immutable"));
  const ApiReply applied =
      api.send("PATCH", path + "?fieldManager=m&force=true", robot(R"({"fixed":"c"})"),
               {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(applied.status(), 422);
}

// CE-9
TEST(Rules, TolerateViolationsInUnchangedParts) {
  Api api;
  define(api, R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}})",
         R"(,"subresources":{"status":{}})");
  ASSERT_EQ(api.post(kRobots, robot(R"({"a":"bad","b":"1"})")).status(), 201);
  const ApiReply definition = api.get(std::string{kDefinitions} + "/robots.example.com");
  Value next = *definition.json;
  next.at_path("spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a")
      ["x-kubernetes-validations"] = Value::array({Value::object({{"rule", "self == 'good'"}})});
  ASSERT_EQ(api.put(std::string{kDefinitions} + "/robots.example.com", next).status(), 200);
  ASSERT_TRUE(api.engine.settle());
  const std::string path = std::string{kRobots} + "/r";

  const ApiReply other = api.patch(path, R"({"spec":{"b":"2"}})");
  const ApiReply same = api.patch(path, R"({"spec":{"a":"worse"}})");
  const ApiReply status = api.patch(path + "/status", R"({"status":{"n":1}})");

  EXPECT_EQ(other.status(), 200) << other.text();
  EXPECT_EQ(other.header("Warning"),
            R"(299 - "spec.a: Invalid value: \"bad\": failed rule: self == 'good'")");
  EXPECT_EQ(same.status(), 422);
  EXPECT_EQ(status.status(), 200);
}

// CE-9
TEST(Rules, ApplyToTheStatus) {
  Api api;
  const ApiReply made = api.post(
      kDefinitions,
      R"({"metadata":{"name":"robots.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"robots","kind":"Robot"},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{)"
      R"("spec":{"type":"object"},"status":{"type":"object","properties":{"n":{"type":"integer"}}}},)"
      R"("x-kubernetes-validations":[{"rule":"!has(self.status) || self.status.n < 5"}]}}}]}})");
  ASSERT_EQ(made.status(), 201) << made.text();
  ASSERT_TRUE(api.engine.settle());
  ASSERT_EQ(api.post(kRobots, robot("{}")).status(), 201);

  const ApiReply refused = api.patch(std::string{kRobots} + "/r/status", R"({"status":{"n":7}})");

  EXPECT_EQ(refused.status(), 422);
  EXPECT_THAT(
      causes(refused),
      ElementsAre("FieldValueInvalid <nil>: Invalid value: failed rule: !has(self.status) || "
                  "self.status.n < 5"));
}

// CE-6
TEST(Rules, AreRejectedIfTheyDoNotCompile) {
  Api api;
  const auto refusal = [&](const std::string& rule) {
    const ApiReply reply = define(
        api,
        R"({"type":"object","properties":{"a":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}},"x-kubernetes-validations":[)" +
            rule + "]}");
    EXPECT_EQ(reply.status(), 422) << rule;
    return causes(reply);
  };
  const std::string place =
      "FieldValueInvalid "
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]";

  EXPECT_THAT(
      refusal(R"({"rule":"self.b > 0"})"),
      ElementsAre(
          place +
          R"(.rule: Invalid value: {"Rule":"self.b \u003e 0","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b')"
          "\n | self.b > 0\n | ....^"));
  EXPECT_THAT(refusal(R"({"rule":"self.a"})"),
              ElementsAre(HasSubstr("cel expression must evaluate to a bool")));
  EXPECT_THAT(
      refusal(R"({"rule":" "})"),
      ElementsAre("FieldValueRequired spec.validation.openAPIV3Schema.properties[spec]."
                  "x-kubernetes-validations[0].rule: Required value: rule is not specified"));
  EXPECT_THAT(refusal(R"({"rule":"true","messageExpression":"1"})"),
              ElementsAre(HasSubstr("messageExpression must evaluate to a string")));
  EXPECT_THAT(refusal(R"({"rule":"true","fieldPath":".nope"})"),
              ElementsAre(place + ".fieldPath: Invalid value: \".nope\": must be a valid path"));
  EXPECT_THAT(
      refusal(R"({"rule":"true","optionalOldSelf":true})"),
      ElementsAre(place + ".optionalOldSelf: Invalid value: true: may not be set if oldSelf is not "
                          "used in rule"));
  EXPECT_THAT(refusal(R"({"rule":"true","reason":"Because"})"),
              ElementsAre(HasSubstr("Unsupported value: \"Because\": supported values:")));
}

// CE-6
TEST(Rules, CannotUseOldSelfInUncorrelatableLists) {
  Api api;

  const ApiReply reply = define(
      api,
      R"({"type":"object","properties":{"l":{"type":"array","maxItems":3,"items":{"type":"string","maxLength":9,"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}})");

  EXPECT_THAT(causes(reply),
              ElementsAre(HasSubstr("oldSelf cannot be used on the uncorrelatable "
                                    "portion of the schema within "
                                    "spec.validation.openAPIV3Schema.properties[spec]."
                                    "properties[l]")));
}

// CE-10
TEST(Rules, AreAbortedAtTheCostLimit) {
  Api api;
  ASSERT_EQ(
      define(
          api,
          R"~({"type":"object","properties":{"l":{"type":"array","maxItems":1000,"items":{"type":"integer"}}},)~"
          R"~("x-kubernetes-validations":[{"rule":"self.l.all(a, self.l.all(b, a + b >= 0))"},{"rule":"false"}]})~")
          .status(),
      201);
  std::string list = "0";
  for (int i = 1; i < 1000; ++i) list += ",0";

  const ApiReply refused = api.post(kRobots, robot("{\"l\":[" + list + "]}"));

  EXPECT_THAT(
      causes(refused),
      ElementsAre("FieldValueInvalid spec: Invalid value: \"object\": 'operation cancelled: actual "
                  "cost limit exceeded': no further validation rules will be run due to call cost "
                  "exceeds limit for rule: self.l.all(a, self.l.all(b, a + b >= 0))"));
}

constexpr const char* kZone =
    R"~({"type":"object","properties":{"t":{"type":"string","format":"date-time"}},)~"
    R"~("x-kubernetes-validations":[{"rule":"self.t.getHours('Europe/Berlin') < 12"}]})~";

// CE-11
TEST(Rules, WarnIfTheyCannotBeEvaluated) {
  Api api;

  const ApiReply defined = define(api, kZone);
  const ApiReply made = api.post(kRobots, robot(R"({"t":"2020-01-02T03:04:05Z"})"));

  EXPECT_EQ(defined.status(), 201);
  EXPECT_EQ(
      defined.header("Warning"),
      R"~(299 - "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: )~"
      R"~(CEL expression \"self.t.getHours('Europe/Berlin') < 12\" was not evaluated: this server does not have )~"
      R"~(getHours('Europe/Berlin')")~");
  EXPECT_EQ(made.status(), 201);
  EXPECT_EQ(
      made.header("Warning"),
      R"~(299 - "spec: CEL expression \"self.t.getHours('Europe/Berlin') < 12\" was not evaluated: this server )~"
      R"~(does not have getHours('Europe/Berlin')")~");
}

// CE-11
TEST(Rules, AreRejectedInStrictModeIfTheyCannotBeEvaluated) {
  EngineOptions options;
  options.strict = true;
  Api api{std::move(options)};

  const ApiReply defined = define(api, kZone);

  EXPECT_EQ(defined.status(), 422);
  EXPECT_THAT(
      causes(defined),
      ElementsAre(HasSubstr("x-kubernetes-validations[0].rule: Forbidden: CEL expression")));
}

}  // namespace
}  // namespace kube::testkit::detail
