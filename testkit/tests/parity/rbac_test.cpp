// SPDX-License-Identifier: Apache-2.0
// Role-based access control: rules, identities and refusals. The tests are users by impersonation,
// or service accounts by token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ruled.hpp"

namespace kube::testing_support {
namespace {

using testing::HasSubstr;

std::string config_map(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})";
}

// RB-1
TEST(Rbac, AllowsTheUnionOfAllBindings) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string group = api.user("group");
  api.expect(amy, {"GET", api.in_space("/configmaps")},
             api.refused("configmaps", amy, "list", "configmaps"));

  api.grant(api.subject(amy), "{apiGroups: [''], resources: [configmaps], verbs: [list]}");
  api.grant(api.subject(group, "Group"),
            "{apiGroups: [''], resources: [configmaps], verbs: [create]}");
  Headers in_group = api.as(amy);
  in_group.push_back({"Impersonate-Group", group});

  api.expect(amy, {"GET", api.in_space("/configmaps")}, "200");
  api.expect(in_group, {"POST", api.in_space("/configmaps"), config_map("a")}, "201");
  api.expect(in_group, {"GET", api.in_space("/configmaps")}, "200");
  api.expect(amy, {"POST", api.in_space("/configmaps"), config_map("b")},
             api.refused("configmaps", amy, "create", "configmaps"));
}

// RB-2, RB-21
TEST(Rbac, TakesTheVerbFromTheRequest) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string maps = api.in_space("/configmaps");
  const auto verb = [&](const Ruled::Request& request, const std::string& what,
                        const std::string& expected, const std::string& resource) {
    api.expect(amy, request, api.refused(what, amy, expected, resource));
  };

  verb({"GET", maps + "/a"}, "configmaps \"a\"", "get", "configmaps");
  verb({"GET", maps}, "configmaps", "list", "configmaps");
  verb({"GET", maps + "?watch=1"}, "configmaps", "watch", "configmaps");
  verb({"POST", maps, config_map("a")}, "configmaps", "create", "configmaps");
  verb({"PUT", maps + "/a", config_map("a")}, "configmaps \"a\"", "update", "configmaps");
  verb({"PATCH", maps + "/a", "{}", kMerge}, "configmaps \"a\"", "patch", "configmaps");
  verb({"PATCH", maps + "/a?fieldManager=m", config_map("a"), kApply}, "configmaps \"a\"", "patch",
       "configmaps");
  verb({"DELETE", maps + "/a"}, "configmaps \"a\"", "delete", "configmaps");
  verb({"DELETE", maps}, "configmaps", "deletecollection", "configmaps");
  verb({"GET", api.in_space("/services/s/proxy")}, "services \"s\"", "get", "services/proxy");
  verb({"POST", api.in_space("/services/s/proxy/x")}, "services \"s\"", "create", "services/proxy");
  verb({"POST", api.in_space("/pods/p/exec?command=ls")}, "pods \"p\"", "create", "pods/exec");
  verb({"GET", api.in_space("/pods/p/exec?command=ls")}, "pods \"p\"", "get", "pods/exec");
  api.expect(amy, {"POST", "/logs"}, "forbidden: User \"" + amy + "\" cannot post path \"/logs\"");
}

// RB-2
TEST(Rbac, AWebSocketNeedsTheRightToPost) {
  Ruled api;
  const std::string amy = api.user("amy");
  api.grant(api.subject(amy), "{apiGroups: [''], resources: [pods/exec], verbs: [get]}");

  api.expect(amy, {"GET", api.in_space("/pods/p/exec?command=ls")}, "pods \"p\" is forbidden: ");
}

// RB-3, RB-4
TEST(Rbac, MatchesVerbsGroupsAndResources) {
  Ruled api;
  const std::string ns = ", namespace: " + api.space();
  struct Case {
    const char* rule;
    std::vector<std::string> allowed;
    std::vector<std::string> refused;
  };
  const std::vector<Case> cases{
      {"apiGroups: [''], resources: [pods], verbs: [get]",
       {"verb: get, resource: pods", "verb: get, resource: pods, version: v7"},
       {"verb: list, resource: pods", "verb: get, resource: services",
        "verb: get, resource: pods, subresource: log", "verb: get, group: apps, resource: pods"}},
      {"apiGroups: ['*'], resources: ['*'], verbs: ['*']",
       {"verb: juggle, group: g.example, resource: balls, subresource: x",
        "verb: get, resource: pods"},
       {}},
      {"apiGroups: [core, v1], resources: [pods], verbs: [get]",
       {"verb: get, group: core, resource: pods"},
       {"verb: get, resource: pods"}},
      {"apiGroups: [''], resources: [pods/log], verbs: [get]",
       {"verb: get, resource: pods, subresource: log"},
       {"verb: get, resource: pods", "verb: get, resource: pods, subresource: exec"}},
      {"apiGroups: [''], resources: ['*'], verbs: [get]",
       {"verb: get, resource: pods", "verb: get, resource: pods, subresource: log"},
       {"verb: get, group: apps, resource: deployments"}},
      {"apiGroups: ['*'], resources: ['*/scale'], verbs: [update]",
       {"verb: update, group: apps, resource: deployments, subresource: scale",
        "verb: update, group: example.com, resource: widgets, subresource: scale"},
       {"verb: update, group: apps, resource: deployments",
        "verb: update, group: apps, resource: deployments, subresource: status",
        "verb: update, group: apps, resource: deployments, subresource: autoscale"}},
      {"apiGroups: [''], resources: ['pods/*'], verbs: [get]",
       {},
       {"verb: get, resource: pods, subresource: log", "verb: get, resource: pods"}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string who = api.user("case" + std::to_string(i));
    // The second rule shows when the first one is effective.
    api.grant(api.subject(who),
              std::string{"{"} + cases[i].rule + "}, {apiGroups: [x], resources: [x], verbs: [x]}");
    api.expect_allowed(who, "verb: x, group: x, resource: x" + ns);
    for (const std::string& one : cases[i].allowed) api.expect_allowed(who, one + ns);
    for (const std::string& one : cases[i].refused) api.expect_refused(who, one + ns);
  }
}

// RB-5, RB-6
TEST(Rbac, ResourceNamesAllowRequestsThatNameTheObject) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string maps = api.in_space("/configmaps");
  api.grant(api.subject(amy),
            "{apiGroups: [''], resources: [configmaps], resourceNames: [a, b], verbs: ['*']}");
  api.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");

  api.expect(amy, {"GET", maps + "/a"}, "200");
  api.expect(amy, {"GET", maps + "?fieldSelector=metadata.name=a"}, "200");
  const std::string in_space = ",metadata.namespace=" + api.space();
  api.expect(amy, {"GET", maps + "?fieldSelector=metadata.name==b" + in_space}, "200");
  api.expect(amy, {"GET", maps + "/c"}, api.refused("configmaps \"c\"", amy, "get", "configmaps"));
  api.expect(amy, {"GET", maps + "?fieldSelector=metadata.name=c"},
             api.refused("configmaps \"c\"", amy, "list", "configmaps"));
  api.expect(amy, {"GET", maps + "?watch=1&fieldSelector=metadata.name=c"},
             api.refused("configmaps \"c\"", amy, "watch", "configmaps"));
  api.expect(amy, {"GET", maps + "?fieldSelector=metadata.name!=c"},
             api.refused("configmaps", amy, "list", "configmaps"));
  api.expect(amy, {"GET", maps}, api.refused("configmaps", amy, "list", "configmaps"));
  api.expect(amy, {"GET", maps + "?watch=1"},
             api.refused("configmaps", amy, "watch", "configmaps"));
  api.expect(amy, {"POST", maps, config_map("b")},
             api.refused("configmaps", amy, "create", "configmaps"));
  api.expect(amy, {"DELETE", maps},
             api.refused("configmaps", amy, "deletecollection", "configmaps"));
  api.expect(amy, {"DELETE", maps + "?fieldSelector=metadata.name=a"},
             api.refused("configmaps", amy, "deletecollection", "configmaps"));
}

// RB-7
TEST(Rbac, ApplyAndUpdateThatCreateNeedTheRightToCreateThatName) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/" + api.space() + "/leases/";
  const auto lease = [](const std::string& name) {
    return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":")" + name +
           R"("},"spec":{}})";
  };
  api.grant(api.subject(amy),
            "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [patch, update]}, "
            "{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [a, b], verbs: "
            "[create]}");

  api.expect(amy, {"PATCH", leases + "a?fieldManager=m", lease("a"), kApply}, "201");
  EXPECT_EQ(api.answer(api.as(amy), {"PUT", leases + "b", lease("b")}), "201");
  const std::string refusal = api.refused("leases.coordination.k8s.io \"c\"", amy, "create",
                                          "leases", "coordination.k8s.io");
  api.expect(amy, {"PATCH", leases + "c?fieldManager=m", lease("c"), kApply}, refusal);
  api.expect(amy, {"PUT", leases + "c", lease("c")}, refusal);
}

// RB-8, RB-22
TEST(Rbac, NonResourceUrlsMatchByPrefixAndOnlyForTheCluster) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string bob = api.user("bob");
  const std::string rule =
      "{nonResourceURLs: [/metrics, '/logs/*', '/a*z'], verbs: [get]}, {apiGroups: [x], resources: "
      "[x], verbs: [x]}";
  api.grant_everywhere(api.subject(amy), rule);
  api.add("ClusterRole", api.global("urls"), "rules: [" + rule + "]");
  api.bind("RoleBinding", "urls", "ClusterRole", api.global("urls"), api.subject(bob));
  api.expect_allowed(amy, "verb: x, group: x, resource: x");
  api.expect_allowed(bob, "verb: x, group: x, resource: x, namespace: " + api.space());
  const auto may = [&](const std::string& who, const std::string& path) {
    return api.review(who, "nonResourceAttributes: {verb: get, path: " + path + "}")
               .find(R"("allowed":true)") != std::string::npos;
  };

  EXPECT_TRUE(may(amy, "/metrics"));
  EXPECT_TRUE(may(amy, "/logs/x"));
  EXPECT_TRUE(may(amy, "/a*z"));
  EXPECT_FALSE(may(amy, "/logs"));
  EXPECT_FALSE(may(amy, "/metrics/"));
  EXPECT_FALSE(may(amy, "/abz"));
  EXPECT_FALSE(may(bob, "/metrics"));
  api.expect(amy, {"GET", "/metrics"}, "200");
  api.expect(bob, {"GET", "/metrics"},
             "forbidden: User \"" + bob + "\" cannot get path \"/metrics\"");
  ASSERT_TRUE(static_cast<bool>(api.status.details));
  EXPECT_EQ(*api.status.details, meta::v1::StatusDetails{});
}

// RB-9, RB-21
TEST(Rbac, ARoleBindingGrantsAClusterRoleInItsNamespace) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string other = api.server.add_space();
  api.add("ClusterRole", api.global("all"),
          "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]");
  api.bind("RoleBinding", "all", "ClusterRole", api.global("all"), api.subject(amy));

  api.expect(amy, {"GET", api.in_space("/configmaps")}, "200");
  api.expect(amy, {"GET", api.in_space("")}, "200");
  api.expect(amy, {"GET", "/api/v1/configmaps"},
             "configmaps is forbidden: User \"" + amy +
                 "\" cannot list resource \"configmaps\" in API group \"\" at the cluster scope");
  api.expect(amy, {"GET", "/api/v1/nodes"},
             "nodes is forbidden: User \"" + amy +
                 "\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
  api.expect(amy, {"GET", "/api/v1/namespaces/" + other},
             "namespaces \"" + other + "\" is forbidden: User \"" + amy +
                 "\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"" +
                 other + '"');
}

// RB-10
TEST(Rbac, RefusesInvalidRules) {
  Ruled api;
  const auto refusal = [&](const std::string& kind, const std::string& rules,
                           const std::string& why) {
    const std::string yaml = "{apiVersion: " + std::string{kRbac} + "/v1, kind: " + kind +
                             ", metadata: {name: r}, rules: [" + rules + "]}";
    EXPECT_THAT(api.problem(yaml), HasSubstr(why));
  };

  refusal("Role", "{apiGroups: [''], resources: [pods]}",
          "rules[0].verbs: Required value: verbs must contain at least one value");
  refusal("Role", "{resources: [pods], verbs: [get]}",
          "rules[0].apiGroups: Required value: resource rules must supply at least one api group");
  refusal("Role", "{apiGroups: [''], verbs: [get]}",
          "rules[0].resources: Required value: resource rules must supply at least one resource");
  refusal("Role", "{nonResourceURLs: [/x], verbs: [get]}",
          "namespaced rules cannot apply to non-resource URLs");
  refusal("ClusterRole",
          "{apiGroups: [''], resources: [pods], nonResourceURLs: [/x], verbs: [get]}",
          "rules cannot apply to both regular resources and non-resource URLs");
  EXPECT_EQ(api.problem("{apiVersion: " + std::string{kRbac} +
                        "/v1, kind: ClusterRole, metadata: {name: r}, rules: "
                        "[{nonResourceURLs: ['/a*z'], verbs: [get]}]}"),
            "");
}

// RB-11
TEST(Rbac, RefusesInvalidBindings) {
  Ruled api;
  const auto binding = [&](const std::string& kind, const std::string& subject,
                           const std::string& role) {
    return "{apiVersion: " + std::string{kRbac} + "/v1, kind: " + kind +
           ", metadata: {name: b}, subjects: [" + subject + "], roleRef: {" + role + "}}";
  };
  const auto refusal = [&](const std::string& yaml, const std::string& why) {
    EXPECT_THAT(api.problem(yaml), HasSubstr(why));
  };
  const std::string view = "kind: ClusterRole, name: view";

  refusal(binding("ClusterRoleBinding", "{kind: User, name: u}", "kind: Role, name: r"),
          "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"");
  refusal(binding("RoleBinding", "{kind: Robot, name: u}", view),
          "subjects[0].kind: Unsupported value: \"Robot\": supported values: ");
  refusal(binding("ClusterRoleBinding", "{kind: ServiceAccount, name: u}", view),
          "subjects[0].namespace: Required value");
  const Ref<Value> made = api.create(
      binding("RoleBinding",
              "{kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: ns}", view));
  EXPECT_EQ(encode_json((*made)["subjects"]),
            R"([{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"u"},)"
            R"({"kind":"ServiceAccount","name":"s","namespace":"ns"}])");
  EXPECT_EQ(Asked::text(*made, "roleRef.apiGroup"), kRbac);
  EXPECT_EQ(api.answer({}, {"PATCH", api.rbac_in_space("/rolebindings/b"),
                            R"({"roleRef":{"name":"edit"}})", kMerge}),
            "RoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef: Invalid value: "
            R"({"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: )"
            "cannot change roleRef");
}

// RB-12, RB-30
TEST(Rbac, RefusalsNameMissingRoles) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string absent = api.global("absent");
  api.bind("ClusterRoleBinding", api.global("b"), "ClusterRole", absent, api.subject(amy));
  const std::string one = "clusterrole.rbac.authorization.k8s.io \"" + absent + "\" not found";
  api.expect(amy, {"GET", api.in_space("/configmaps")},
             api.refused("configmaps", amy, "list", "configmaps") + ": RBAC: " + one);

  api.bind("RoleBinding", "b", "Role", "gone", api.subject(amy));

  const std::string both = "RBAC: [" + one + ", role.rbac.authorization.k8s.io \"gone\" not found]";
  api.expect(amy, {"GET", api.in_space("/configmaps")},
             api.refused("configmaps", amy, "list", "configmaps") + ": " + both);
  const std::string list = "verb: list, resource: configmaps, namespace: " + api.space();
  const Ref<Value> status =
      decode_json<Value>(api.review(amy, "resourceAttributes: {" + list + "}"));
  EXPECT_EQ((*status)["allowed"], Value{false});
  EXPECT_EQ(Asked::text(*status, "reason"), both);
}

// RB-13
TEST(Rbac, ChangesTakeEffectAtOnce) {
  Ruled api;
  const std::string amy = api.user("amy");
  const Ruled::Request list{"GET", api.in_space("/configmaps")};
  api.grant(api.subject(amy), "{apiGroups: [''], resources: [configmaps], verbs: [get]}");
  api.expect(amy, list, api.refused("configmaps", amy, "list", "configmaps"));

  api.add("Role", "grant-1", "rules: [{apiGroups: [''], resources: [configmaps], verbs: [list]}]");
  api.expect(amy, list, "200");
  api.server.remove({kRbac, "v1", "rolebindings"}, api.space(), "grant-1");
  api.expect(amy, list, api.refused("configmaps", amy, "list", "configmaps"));
}

// RB-15
TEST(Rbac, ServiceAccountsAreUsersWithGroups) {
  Ruled api;
  const std::string rule = "{apiGroups: [''], resources: [configmaps], verbs: [list]}";
  const Ruled::Request list{"GET", api.in_space("/configmaps")};
  const auto robot = [&](const std::string& name, const std::string& subject) {
    const Headers token = api.account(name);
    api.expect(token, list,
               api.refused("configmaps", api.account_user(name), "list", "configmaps"));
    api.grant(subject, rule);
    api.expect(token, list, "200");
    api.expect(api.account_user(name), list, "200");
  };

  robot("a", "{kind: ServiceAccount, name: a, namespace: " + api.space() + "}");
  robot("b", api.subject(api.account_user("b")));
  robot("c", api.subject("system:serviceaccounts:" + api.space(), "Group"));
  api.expect(api.account_user("d"), list, "200");
  EXPECT_EQ(api.answer(api.as(api.account_user("d")),
                       {"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"}),
            "201");
  EXPECT_EQ(encode_json((*api.body)["status"]["userInfo"]["groups"]),
            R"(["system:serviceaccounts","system:serviceaccounts:)" + api.space() +
                R"(","system:authenticated"])");
}

// RB-16, RB-30
TEST(Rbac, MastersAreAllowedEverythingWithoutReason) {
  Ruled api;

  EXPECT_EQ(api.review("x",
                       "groups: ['system:masters'], resourceAttributes: {verb: juggle, "
                       "resource: balls}"),
            R"({"allowed":true})");
}

// RB-14, RB-17
TEST(Rbac, AnonymousUsersSeeHealthAndOthersDiscovery) {
  Ruled api;
  const std::string amy = api.user("amy");
  const std::string anonymous = "system:anonymous";
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"}) {
    api.expect(anonymous, {"GET", path}, "200");
    api.expect(amy, {"GET", path}, "200");
  }
  for (const char* path : {"/api", "/apis", "/apis/apps/v1", "/openapi/v2", "/openapi/v3"}) {
    api.expect(anonymous, {"GET", path},
               "forbidden: User \"system:anonymous\" cannot get path \"" + std::string{path} + '"');
    api.expect(amy, {"GET", path}, "200");
  }
  const std::string review = R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})";
  const std::string reviews = "/apis/authorization.k8s.io/v1/";
  api.expect(amy, {"POST", reviews + "selfsubjectaccessreviews", review}, "201");
  api.expect(amy,
             {"POST", reviews + "selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})"},
             "201");
  api.expect(amy, {"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"}, "201");
  EXPECT_EQ(encode_json((*api.body)["status"]["userInfo"]["groups"]),
            R"(["system:authenticated"])");
  api.expect(amy, {"POST", reviews + "subjectaccessreviews", review},
             "subjectaccessreviews.authorization.k8s.io is forbidden: User \"" + amy +
                 "\" cannot create resource \"subjectaccessreviews\" in API group "
                 "\"authorization.k8s.io\" at the cluster scope");
}

// RB-18, RB-19
TEST(Rbac, ImpersonationIsCheckedForEachValue) {
  Ruled api;
  const Headers token = api.account("robot");
  const std::string robot = api.account_user("robot");
  const auto as = [&](const std::string& user, const std::vector<std::string>& groups = {}) {
    Headers headers = token;
    headers.push_back({"Impersonate-User", user});
    for (const std::string& group : groups) headers.push_back({"Impersonate-Group", group});
    return headers;
  };
  const Ruled::Request list{"GET", api.in_space("/configmaps")};
  // Without any right, the refusal is about the constrained form.
  api.expect(as("bob"), list,
             api.refused("configmaps", robot, "impersonate-on:user-info:list", "configmaps"));

  api.grant_everywhere(
      "{kind: ServiceAccount, name: robot, namespace: " + api.space() + "}",
      "{apiGroups: [''], resources: [users], resourceNames: [bob], verbs: [impersonate]}, "
      "{apiGroups: [''], resources: [groups], resourceNames: [dev], verbs: [impersonate]}, "
      "{apiGroups: [''], resources: [serviceaccounts], resourceNames: [sa], verbs: [impersonate]}");

  // The impersonated request is authorized as that user.
  api.expect(as("bob"), list, api.refused("configmaps", "bob", "list", "configmaps"));
  api.expect(as("bob", {"dev"}), list, api.refused("configmaps", "bob", "list", "configmaps"));
  api.expect(as(api.account_user("sa")), list,
             api.refused("configmaps", api.account_user("sa"), "list", "configmaps"));
  const auto refusal = [&](const std::string& what, const std::string& resource,
                           const std::string& where) {
    return what + " is forbidden: User \"" + robot + "\" cannot impersonate resource \"" +
           resource + "\" in API group \"\" " + where;
  };
  api.expect(as("carl"), list, refusal("users \"carl\"", "users", "at the cluster scope"));
  api.expect(as("bob", {"dev", "ops"}), list,
             refusal("groups \"ops\"", "groups", "at the cluster scope"));
  api.expect(as(api.account_user("other")), list,
             refusal("serviceaccounts \"other\"", "serviceaccounts",
                     "in the namespace \"" + api.space() + '"'));
}

// RB-19
TEST(Rbac, ConstrainedImpersonationAllowsSingleActions) {
  Ruled api;
  const Headers token = api.account("robot");
  const std::string robot = api.account_user("robot");
  api.grant_everywhere(
      "{kind: ServiceAccount, name: robot, namespace: " + api.space() + "}",
      "{apiGroups: [authentication.k8s.io], resources: [users], resourceNames: [bob], verbs: "
      "['impersonate:user-info']}, "
      "{apiGroups: [''], resources: [configmaps], verbs: ['impersonate-on:user-info:list']}");
  Headers as_bob = token;
  as_bob.push_back({"Impersonate-User", "bob"});

  api.expect(as_bob, {"GET", api.in_space("/configmaps")},
             api.refused("configmaps", "bob", "list", "configmaps"));
  api.expect(as_bob, {"GET", api.in_space("/configmaps/a")},
             api.refused("configmaps \"a\"", robot, "impersonate-on:user-info:get", "configmaps"));
  as_bob.push_back({"Impersonate-Group", "system:masters"});
  api.expect(as_bob, {"GET", api.in_space("/configmaps")},
             "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"" + robot +
                 "\" cannot impersonate:user-info resource \"groups\" in API group "
                 "\"authentication.k8s.io\" at the cluster scope: impersonating the system:masters "
                 "group is not allowed");
}

// RB-20, RB-23
TEST(Rbac, RefusalsComeBeforeAnythingIsLookedUp) {
  Ruled api;
  const std::string amy = api.user("amy");
  const auto ask = [&](const std::string& path, const std::string& expected) {
    api.expect(amy, {"GET", path}, expected);
  };

  ask("/apis/apps/v1/namespaces/" + api.space() + "/deployments/d/status",
      api.refused("deployments.apps \"d\"", amy, "get", "deployments/status", "apps"));
  EXPECT_EQ(api.status.code, 403);
  EXPECT_EQ(api.status.reason, "Forbidden");
  EXPECT_EQ(api.status.details->name, "d");
  EXPECT_EQ(api.status.details->group, "apps");
  EXPECT_EQ(api.status.details->kind, "deployments");
  ask(api.in_space("/gadgets/g"), api.refused("gadgets \"g\"", amy, "get", "gadgets"));
  ask("/apis/nowhere.example/v1/namespaces/" + api.space() + "/gadgets",
      api.refused("gadgets.nowhere.example", amy, "list", "gadgets", "nowhere.example"));
  api.grant(api.subject(amy), "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}");
  ask(api.in_space("/gadgets/g"), "the server could not find the requested resource");
  ask(api.in_space("/configmaps/g"), "configmaps \"g\" not found");
}

}  // namespace
}  // namespace kube::testing_support
