// SPDX-License-Identifier: Apache-2.0
// Role-based access control: what concerns this server only. tests/parity has the rest.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;

const GroupResource kClusterRoles{"rbac.authorization.k8s.io", "clusterroles"};
const GroupResource kClusterBindings{"rbac.authorization.k8s.io", "clusterrolebindings"};

/// An engine that enforces roles. Users have a token that is their name.
class Ruled : public Api {
 public:
  explicit Ruled(EngineOptions options = {}) : Api(with_users(std::move(options))) {}

  ApiReply as(const std::string& user, std::string_view method, std::string_view target,
              std::string body = {}) {
    Headers headers{{"Authorization", "Bearer " + user}};
    if (!body.empty()) headers.push_back({"Content-Type", "application/json"});
    return send(method, target, std::move(body), std::move(headers));
  }
  /// Binds a new ClusterRole with these rules to a user.
  void grant(const std::string& user, const std::string& rules) {
    const std::string name = "'" + user + "-role'";
    seed("kind: ClusterRole, metadata: {name: " + name + "}, rules: [" + rules + "]");
    seed("kind: ClusterRoleBinding, metadata: {name: " + name +
         "}, subjects: [{kind: User, name: '" + user + "'}], roleRef: {kind: ClusterRole, name: " +
         name + "}");
  }
  void seed(const std::string& yaml) {
    engine.seed(*parse_yaml("{apiVersion: rbac.authorization.k8s.io/v1, " + yaml + "}"));
  }

 private:
  static EngineOptions with_users(EngineOptions options) {
    options.rbac = true;
    options.tokens = {{"root", {.name = "root", .groups = {"system:masters"}}},
                      {"amy", {.name = "amy", .groups = {"dev"}}}};
    return options;
  }
};

constexpr const char* kReadMaps =
    "{apiGroups: [''], resources: [configmaps], verbs: [list, watch]}";

// RB-1
TEST(Rbac, IsOffByDefault) {
  Api api;

  EXPECT_EQ(api.get(kConfigMaps).status(), 200);
  EXPECT_EQ(api.get("/metrics").status(), 200);
}

// RB-13
TEST(Rbac, ALostRightDoesNotEndAWatch) {
  Ruled api;
  api.grant("amy", kReadMaps);
  ApiReply started = api.as("amy", "GET", std::string{kConfigMaps} + "?watch=1");
  ASSERT_EQ(started.status(), 200);
  WatchReader watch{std::move(started.response.stream)};

  api.engine.remove(kClusterBindings, "", "amy-role");
  EXPECT_EQ(api.as("amy", "GET", kConfigMaps).status(), 403);
  api.as("root", "POST", kConfigMaps, R"({"metadata":{"name":"late"}})");

  EXPECT_EQ(watch.next().name(), "late");
}

// RB-14
TEST(Rbac, WrongCredentialsAreNotAnonymous) {
  Ruled api;
  api.grant("system:anonymous", kReadMaps);

  EXPECT_EQ(api.get(kConfigMaps).status(), 200);
  EXPECT_EQ(api.as("nobody", "GET", kConfigMaps).status(), 401);
  EXPECT_EQ(api.as("amy", "GET", kConfigMaps).status(), 403);
  EXPECT_EQ(api.as("amy", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}")
                .at("status.userInfo.groups"),
            R"(["dev","system:authenticated"])");
}

// RB-1: a user's authorizer may refuse what roles allow, but not the other way round.
TEST(Rbac, IsAskedAfterTheAuthorizer) {
  Ruled api{{.authorize = [](const AccessRequest& access) -> AccessDecision {
    return {access.name != "secret", "hidden"};
  }}};
  api.grant("amy", "{apiGroups: [''], resources: [configmaps], verbs: [get]}");

  EXPECT_EQ(api.as("amy", "GET", std::string{kConfigMaps} + "/open").status(), 404);
  EXPECT_THAT(api.as("amy", "GET", std::string{kConfigMaps} + "/secret").message(),
              HasSubstr(": hidden"));
  EXPECT_EQ(api.as("amy", "GET", kConfigMaps).status(), 403);
}

// RB-17, BK-8
TEST(Rbac, DefaultRolesAreThoseOfARealServer) {
  Ruled api;
  const Ref<Value> recorded =
      parse_json(test::fixture("rbac.authorization.k8s.io_v1_clusterroles.json"));
  std::size_t compared = 0;
  for (const Value& role : recorded->get_array("items")) {
    const std::string name{role.get_string("metadata.name").value_or("")};
    const Ref<Value> own = api.engine.find(kClusterRoles, "", name);
    ASSERT_TRUE(own) << name;
    EXPECT_EQ((*own)["metadata"]["labels"], role["metadata"]["labels"]) << name;
    EXPECT_EQ((*own)["aggregationRule"], role["aggregationRule"]) << name;
    if (!role["rules"].is_array()) continue;  // aggregated by a controller, which was not there
    EXPECT_EQ((*own)["rules"], role["rules"]) << name;
    ++compared;
  }
  EXPECT_GE(compared, 9U);
}

// RB-17
TEST(Rbac, DefaultRolesAreRestored) {
  Ruled api;
  api.engine.remove(kClusterBindings, "", "system:discovery");
  EXPECT_EQ(api.as("amy", "GET", "/apis").status(), 403);

  api.engine.import_objects(api.engine.export_objects(), api.engine.revision());
  EXPECT_EQ(api.as("amy", "GET", "/apis").status(), 200);
  api.engine.reset();
  EXPECT_EQ(api.as("amy", "GET", "/apis").status(), 200);
}

// RB-29
TEST(Rbac, RolesAreAggregatedOnRequest) {
  Ruled api{{.aggregate_roles = true}};
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const auto add = [&](const std::string& name, const std::string& label, const std::string& verb) {
    return api.as("root", "POST", roles,
                  R"({"metadata":{"name":")" + name + R"(","labels":{")" + label +
                      R"(":"true"}},"rules":[{"apiGroups":["x"],"resources":["x"],"verbs":[")" +
                      verb + R"("]}]})");
  };
  api.as("root", "POST", roles,
         R"({"metadata":{"name":"sum"},"aggregationRule":{"clusterRoleSelectors":[)"
         R"({"matchLabels":{"a":"true"}},{"matchLabels":{"b":"true"}}]}})");
  add("z", "a", "get");
  add("y", "a", "list");
  add("x", "b", "list");  // the same rule as y
  ASSERT_TRUE(api.engine.settle());

  const ApiReply sum = api.as("root", "GET", roles + "/sum");
  EXPECT_EQ(sum.at("rules"), R"([{"apiGroups":["x"],"resources":["x"],"verbs":["list"]},)"
                             R"({"apiGroups":["x"],"resources":["x"],"verbs":["get"]}])");
  EXPECT_THAT(sum.text(), HasSubstr("clusterrole-aggregation-controller"));

  // Roles of other groups join the default roles: view, and through it edit and admin.
  add("widgets", "rbac.authorization.k8s.io/aggregate-to-view", "watch");
  api.as("root", "DELETE", roles + "/z");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.as("root", "GET", roles + "/sum").at("rules"),
            R"([{"apiGroups":["x"],"resources":["x"],"verbs":["list"]}])");
  for (const char* name : {"view", "edit", "admin"}) {
    EXPECT_THAT(api.as("root", "GET", roles + "/" + name).at("rules"),
                HasSubstr(R"({"apiGroups":["x"],"resources":["x"],"verbs":["watch"]})"));
  }
}

// RB-29
TEST(Rbac, DefaultAggregatesHaveTheirRules) {
  Ruled api;
  api.seed(
      "kind: RoleBinding, metadata: {name: b, namespace: default}, subjects: [{kind: User, name: "
      "amy}], roleRef: {kind: ClusterRole, name: edit}");

  EXPECT_EQ(api.as("amy", "GET", kPods).status(), 200);
  EXPECT_EQ(api.as("amy", "POST", kConfigMaps, R"({"metadata":{"name":"a"}})").status(), 201);
  EXPECT_EQ(api.as("amy", "GET", "/api/v1/pods").status(), 403);
  EXPECT_EQ(api.as("amy", "GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles")
                .status(),
            403);
}

// RB-13: requests see a change of roles at once, also while others are authorized.
TEST(Rbac, RequestsSeeChangesOfOtherThreads) {
  Ruled api;
  api.grant("amy", kReadMaps);
  std::atomic<bool> stop = false;
  std::thread reader{[&] {
    while (!stop) {
      const int status = api.as("amy", "GET", "/api/v1/configmaps").status();
      EXPECT_TRUE(status == 200 || status == 403) << status;
    }
  }};
  for (int i = 0; i < 50; ++i) {
    api.engine.remove(kClusterBindings, "", "amy-role");
    EXPECT_EQ(api.as("amy", "GET", kConfigMaps).status(), 403);
    api.grant("amy", kReadMaps);
    EXPECT_EQ(api.as("amy", "GET", kConfigMaps).status(), 200);
  }
  stop = true;
  reader.join();
}

// RB-2 to RB-9: rules, and requests that they allow.
TEST(Rbac, TableOfRulesAndRequests) {
  using Asked = std::pair<std::string, std::string>;
  struct Case {
    const char* rules;
    /// Methods and paths that are not answered with 403.
    std::vector<Asked> allowed;
  };
  const std::string map = std::string{kConfigMaps} + "/m";
  const std::string all_maps = "/api/v1/configmaps";
  const std::string scale = "/apis/apps/v1/namespaces/default/deployments/d/scale";
  const std::vector<Asked> requests{
      {"GET", map},
      {"GET", kConfigMaps},
      {"GET", all_maps},
      {"GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dm"},
      {"GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dn"},
      {"POST", kConfigMaps},
      {"PUT", map},
      {"DELETE", map},
      {"DELETE", kConfigMaps},
      {"GET", "/api/v1/namespaces/default/pods/p/log"},
      {"GET", "/api/v1/namespaces/default/pods/p"},
      {"GET", scale},
      {"PUT", scale},
      {"GET", "/api/v1/nodes/n"},
      {"GET", "/api/v1/namespaces/default"},
      {"GET", "/metrics"},
      {"GET", "/openid/v1/jwks"}};
  const std::vector<Case> cases{
      {"", {}},
      {"{apiGroups: [''], resources: [configmaps], verbs: [get]}", {{"GET", map}}},
      {"{apiGroups: [''], resources: [configmaps], verbs: [list]}",
       {{"GET", kConfigMaps},
        {"GET", all_maps},
        {"GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dm"},
        {"GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dn"}}},
      {"{apiGroups: [''], resources: [configmaps], resourceNames: [m], verbs: ['*']}",
       {{"GET", map},
        {"GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dm"},
        {"PUT", map},
        {"DELETE", map}}},
      {"{apiGroups: [''], resources: [configmaps], verbs: [create, deletecollection]}",
       {{"POST", kConfigMaps}, {"DELETE", kConfigMaps}}},
      {"{apiGroups: [''], resources: [pods/log], verbs: [get]}",
       {{"GET", "/api/v1/namespaces/default/pods/p/log"}}},
      {"{apiGroups: [''], resources: ['pods/*'], verbs: [get]}", {}},
      {"{apiGroups: ['*'], resources: ['*/scale'], verbs: [get]}", {{"GET", scale}}},
      {"{apiGroups: [apps], resources: ['*'], verbs: ['*']}", {{"GET", scale}, {"PUT", scale}}},
      {"{apiGroups: [''], resources: [nodes, namespaces], verbs: [get]}",
       {{"GET", "/api/v1/nodes/n"}, {"GET", "/api/v1/namespaces/default"}}},
      {"{nonResourceURLs: ['/metrics'], verbs: [get]}", {{"GET", "/metrics"}}},
      {"{nonResourceURLs: ['/openid/*'], verbs: [get]}", {{"GET", "/openid/v1/jwks"}}},
      {"{apiGroups: ['*'], resources: ['*'], verbs: ['*']}, {nonResourceURLs: ['*'], verbs: ['*']}",
       requests}};
  for (const Case& one : cases) {
    Ruled api;
    api.grant("amy", one.rules);
    std::vector<Asked> allowed;
    for (const Asked& request : requests) {
      if (api.as("amy", request.first, request.second).status() != 403) allowed.push_back(request);
    }
    EXPECT_EQ(allowed, one.allowed) << one.rules;
  }
}

}  // namespace
}  // namespace kube::testkit::detail
