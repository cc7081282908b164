// SPDX-License-Identifier: Apache-2.0
// Role-based access control: who may write roles and bindings.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ruled.hpp"

namespace kube::testing_support {
namespace {

std::string role(const std::string& rules, const std::string& more = "",
                 const std::string& kind = "Role", const std::string& name = "r") {
  return encode_json(*decode_yaml<Value>("{apiVersion: " + std::string{kRbac} +
                                         "/v1, kind: " + kind + ", metadata: {name: '" + name +
                                         "'" + more + "}, rules: [" + rules + "]}"));
}

std::string escalation(const std::string& what, const std::string& who,
                       const std::string& missing) {
  return what + " is forbidden: user \"" + who +
         "\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
         "currently held:\n" +
         missing;
}

/// Allows all verbs on roles and bindings, and get on pods.
constexpr const char* kWriter =
    "{apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [get, "
    "create, update, patch, delete]}, {apiGroups: [''], resources: [pods], verbs: [get]}";

// RB-24, RB-25
TEST(Rbac, ARoleCannotGiveRightsThatItsWriterDoesNotHave) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string roles = api.rbac_in_space("/roles");
  api.grant(api.subject(amy), kWriter);
  const std::string what = "roles.rbac.authorization.k8s.io \"r\"";
  const std::string secrets = "{apiGroups: [''], resources: [secrets], verbs: [get, list]}";
  const std::string missing = R"({APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]})";

  api.expect(amy,
             {"POST", roles,
              role(secrets + ", {apiGroups: [apps], resources: [deployments], "
                             "resourceNames: [d], verbs: [get]}")},
             escalation(what, amy,
                        missing + '\n' +
                            R"({APIGroups:["apps"], Resources:["deployments"], )"
                            R"(ResourceNames:["d"], Verbs:["get"]})"));
  api.expect(amy, {"POST", roles, role("{apiGroups: [''], resources: [pods], verbs: [get]}")},
             "201");
  api.expect(amy, {"PATCH", roles + "/r", R"({"metadata":{"labels":{"a":"b"}}})", kMerge}, "200");
  api.expect(amy, {"PUT", roles + "/r", role(secrets)}, escalation(what, amy, missing));

  // A role that is stronger than the writer.
  api.add("Role", "r", "rules: [" + secrets + "]");
  api.expect(amy, {"PATCH", roles + "/r", R"({"metadata":{"labels":{"a":"b"}}})", kMerge},
             escalation(what, amy, missing));
  api.expect(amy,
             {"PATCH", roles + "/r", R"({"metadata":{"finalizers":["example.com/f"]}})", kMerge},
             "200");
  api.expect(amy, {"PATCH", roles + "/r", R"({"metadata":{"finalizers":null}})", kMerge}, "200");
  api.expect(amy, {"DELETE", roles + "/r"}, "200");

  api.grant(api.subject(amy),
            "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}");
  api.expect(amy, {"POST", roles, role(secrets)}, "201");
}

// RB-26
TEST(Rbac, ABindingNeedsTheRightsOfItsRoleOrTheRightToBindIt) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string bindings = api.rbac_in_space("/rolebindings");
  api.grant(api.subject(amy), kWriter);
  api.add("Role", "pods", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]");
  api.add("Role", "secrets", "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]");
  const auto binding = [](const std::string& name, const std::string& role) {
    return R"({"metadata":{"name":")" + name +
           R"("},"subjects":[{"kind":"User","name":"u"}],"roleRef":{"kind":"Role","name":")" +
           role + R"("}})";
  };

  api.expect(amy, {"POST", bindings, binding("pods", "pods")}, "201");
  api.expect(amy, {"POST", bindings, binding("b", "secrets")},
             escalation("rolebindings.rbac.authorization.k8s.io \"b\"", amy,
                        R"({APIGroups:[""], Resources:["secrets"], Verbs:["get"]})"));
  api.expect(amy, {"POST", bindings, binding("b", "absent")},
             "rolebindings.rbac.authorization.k8s.io \"absent\" not found");
  EXPECT_EQ(api.status.code, 404);
  api.grant(api.subject(amy),
            "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [secrets, "
            "absent], verbs: [bind]}");
  api.expect(amy, {"POST", bindings, binding("b", "secrets")}, "201");
  api.expect(amy, {"POST", bindings, binding("c", "absent")}, "201");
}

// RB-27
TEST(Rbac, RightsAreComparedOneByOne) {
  Ruled api;
  const std::string what = "roles.rbac.authorization.k8s.io \"r\"";
  struct Case {
    const char* held;
    const char* granted;
    const char* missing;  ///< empty: allowed
  };
  const std::vector<Case> cases{
      {"{apiGroups: [''], resources: [pods], verbs: [get, list, watch, create, update, patch, "
       "delete, deletecollection]}",
       "{apiGroups: [''], resources: [pods], verbs: ['*']}",
       R"({APIGroups:[""], Resources:["pods"], Verbs:["*"]})"},
      {"{apiGroups: [''], resources: [pods], verbs: [get]}",
       "{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [get]}", ""},
      {"{apiGroups: [''], resources: [pods], resourceNames: [a, b], verbs: [get]}",
       "{apiGroups: [''], resources: [pods], resourceNames: [b], verbs: [get]}", ""},
      {"{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [get]}",
       "{apiGroups: [''], resources: [pods], resourceNames: [a, b], verbs: [get]}",
       R"({APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]})"},
      {"{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [get]}",
       "{apiGroups: [''], resources: [pods], verbs: [get]}",
       R"({APIGroups:[""], Resources:["pods"], Verbs:["get"]})"},
      {"{apiGroups: ['*'], resources: ['*/scale'], verbs: [get]}",
       "{apiGroups: [apps], resources: [deployments/scale], verbs: [get]}", ""},
      {"{apiGroups: ['*'], resources: [pods], verbs: ['*']}",
       "{apiGroups: [''], resources: [pods, pods/log], verbs: [get]}",
       R"({APIGroups:[""], Resources:["pods/log"], Verbs:["get"]})"},
      {"{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: [pods], "
       "verbs: [list]}",
       "{apiGroups: [''], resources: [pods], verbs: [get, list]}", ""}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string who = api.user("case" + std::to_string(i));
    api.grant(api.subject(who), std::string{kWriter}.substr(0, std::string{kWriter}.find('}') + 1) +
                                    ", " + cases[i].held);
    api.expect(who, {"POST", api.rbac_in_space("/roles?dryRun=All"), role(cases[i].granted)},
               cases[i].missing[0] == '\0' ? "201" : escalation(what, who, cases[i].missing));
  }
}

// RB-28, RB-29
TEST(Rbac, AggregationNeedsAllRightsAndIsNotDoneByTheServer) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string name = api.global("sum");
  api.grant_everywhere(api.subject(amy),
                       "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: "
                       "[create]}, {apiGroups: [''], resources: [pods], verbs: [get]}");
  const std::string own = R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])";
  const std::string selector =
      R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]})";
  const std::string sum = R"({"metadata":{"name":")" + name + R"("},)" + own + "," + selector + "}";
  const std::string path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

  api.expect(amy, {"POST", path, sum},
             "clusterroles.rbac.authorization.k8s.io \"" + name +
                 "\" is forbidden: must have cluster-admin privileges to use the aggregationRule");

  api.add("ClusterRole", name, R"("rules": [], )" + selector);
  api.add("ClusterRole", api.global("part"),
          R"(rules: [{apiGroups: [''], resources: [pods], verbs: [list]}])");
  EXPECT_EQ(api.answer({}, {"PATCH", path + "/" + name, "{" + own + "}", kMerge}), "200");
  EXPECT_EQ(api.answer({}, {"PATCH", path + "/" + api.global("part"),
                            R"({"metadata":{"labels":{"x":"y"}}})", kMerge}),
            "200");
  EXPECT_EQ(api.answer({}, {"GET", path + "/" + name}), "200");
  EXPECT_EQ(encode_json((*api.body)["rules"]),
            R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])");
}

}  // namespace
}  // namespace kube::testing_support
