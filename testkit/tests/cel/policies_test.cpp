// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;

constexpr const char* kPolicies =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr const char* kBindings =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Creates a policy `p` for config maps.
ApiReply add_policy(Api& api, const std::string& rest,
                    const std::string& operations = R"(["CREATE","UPDATE"])") {
  return api.post(
      kPolicies,
      fmt::format(
          R"({{"metadata":{{"name":"p"}},"spec":{{"matchConstraints":{{"resourceRules":[)"
          R"({{"apiGroups":[""],"apiVersions":["v1"],"operations":{},"resources":["configmaps"]}}]}},{}}}}})",
          operations, rest));
}

ApiReply bind(Api& api, const std::string& rest = R"("validationActions":["Deny"])",
              const std::string& name = "b") {
  return api.post(
      kBindings,
      fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"policyName":"p",{}}}}})", name, rest));
}

constexpr const char* kNoForbidden =
    R"~("validations":[{"expression":"!has(object.data.forbidden)","message":"forbidden is not allowed"}])~";

ApiReply make(Api& api, const std::string& name, const std::string& data = "{}") {
  return api.post(kConfigMaps,
                  fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{}}})", name, data));
}

// AP-1, AP-2
TEST(AdmissionPolicies, DenyRequestsThatViolateThem) {
  Api api;
  ASSERT_EQ(add_policy(api, kNoForbidden).status(), 201);
  EXPECT_EQ(make(api, "early", R"({"forbidden":"x"})").status(), 201) << "nothing binds the policy";
  ASSERT_EQ(bind(api).status(), 201);

  const ApiReply denied = make(api, "a", R"({"forbidden":"x"})");
  const ApiReply fine = make(api, "b", R"({"a":"1"})");
  const ApiReply patched =
      api.patch(std::string{kConfigMaps} + "/b", R"({"data":{"forbidden":"x"}})");

  EXPECT_EQ(denied.status(), 422) << denied.text();
  EXPECT_EQ(denied.reason(), "Invalid");
  EXPECT_EQ(denied.message(),
            "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied "
            "request: forbidden is not allowed");
  EXPECT_EQ(denied.at("details.kind"), "configmaps");
  EXPECT_EQ(
      denied.at("details.causes[0].message"),
      "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: forbidden is not allowed");
  EXPECT_EQ(fine.status(), 201);
  EXPECT_EQ(patched.status(), 422);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/b").at("data.forbidden"), "");
}

// AP-2
TEST(AdmissionPolicies, ChooseMessageAndReason) {
  Api api;
  add_policy(
      api,
      R"~("variables":[{"name":"size","expression":"object.data.size()"}],"validations":[)~"
      R"~({"expression":"variables.size < 2","messageExpression":"'has ' + string(variables.size)","reason":"Forbidden"},)~"
      R"~({"expression":"!('x' in object.data)"}])~");
  bind(api);

  const ApiReply large = make(api, "a", R"({"a":"1","b":"2"})");
  const ApiReply named = make(api, "b", R"({"x":"1"})");

  EXPECT_EQ(large.status(), 403);
  EXPECT_EQ(large.reason(), "Forbidden");
  EXPECT_THAT(large.message(), HasSubstr("denied request: has 2"));
  EXPECT_EQ(named.status(), 422);
  EXPECT_THAT(named.message(),
              HasSubstr("denied request: failed expression: !('x' in object.data)"));
}

// AP-1
TEST(AdmissionPolicies, ApplyOnlyToMatchingRequests) {
  Api api;
  api.post(
      kPolicies,
      R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],)"
      R"("operations":["CREATE"],"resources":["configmaps","pods/status"]}],"excludeResourceRules":[{"apiGroups":[""],)"
      R"("apiVersions":["v1"],"operations":["*"],"resources":["configmaps"],"resourceNames":["free"]}],)"
      R"("objectSelector":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["trusted"]}]}},)"
      R"("matchConditions":[{"name":"users","expression":"request.userInfo.username != 'nobody' && request.operation == 'CREATE'"}],)"
      R"("validations":[{"expression":"false"}]}})");
  bind(
      api,
      R"("validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"guard":"on"}}})");
  EXPECT_EQ(make(api, "unguarded").status(), 201);
  ASSERT_EQ(
      api.patch("/api/v1/namespaces/default", R"({"metadata":{"labels":{"guard":"on"}}})").status(),
      200);

  EXPECT_EQ(make(api, "guarded").status(), 422);
  EXPECT_EQ(make(api, "free").status(), 201);
  EXPECT_EQ(api.make_config_map("trusted", "default", R"({"app":"trusted"})").status(), 201);
  EXPECT_EQ(api.patch(std::string{kConfigMaps} + "/unguarded", R"({"data":{"a":"2"}})").status(),
            200);
  EXPECT_EQ(api.make_pod("pod").status(), 201);
}

// AP-1
TEST(AdmissionPolicies, SeeObjectsInTheVersionOfTheRule) {
  for (const auto& [policy, refused] : {std::pair{"Equivalent", 422}, std::pair{"Exact", 201}}) {
    Api api;
    ASSERT_EQ(
        api.post(
               kPolicies,
               fmt::format(
                   R"~({{"metadata":{{"name":"p"}},"spec":{{"matchConstraints":{{"matchPolicy":"{}","resourceRules":[{{"apiGroups":["autoscaling"],)~"
                   R"~("apiVersions":["v1"],"operations":["CREATE"],"resources":["horizontalpodautoscalers"]}}]}},"validations":[)~"
                   R"~({{"expression":"object.apiVersion != 'autoscaling/v1' || object.spec.targetCPUUtilizationPercentage < 50",)~"
                   R"~("messageExpression":"request.kind.version + request.requestKind.version + string(object.spec.targetCPUUtilizationPercentage)"}}]}}}})~",
                   policy))
            .status(),
        201);
    bind(api);

    const ApiReply reply = api.post(
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
        R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",)"
        R"("name":"d"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}})");

    EXPECT_EQ(reply.status(), refused) << reply.text();
    if (refused == 422) {
      EXPECT_THAT(reply.message(), HasSubstr("denied request: v1v280"));
    }
  }
}

// AP-3
TEST(AdmissionPolicies, CompareWithTheOldObjectAndGuardDeletion) {
  Api api;
  add_policy(
      api,
      R"~("validations":[{"expression":"request.operation != 'DELETE' || !has(oldObject.data.keep)","message":"keep it"},)~"
      R"~({"expression":"oldObject == null || object == null || object.data == oldObject.data","message":"no change"}])~",
      R"(["*"])");
  bind(api);
  ASSERT_EQ(make(api, "a", R"({"keep":"1"})").status(), 201);

  const ApiReply removed = api.remove(std::string{kConfigMaps} + "/a");
  const ApiReply all = api.remove(kConfigMaps);
  const ApiReply changed = api.patch(std::string{kConfigMaps} + "/a", R"({"data":{"x":"1"}})");

  EXPECT_EQ(removed.status(), 422);
  EXPECT_THAT(removed.message(), HasSubstr("denied request: keep it"));
  EXPECT_EQ(all.status(), 422);
  EXPECT_EQ(changed.status(), 422);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").status(), 200);
}

// AP-4
TEST(AdmissionPolicies, TakeParameters) {
  Api api;
  ASSERT_EQ(make(api, "limits", R"({"max":"1"})").status(), 201);
  add_policy(
      api,
      R"~("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":)~"
      R"~("object.data.size() <= int(params.data.max)","messageExpression":"'more than ' + params.data.max"}])~");
  ASSERT_EQ(
      bind(
          api,
          R"~("validationActions":["Deny"],"paramRef":{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"})~")
          .status(),
      201);

  EXPECT_EQ(make(api, "a", R"({"a":"1"})").status(), 201);
  EXPECT_THAT(make(api, "b", R"({"a":"1","b":"2"})").message(), HasSubstr("more than 1"));
  api.remove(std::string{kConfigMaps} + "/limits");
  EXPECT_THAT(make(api, "c", R"({"a":"1"})").message(),
              HasSubstr("denied request: failed to configure binding: no params found for policy "
                        "binding with `Deny` parameterNotFoundAction"));
}

// AP-5
TEST(AdmissionPolicies, FollowTheirFailurePolicyOnErrors) {
  for (const auto& [policy, status] : {std::pair{"Fail", 422}, std::pair{"Ignore", 201}}) {
    Api api;
    add_policy(
        api,
        fmt::format(
            R"("failurePolicy":"{}","validations":[{{"expression":"object.data.nope == '1'"}}])",
            policy));
    bind(api);

    const ApiReply reply = make(api, "a", R"({"a":"1"})");

    EXPECT_EQ(reply.status(), status) << policy;
    if (status == 422) {
      EXPECT_THAT(reply.message(), HasSubstr("denied request: expression 'object.data.nope == '1'' "
                                             "resulted in error: no such key: nope"));
    }
  }
}

// AP-6
TEST(AdmissionPolicies, WarnIfTheBindingAsksForWarnings) {
  Api api;
  add_policy(api, kNoForbidden);
  bind(api, R"("validationActions":["Warn","Audit"])");

  const ApiReply made = make(api, "a", R"({"forbidden":"x"})");

  EXPECT_EQ(made.status(), 201);
  EXPECT_EQ(
      made.header("Warning"),
      R"(299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': forbidden is not allowed")");
}

// AP-7
TEST(AdmissionPolicies, AreRejectedIfTheyDoNotCompile) {
  Api api;

  const ApiReply syntax = add_policy(api, R"("validations":[{"expression":"object.a =="}])");
  const ApiReply type = add_policy(api, R"("validations":[{"expression":"request.name"}])");
  const ApiReply field = add_policy(api, R"("validations":[{"expression":"request.nope == 1"}])");
  const ApiReply params = add_policy(api, R"("validations":[{"expression":"params.x == 1"}])");

  EXPECT_EQ(syntax.status(), 422);
  EXPECT_EQ(syntax.at("details.causes[0].field"), "spec.validations[0].expression");
  EXPECT_THAT(syntax.message(), HasSubstr("compilation failed: ERROR: <input>:1:12: Syntax error: "
                                          "mismatched input '<EOF>'"));
  EXPECT_THAT(type.message(), HasSubstr("Invalid value: \"request.name\": must evaluate to bool but got string"));
  EXPECT_THAT(field.message(), HasSubstr("undefined field 'nope'"));
  EXPECT_THAT(params.message(), HasSubstr("undeclared reference to 'params'"));
}

// CE-11
TEST(AdmissionPolicies, WarnIfTheyCannotBeEvaluated) {
  constexpr const char* kAccess =
      R"~("validations":[{"expression":"authorizer.group('').resource('pods').check('get').allowed()"}])~";
  Api api;
  const ApiReply added = add_policy(api, kAccess);
  bind(api);
  const ApiReply made = make(api, "a");
  EngineOptions options;
  options.strict = true;
  Api strict{std::move(options)};

  EXPECT_EQ(added.status(), 201);
  EXPECT_THAT(added.header("Warning"),
              HasSubstr("was not evaluated: this server does not have group"));
  EXPECT_EQ(made.status(), 201);
  EXPECT_THAT(made.header("Warning"), HasSubstr("ValidatingAdmissionPolicy 'p': CEL expression"));
  EXPECT_EQ(add_policy(strict, kAccess).status(), 422);
}

}  // namespace
}  // namespace kube::testkit::detail
