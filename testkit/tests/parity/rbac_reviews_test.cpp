// SPDX-License-Identifier: Apache-2.0
// Role-based access control: reviews of access.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ruled.hpp"

namespace kube::testing_support {
namespace {

using testing::StartsWith;
using testing::UnorderedElementsAre;

// RB-30
TEST(Rbac, ReviewsSayWhichBindingAllowsARequest) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string rule = "{apiGroups: [''], resources: [pods], verbs: [get]}";
  const std::string name = api.global("grant-1");
  api.grant_everywhere(api.subject(amy), rule);
  const auto reason = [&](const std::string& who, const std::string& more = "") {
    std::string last;
    api.server.wait_for([&] {
      const Ref<Value> status = decode_json<Value>(
          api.review(who, "resourceAttributes: {verb: get, resource: pods" + more + "}"));
      last = Asked::text(*status, "reason");
      return !last.empty();
    });
    return last;
  };
  EXPECT_EQ(reason(amy), "RBAC: allowed by ClusterRoleBinding \"" + name + "\" of ClusterRole \"" +
                             name + "\" to User \"" + amy + '"');

  const std::string here = ", namespace: " + api.space();
  const std::string bob = api.user("bob");
  api.bind("RoleBinding", "b", "ClusterRole", name, api.subject(bob));
  EXPECT_EQ(reason(bob, here), "RBAC: allowed by RoleBinding \"b/" + api.space() +
                                   "\" of ClusterRole \"" + name + "\" to User \"" + bob + '"');
  api.grant("{kind: ServiceAccount, name: sa, namespace: " + api.space() + "}", rule);
  EXPECT_EQ(reason(api.account_user("sa"), here),
            "RBAC: allowed by RoleBinding \"grant-2/" + api.space() +
                "\" of Role \"grant-2\" to ServiceAccount \"sa/" + api.space() + '"');
  EXPECT_EQ(api.review(bob, "resourceAttributes: {verb: get, resource: pods}"),
            R"({"allowed":false})");

  // The other two kinds.
  api.expect(amy,
             {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
              R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})"},
             "201");
  EXPECT_EQ((*api.body)["status"]["allowed"], Value{true});
  const std::string local =
      "/apis/authorization.k8s.io/v1/namespaces/" + api.space() + "/localsubjectaccessreviews";
  const std::string spec = R"("resourceAttributes":{"verb":"get","resource":"pods","namespace":")" +
                           api.space() + R"("})";
  EXPECT_EQ(api.answer({}, {"POST", local, R"({"spec":{"user":")" + bob + R"(",)" + spec + "}}"}),
            "201");
  EXPECT_EQ((*api.body)["status"]["allowed"], Value{true});
}

// RB-31, RB-32
TEST(Rbac, ReviewsAreValidated) {
  Ruled api;
  const std::string path = "/apis/authorization.k8s.io/v1/";
  const auto refusal = [&](const std::string& resource, const std::string& spec) {
    return api.answer({}, {"POST", path + resource, R"({"spec":{)" + spec + "}}"});
  };
  const std::string start = ".authorization.k8s.io \"\" is invalid: ";
  const std::string attributes = R"("resourceAttributes":{"verb":"get","resource":"pods"})";

  EXPECT_EQ(refusal("selfsubjectaccessreviews", ""),
            start +
                "spec.resourceAttributes: Invalid value: null: exactly one of "
                "nonResourceAttributes or resourceAttributes must be specified");
  EXPECT_EQ(api.status.code, 422);
  EXPECT_EQ(refusal("selfsubjectaccessreviews",
                    attributes + R"(,"nonResourceAttributes":{"path":"/x","verb":"get"})"),
            start + R"(spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: )"
                    "cannot be specified in combination with resourceAttributes");
  EXPECT_EQ(refusal("subjectaccessreviews", attributes),
            start +
                "spec.user: Invalid value: \"\": at least one of user or group must be "
                "specified");
  EXPECT_EQ(refusal("namespaces/" + api.space() + "/localsubjectaccessreviews",
                    R"("user":"u",)" + attributes),
            start +
                "spec.resourceAttributes.namespace: Invalid value: \"\": must match "
                "metadata.namespace");
  EXPECT_EQ(refusal("selfsubjectaccessreviews",
                    R"("resourceAttributes":{"verb":"list","resource":"pods","fieldSelector":{}})"),
            start +
                "spec.resourceAttributes.fieldSelector.requirements: Required value: when "
                "spec.resourceAttributes.fieldSelector is specified, requirements or "
                "rawSelector is required");
}

// RB-31, RB-32
TEST(Rbac, ReviewsAddNothingToTheirAttributes) {
  Ruled api;
  const std::string amy = api.user("amy");
  api.grant(api.subject(amy),
            "{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [list]}, "
            "{apiGroups: [''], resources: [pods], verbs: [get]}");
  api.expect_allowed(amy, "verb: get, resource: pods, namespace: " + api.space());

  api.expect_refused(amy, "verb: get, resource: pods");
  api.expect_refused(amy, "verb: get, group: apps, resource: pods, namespace: " + api.space());
  api.expect_allowed(amy, "verb: list, resource: configmaps, name: a, namespace: " + api.space());
  api.expect_refused(amy,
                     "verb: list, resource: configmaps, fieldSelector: {rawSelector: "
                     "'metadata.name=a'}, namespace: " +
                         api.space());
  // Not even system:authenticated, whom discovery is granted to.
  EXPECT_EQ(api.review(amy, "nonResourceAttributes: {verb: get, path: /apis}"),
            R"({"allowed":false})");
  EXPECT_THAT(api.review(amy,
                         "groups: ['system:authenticated'], nonResourceAttributes: {verb: get, "
                         "path: /apis}"),
              StartsWith(R"({"allowed":true,)"));
}

// RB-34
TEST(Rbac, RulesReviewsListTheRulesOfTheUser) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string absent = api.global("absent");
  api.grant(api.subject(amy),
            "{apiGroups: [''], resources: [pods], resourceNames: [p], verbs: [get]}");
  api.grant(api.subject(amy), "{apiGroups: [''], resources: [pods], verbs: [list]}");
  api.bind("RoleBinding", "b", "ClusterRole", absent, api.subject(amy));
  const std::string path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  EXPECT_EQ(api.answer(api.as(amy), {"POST", path, R"({"spec":{}})"}), "no namespace on request");
  EXPECT_EQ(api.status.code, 400);

  const Ruled::Request request{"POST", path, R"({"spec":{"namespace":")" + api.space() + R"("}})"};
  api.server.wait_for([&] {
    return api.answer(api.as(amy), request) == "201" &&
           !Asked::text(*api.body, "status.evaluationError").empty();
  });

  const Value& status = (*api.body)["status"];
  std::vector<std::string> pods;
  for (const Value& rule : status["resourceRules"].as_array()) {
    if (rule["resources"] == Value::array({"pods"})) pods.push_back(encode_json(rule));
  }
  EXPECT_THAT(
      pods, UnorderedElementsAre(
                R"({"apiGroups":[""],"resourceNames":["p"],"resources":["pods"],"verbs":["get"]})",
                R"({"apiGroups":[""],"resources":["pods"],"verbs":["list"]})"));
  EXPECT_GE(status["nonResourceRules"].size(), 2U);
  EXPECT_EQ(status["incomplete"], Value{false});
  EXPECT_EQ(Asked::text(status, "evaluationError"),
            "clusterrole.rbac.authorization.k8s.io \"" + absent + "\" not found");
  EXPECT_EQ(encode_json((*api.body)["spec"]), "{}");
}

}  // namespace
}  // namespace kube::testing_support
