// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;

constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
constexpr const char* kBindings =
    "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";

std::string quoted(const std::string& text) { return json_text(Value{text}); }

std::string apply(const std::string& expression) {
  return fmt::format(
      R"({{"patchType":"ApplyConfiguration","applyConfiguration":{{"expression":{}}}}})",
      quoted(expression));
}

std::string json_patch(const std::string& expression) {
  return fmt::format(R"({{"patchType":"JSONPatch","jsonPatch":{{"expression":{}}}}})",
                     quoted(expression));
}

/// Creates a policy for config maps and pods.
ApiReply add_policy(Api& api, const std::string& name, const std::string& mutations) {
  return api.post(
      kPolicies,
      fmt::format(
          R"({{"metadata":{{"name":"{}"}},"spec":{{"reinvocationPolicy":"Never","matchConstraints":{{"resourceRules":[)"
          R"({{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["configmaps","pods"]}}]}},)"
          R"("mutations":[{}]}}}})",
          name, mutations));
}

void bind(Api& api, const std::string& policy) {
  const ApiReply made = api.post(
      kBindings, fmt::format(R"({{"metadata":{{"name":"{0}-b"}},"spec":{{"policyName":"{0}"}}}})",
                             policy));
  ASSERT_EQ(made.status(), 201) << made.text();
}

// AP-8
TEST(MutatingPolicies, MergeApplyConfigurations) {
  Api api;
  const std::string annotate =
      R"(Object{metadata: Object.metadata{annotations: {"a": object.metadata.name}}})";
  const std::string label =
      R"(Object{metadata: Object.metadata{labels: {"b": object.metadata.annotations.a}}})";
  const ApiReply made = add_policy(api, "p", apply(annotate) + "," + apply(label));
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.header("Warning"), "");
  EXPECT_EQ(api.make_config_map("early").at("metadata.labels"), "") << "nothing binds the policy";
  bind(api, "p");

  const ApiReply config_map = api.make_config_map("m");
  const ApiReply updated = api.patch(std::string{kConfigMaps} + "/early", R"({"data":{"x":"1"}})");

  EXPECT_EQ(config_map.at("metadata.annotations.a"), "m") << config_map.text();
  EXPECT_EQ(config_map.at("metadata.labels.b"), "m");
  EXPECT_THAT(config_map.at("metadata.managedFields"), testing::Not(HasSubstr("f:labels")));
  EXPECT_EQ(updated.at("metadata.labels.b"), "early");
}

// AP-8
TEST(MutatingPolicies, MergeListsByKeyAndAddDefaults) {
  Api api;
  add_policy(
      api, "p",
      apply(R"(Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", )"
            R"(image: "i:1", ports: [Object.spec.containers.ports{containerPort: 80}]}]}})"));
  bind(api, "p");

  const ApiReply pod = api.make_pod("p");

  EXPECT_EQ(pod.status(), 201) << pod.text();
  ASSERT_EQ(pod.json->get_array("spec.containers").size(), 2U);
  EXPECT_EQ(pod.at("spec.containers[1].name"), "side");
  EXPECT_EQ(pod.at("spec.containers[1].ports[0].protocol"), "TCP");
}

// AP-8
TEST(MutatingPolicies, ApplyJsonPatches) {
  Api api;
  add_policy(api, "p",
             json_patch(R"([JSONPatch{op: "add", path: "/metadata/labels", value: {"x": "y"}}, )"
                        R"(JSONPatch{op: "add", path: "/metadata/labels/" + )"
                        R"(jsonpatch.escapeKey("a/b"), value: "c"}])") +
                 "," +
                 json_patch(R"([JSONPatch{op: "test", path: "/data/k", value: "other"}, )"
                            R"(JSONPatch{op: "remove", path: "/data/k"}])"));
  bind(api, "p");

  const ApiReply made =
      api.post(kConfigMaps, R"({"metadata":{"name":"m"},"data":{"k":"v"}})");

  EXPECT_EQ(made.at("metadata.labels"), R"({"a/b":"c","x":"y"})") << made.text();
  EXPECT_EQ(made.at("data.k"), "v");
}

// AP-9
TEST(MutatingPolicies, AreInvokedAgainIfNeeded) {
  Api api;
  const std::string count =
      apply(R"(Object{metadata: Object.metadata{labels: {"n": string(int(object.metadata.?)"
            R"(labels[?"n"].orValue("0")) + 1)}}})");
  add_policy(api, "once", count);
  bind(api, "once");

  const ApiReply once = api.make_config_map("a");
  api.patch(std::string{kPolicies} + "/once", R"({"spec":{"reinvocationPolicy":"IfNeeded"}})");
  const ApiReply twice = api.make_config_map("b");

  EXPECT_EQ(once.at("metadata.labels.n"), "1") << once.text();
  EXPECT_EQ(twice.at("metadata.labels.n"), "2") << twice.text();
}

// AP-10
TEST(MutatingPolicies, DenyRequestsWhenTheyFail) {
  Api api;
  add_policy(api, "p", apply(R"(Object{metadata: Object.wrong{}})"));
  bind(api, "p");

  const ApiReply denied = api.make_config_map("a");
  api.patch(std::string{kPolicies} + "/p", R"({"spec":{"failurePolicy":"Ignore"}})");
  const ApiReply ignored = api.make_config_map("b");

  EXPECT_EQ(denied.status(), 403);
  EXPECT_EQ(denied.reason(), "Invalid");
  EXPECT_EQ(denied.message(),
            "policy 'p' with binding 'p-b' denied request: type mismatch: unexpected type name "
            "\"Object.wrong\", expected \"Object.metadata\", which matches field name path from "
            "root Object type");
  EXPECT_EQ(denied.at("details.causes[0].message"), denied.message());
  EXPECT_EQ(ignored.status(), 201);
}

// AP-10
TEST(MutatingPolicies, MayNotReplacePartsAsAWhole) {
  Api api;
  add_policy(api, "p", apply(R"(Object{spec: Object.spec{nodeSelector: {"a": "b"}}})"));
  add_policy(api, "q", apply(R"(Object{spec: Object.spec{nodeSelektor: "x"}})"));
  bind(api, "p");
  bind(api, "q");

  const ApiReply denied = api.make_pod("p");

  EXPECT_EQ(denied.at("details.causes[0].message"),
            "policy 'p' with binding 'p-b' denied request: error applying patch: invalid "
            "ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            ".spec.nodeSelector");
  EXPECT_THAT(denied.at("details.causes[1].message"),
              HasSubstr(".spec.nodeSelektor: field not declared in schema"));
}

// AP-10
TEST(MutatingPolicies, AreCompiledWhenTheyAreWritten) {
  Api api;

  const ApiReply type = add_policy(api, "p", apply("1"));
  const ApiReply list = add_policy(api, "p", json_patch("Object{}"));
  const ApiReply field = add_policy(api, "p", json_patch(R"([JSONPatch{op: 1, code: "x"}])"));

  EXPECT_EQ(type.status(), 422);
  EXPECT_THAT(type.message(), HasSubstr("must evaluate to Object but got int"));
  EXPECT_THAT(list.message(), HasSubstr("must evaluate to list(JSONPatch) but got Object"));
  EXPECT_THAT(field.message(), HasSubstr("ERROR: <input>:1:14: expected type of field 'op' is "
                                         "'string' but provided type is 'int'"));
  EXPECT_THAT(field.message(), HasSubstr("ERROR: <input>:1:23: expected type of field 'code' is "
                                         "'' but provided type is 'string'"));
}

}  // namespace
}  // namespace kube::testkit::detail
