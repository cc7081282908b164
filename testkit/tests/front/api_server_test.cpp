// SPDX-License-Identifier: Apache-2.0
#include "http2_client.hpp"
#include "raw_client.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/codec/json.hpp>
#include <kube/config/kubeconfig.hpp>
#include <kube/testkit/api_server.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kube::testkit {
namespace {

using namespace std::chrono_literals;
using core::v1::ConfigMap;
using core::v1::Pod;

ConfigMap config_map(std::string_view name, std::string_view value = "v") {
  ConfigMap object;
  object.metadata.namespace_ = "default";
  object.metadata.name = name;
  object.data["key"] = value;
  return object;
}

std::string json_of(std::string_view name) { return encode_json(config_map(name)); }

constexpr std::string_view kConfigMaps = "/api/v1/namespaces/default/configmaps";

/// A temporary folder, removed by the destructor.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kubecxx-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream{path_ / file} << text;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(ApiServer, ServesAfterConstruction) {
  ApiServer server;
  RawClient client{server.port()};

  client.get("/api/v1/namespaces/default");
  const RawResponse response = client.read_response();

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(decode_json<Value>(response.body)->get_string("status.phase"), "Active");
  EXPECT_EQ(server.url(), fmt::format("http://127.0.0.1:{}", server.port()));
}

// BK-8
TEST(ApiServer, IsTheEndpointOfTheServiceKubernetes) {
  ApiServer server{{.cluster_objects = true}};
  const Ref<Value> slice =
      server.find({"discovery.k8s.io", "endpointslices"}, "default", "kubernetes");
  const Ref<Value> endpoints = server.find({"", "endpoints"}, "default", "kubernetes");

  ASSERT_TRUE(slice && endpoints);
  const Value port{static_cast<std::int64_t>(server.port())};
  EXPECT_EQ(*slice->find("endpoints[0].addresses[0]"), Value{"127.0.0.1"});
  EXPECT_EQ(*slice->find("ports[0].port"), port);
  EXPECT_EQ(*endpoints->find("subsets[0].addresses[0].ip"), Value{"127.0.0.1"});
  EXPECT_EQ(*endpoints->find("subsets[0].ports[0].port"), port);
}

TEST(ApiServer, TwoServersShareNothing) {
  ApiServer one;
  ApiServer two;

  one.create(config_map("a"));

  EXPECT_EQ(one.count<ConfigMap>("default"), 1U);
  EXPECT_EQ(two.count<ConfigMap>("default"), 0U);
  EXPECT_NE(one.port(), two.port());
}

TEST(ApiServer, SeedsStructsAsTheyAre) {
  ApiServer server;
  Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = "web-0";
  pod.status.phase = "Running";

  const Ref<Pod> stored = server.create(pod);

  EXPECT_FALSE(stored->metadata.uid.empty());
  EXPECT_FALSE(stored->metadata.resource_version.empty());
  EXPECT_EQ(stored->status.phase.view(), "Running");
  const Ref<Pod> found = server.find<Pod>("default", "web-0");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metadata.uid.view(), stored->metadata.uid.view());
  EXPECT_TRUE(server.remove<Pod>("default", "web-0"));
  EXPECT_FALSE(server.find<Pod>("default", "web-0"));
  EXPECT_FALSE(server.remove<Pod>("default", "web-0"));
}

TEST(ApiServer, SeedsYamlWithListsAndDefinitions) {
  ApiServer server;

  const std::size_t count = server.load_yaml(R"(
apiVersion: zoo.example.com/v1
kind: Animal
metadata: {name: tiger, namespace: default}
spec: {legs: 4}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: animals.zoo.example.com}
spec:
  group: zoo.example.com
  scope: Namespaced
  names: {plural: animals, singular: animal, kind: Animal}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: default}}
)");

  EXPECT_EQ(count, 4U);
  EXPECT_EQ(server.count<ConfigMap>(), 2U);
  const Ref<Value> tiger = server.find({"zoo.example.com", "animals"}, "default", "tiger");
  ASSERT_TRUE(tiger);
  EXPECT_EQ(tiger->get_integer("spec.legs"), 4);
}

TEST(ApiServer, SeedsFoldersAndNamesTheFileOfAnError) {
  ApiServer server;
  const Folder folder;
  folder.write("b.json", json_of("b"));
  folder.write("deep/a.yaml",
               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n");
  folder.write("notes.txt", "not for us");

  EXPECT_EQ(server.load(folder.path()), 2U);
  EXPECT_EQ(server.count<ConfigMap>(), 2U);
  folder.write("deep/bad.yaml", "a: [");
  try {
    server.load(folder.path());
    FAIL() << "malformed YAML was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("deep/bad.yaml: "), std::string::npos) << error.what();
  }
  EXPECT_THROW(server.load(folder.path() / "none"), Error);
  EXPECT_THROW(server.load_yaml("apiVersion: v1\nkind: Unicorn\nmetadata: {name: a}\n"), Error);
}

TEST(ApiServer, ConfigLeadsToTheServer) {
  ApiServer server{{.tls = true}};

  const Config config = server.config();
  const Kubeconfig file = parse_kubeconfig(server.kubeconfig());

  EXPECT_EQ(config.host, fmt::format("https://127.0.0.1:{}", server.port()));
  EXPECT_EQ(config.tls.ca_data, server.ca_pem());
  EXPECT_EQ(file.clusters.at("kubecxx").server, config.host);
  EXPECT_EQ(file.clusters.at("kubecxx").certificate_authority_data, server.ca_pem());
  EXPECT_EQ(file.users.at(file.contexts.at(file.current_context).user).token, config.bearer_token);
}

// AU-1, AU-3, AU-4
TEST(ApiServer, AuthenticatesUsersAndCallsTheAuthorizer) {
  ApiServer server{{.users = {{"alice"}},
                    .allow_anonymous = false,
                    .deny = [](const RequestInfo& request) -> std::optional<std::string> {
                      if (request.verb == "create") return "read only";
                      return std::nullopt;
                    }}};
  const auto status = [&](std::string_view authorization, bool write) {
    RawClient client{server.port()};
    const std::string headers = fmt::format("Authorization: {}\r\n", authorization);
    if (write) {
      client.post(kConfigMaps, json_of("a"), headers);
    } else {
      client.get(kConfigMaps, headers);
    }
    return client.read_response();
  };
  const std::string alice = "Bearer " + server.config_for("alice").bearer_token;

  EXPECT_EQ(status("", false).status, 401);
  EXPECT_EQ(status("Bearer wrong", false).status, 401);
  EXPECT_EQ(status(alice, false).status, 200);
  const RawResponse refused = status(alice, true);
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("read only"), std::string::npos);
  EXPECT_EQ(status("Bearer " + server.config().bearer_token, true).status, 201);
  EXPECT_EQ(status("Bearer " + server.config_for("bob").bearer_token, false).status, 200);
  EXPECT_EQ(server.requests().count({.user = "alice"}), 2U);
}

// AU-5
TEST(ApiServer, IssuesClientCertificatesForAnyUser) {
  ApiServer server{{.tls = true}};
  ApiServer other{{.tls = true}};
  const auto ask = [&](const Config& config) {
    RawClient client{server.port(), server.ca_pem(), config.tls.certificate_data,
                     config.tls.key_data};
    client.get("/api/v1/namespaces");
    return client.read_response().status;
  };

  EXPECT_EQ(ask(server.config_for("bob", {"dev"})), 200);
  EXPECT_EQ(server.requests().count({.user = "bob"}), 1U);
  EXPECT_EQ(ask(other.config_for("bob", {"dev"})), 401);  // although anonymous is allowed
  EXPECT_EQ(ask({}), 200);
}

/// Sends a request with the credentials of a configuration.
RawResponse ask(const ApiServer& server, const Config& config, std::string_view path,
                std::string_view body = {}) {
  RawClient client{server.port(), config.tls.ca_data, config.tls.certificate_data,
                   config.tls.key_data};
  const std::string headers =
      config.bearer_token.empty() ? "" : "Authorization: Bearer " + config.bearer_token + "\r\n";
  if (body.empty()) {
    client.get(path, headers);
  } else {
    client.post(path, body, headers);
  }
  return client.read_response();
}

/// Returns name and groups of the user whom the server takes a client for.
std::string whoami(const ApiServer& server, const Config& config) {
  const RawResponse response =
      ask(server, config, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  const Ref<Value> review = decode_json<Value>(response.body);
  const Value& user = (*review)["status"]["userInfo"];
  return std::string{user["username"].as_string()} + ' ' + encode_json(user["groups"]);
}

// AU-10, RB-15
TEST(ApiServer, GivesConfigurationsOfUsersAndAccounts) {
  for (const bool tls : {false, true}) {
    ApiServer server{{.tls = tls, .rbac = true}};
    server.load_yaml("{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}");

    EXPECT_EQ(whoami(server, server.config_for("bob", {"dev"})),
              R"(bob ["dev","system:authenticated"])");
    EXPECT_EQ(whoami(server, server.config_for_account("default", "robot")),
              R"(system:serviceaccount:default:robot ["system:serviceaccounts",)"
              R"("system:serviceaccounts:default","system:authenticated"])");
    EXPECT_THROW((void)server.config_for_account("default", "nobody"), ApiError);
    const Kubeconfig file = parse_kubeconfig(server.kubeconfig(server.config_for("bob")));
    EXPECT_EQ(file.clusters.at("kubecxx").server, server.url());
    const KubeconfigUser& user = file.users.at(file.contexts.at(file.current_context).user);
    EXPECT_EQ(user.token.empty(), tls);
    EXPECT_EQ(user.client_certificate_data.empty(), !tls);
  }
}

// RB-1
TEST(ApiServer, EnforcesRoles) {
  ApiServer server{{.rbac = true}};
  const Config bob = server.config_for("bob");
  EXPECT_EQ(ask(server, bob, kConfigMaps).status, 403);

  server.load_yaml(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, "
      "namespace: default}, subjects: [{kind: User, name: bob}], roleRef: {kind: ClusterRole, "
      "name: view}}");

  EXPECT_EQ(ask(server, bob, kConfigMaps).status, 200);
  EXPECT_EQ(ask(server, bob, kConfigMaps, json_of("a")).status, 403);
  EXPECT_EQ(ask(server, server.config(), kConfigMaps, json_of("a")).status, 201);
}

// RB-17: a data file of a server without roles.
TEST(ApiServer, DefaultRolesAreAddedToADataFile) {
  const Folder folder;
  const std::filesystem::path data = folder.path() / "data";
  ApiServer{{.data = data}}.create(config_map("kept"));
  const GroupResource roles{"rbac.authorization.k8s.io", "clusterroles"};
  std::uint64_t revision = 0;
  {
    ApiServer server{{.rbac = true, .data = data}};
    EXPECT_TRUE(server.find(roles, "", "view"));
    revision = server.revision();
  }

  ApiServer server{{.rbac = true, .data = data}};

  EXPECT_EQ(server.revision(), revision);
  EXPECT_TRUE(server.find<ConfigMap>("default", "kept"));
}

// BK-6
TEST(ApiServer, LogsRequests) {
  ApiServer server{{.request_log = 2}};
  RawClient client{server.port()};
  const auto get = [&](std::string_view target) {
    client.get(target, "User-Agent: test/1.0\r\n");
    (void)client.read_response();
  };

  get("/version");
  get("/api/v1/namespaces/default/pods?limit=5");
  get("/apis/apps/v1/namespaces/default/deployments/web/status");

  EXPECT_EQ(server.requests().total(), 3U);
  const auto entries = server.requests().entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].info.verb, "list");
  EXPECT_EQ(entries[0].info.query, "limit=5");
  EXPECT_EQ(entries[0].info.user_agent, "test/1.0");
  EXPECT_EQ(entries[0].info.user, "system:anonymous");
  EXPECT_EQ(entries[0].status, 200);
  EXPECT_EQ(entries[1].info.verb, "get");
  EXPECT_EQ(entries[1].info.group, "apps");
  EXPECT_EQ(entries[1].info.resource, "deployments");
  EXPECT_EQ(entries[1].info.subresource, "status");
  EXPECT_EQ(entries[1].info.name, "web");
  EXPECT_EQ(entries[1].status, 404);
}

TEST(ApiServer, WatchesSeeWritesOverHttp) {
  ApiServer server;
  RawClient watching{server.port()};
  watching.get("/api/v1/configmaps?watch=1&resourceVersion=1");
  EXPECT_EQ(watching.read_head().status, 200);
  RawClient writing{server.port()};

  writing.post(kConfigMaps, json_of("a"));
  EXPECT_EQ(writing.read_response().status, 201);

  const Ref<Value> event = decode_json<Value>(watching.read_chunk());
  EXPECT_EQ(event->get_string("type"), "ADDED");
  EXPECT_EQ(event->get_string("object.metadata.name"), "a");
}

// WT-24, WT-5
TEST(ApiServer, CompressesWatchListsIfEnabled) {
  for (const bool compress : {true, false}) {
    ApiServer server{{.compress_watches = compress}};
    server.create(config_map("a"));
    RawClient client{server.port()};

    client.get(
        "/api/v1/configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan",
        "Accept-Encoding: gzip\r\n");

    EXPECT_EQ(client.read_head().headers.contains("content-encoding"), compress);
    EXPECT_EQ(client.read_chunk().starts_with("\x1f\x8b"), compress);
  }
}

// BK-6: the engine marks the kinds of frames that faults select.
TEST(ApiServer, FaultsRecognizeFramesOfTheEngine) {
  ApiServer server;
  server.create(config_map("a"));
  server.faults().next().matching({.verb = "watch"}).withhold_initial_events_end();
  RawClient client{server.port()};

  client.get(
      "/api/v1/configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
      "&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(client.read_head().status, 200);
  std::string seen = client.read_chunk();
  server.create(config_map("b"));
  seen += client.read_chunk();
  server.faults().next().matching({.verb = "watch"}).drop_at_revision(server.revision() + 2);

  EXPECT_EQ(seen.find("BOOKMARK"), std::string::npos);
  RawClient doomed{server.port()};
  doomed.get(fmt::format("/api/v1/configmaps?watch=1&resourceVersion={}", server.revision()));
  EXPECT_EQ(doomed.read_head().status, 200);
  server.create(config_map("c"));
  EXPECT_NE(doomed.read_chunk().find(R"("name":"c")"), std::string::npos);
  server.create(config_map("d"));
  EXPECT_EQ(doomed.read_chunk(), "");
}

// WT-11, RV-9
TEST(ApiServer, ExpiredHistoryIsGone) {
  ApiServer server;
  server.create(config_map("a"));
  const std::uint64_t old = server.revision();
  for (int i = 0; i < 5; ++i) server.create(config_map("a", std::to_string(i)));

  server.faults().expire_history();

  RawClient client{server.port()};
  client.get(fmt::format("/api/v1/configmaps?watch=1&resourceVersion={}", old));
  EXPECT_EQ(client.read_head().status, 200);
  const Ref<Value> event = decode_json<Value>(client.read_chunk());
  EXPECT_EQ(event->get_string("type"), "ERROR");
  EXPECT_EQ(event->get_integer("object.code"), 410);
}

TEST(ApiServer, RestartKeepsObjectsAndPortAndForgetsHistory) {
  ApiServer server;
  server.create(config_map("a"));
  server.create(config_map("a", "2"));
  const std::uint16_t port = server.port();
  const std::uint64_t revision = server.revision();
  RawClient watching{port};
  watching.get("/api/v1/configmaps?watch=1");
  EXPECT_EQ(watching.read_head().status, 200);

  server.restart();

  EXPECT_NE(watching.read_to_end().find("ADDED"), std::string::npos);  // then the stream ends
  EXPECT_EQ(server.port(), port);
  EXPECT_GE(server.revision(), revision);
  EXPECT_TRUE(server.find<ConfigMap>("default", "a"));
  RawClient again{port};
  again.get("/api/v1/namespaces/default/configmaps/a");
  EXPECT_EQ(again.read_response().status, 200);
  server.restart(ApiServer::State::kForget);
  EXPECT_FALSE(server.find<ConfigMap>("default", "a"));
  EXPECT_GE(server.revision(), revision);
}

// FC-2
TEST(ApiServer, StopsWithGrace) {
  ApiServer server;
  RawClient watching{server.port()};
  watching.get("/api/v1/configmaps?watch=1&resourceVersion=1");
  EXPECT_EQ(watching.read_head().status, 200);

  server.stop(10s);

  EXPECT_EQ(watching.read_to_end(), "0\r\n\r\n");
  EXPECT_THROW(RawClient{server.port()}, std::runtime_error);
  server.start();
  EXPECT_NO_THROW(RawClient{server.port()});
}

// WT-20
TEST(ApiServer, UsesTheClockOfTheOptions) {
  FakeClock clock;
  ApiServer server{{.clock = &clock}};
  const Ref<ConfigMap> stored = server.create(config_map("a"));
  EXPECT_EQ(stored->metadata.creation_timestamp.str(), "2026-01-01T00:00:00Z");
  RawClient watching{server.port()};
  watching.get("/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=60");
  EXPECT_EQ(watching.read_head().status, 200);
  ASSERT_TRUE(server.wait_for([&] { return server.watch_count() == 1; }));

  clock.advance(61s);

  EXPECT_TRUE(server.wait_for([&] { return server.watch_count() == 0; }));
}

// RV-8: with a clock that does not advance the request would wait forever; the destructor ends it.
TEST(ApiServer, CanBeDestroyedWhileRequestsWait) {
  FakeClock clock;
  std::unique_ptr<RawClient> waiting;
  {
    ApiServer server{{.clock = &clock}};
    const std::size_t others = clock.sleepers();
    waiting = std::make_unique<RawClient>(server.port());
    waiting->get("/api/v1/configmaps?resourceVersion=999999");
    ASSERT_TRUE(clock.wait_for_sleepers(others + 1));
  }

  EXPECT_EQ(waiting->read_to_end(), "");
}

TEST(ApiServer, LeavesNoThreadAndNoSocket) {
  const auto entries = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator{folder}, {});
  };
  { ApiServer warm_up{{.tls = true}}; }
  const auto threads = entries("/proc/self/task");
  const auto files = entries("/proc/self/fd");

  {
    ApiServer server{{.tls = true, .simulate = true}};
    RawClient watching{server.port(), server.ca_pem()};
    watching.get("/api/v1/configmaps?watch=1");
    EXPECT_EQ(watching.read_head().status, 200);
    server.create(config_map("a"));
  }

  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), files);
}

TEST(ApiServer, WaitForTimesOut) {
  ApiServer server;

  EXPECT_FALSE(server.wait_for([] { return false; }, 10ms));
  EXPECT_TRUE(server.wait_for([] { return true; }, 0ms));
}

TEST(ApiServer, ServesHttp2) {
  ApiServer server{{.tls = true}};
  Http2Client client{server.port(), server.ca_pem()};

  const std::int32_t watch = client.get("/api/v1/configmaps?watch=1&resourceVersion=1");
  client.run_until([&] { return !client.stream(watch).headers.empty(); });
  server.create(config_map("a"));
  client.run_until([&] { return !client.stream(watch).body.empty(); });
  const std::int32_t list = client.get("/api/v1/configmaps");
  client.run_until([&] { return client.stream(list).ended; });

  EXPECT_EQ(client.stream(watch).headers.at(":status"), "200");
  EXPECT_NE(client.stream(list).body.find(R"("name":"a")"), std::string::npos);
}

TEST(Persistence, ObjectsOutliveTheServer) {
  const Folder folder;
  std::string uid;
  std::uint64_t revision = 0;
  {
    ApiServer server{{.data = folder.path() / "data.sqlite"}};
    uid = server.create(config_map("kept"))->metadata.uid.str();
    server.create(config_map("removed"));
    server.remove<ConfigMap>("default", "removed");
    EXPECT_TRUE(server.settle());
    revision = server.revision();
  }

  ApiServer server{{.data = folder.path() / "data.sqlite"}};

  const Ref<ConfigMap> kept = server.find<ConfigMap>("default", "kept");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->metadata.uid.view(), uid);
  EXPECT_FALSE(server.find<ConfigMap>("default", "removed"));
  EXPECT_GE(server.revision(), revision);
  EXPECT_LE(server.revision(), revision + 1);
}

TEST(ApiServer, KeepsItsDataForTheOwnerOnly) {
  const Folder folder;
  const ApiServer server{{.data = folder.path() / "data.sqlite"}};

  for (const auto& entry : std::filesystem::directory_iterator{folder.path()}) {
    EXPECT_EQ(entry.status().permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << entry.path();
  }
}

TEST(Persistence, TheFileBelongsToOneServer) {
  const Folder folder;
  ApiServer first{{.data = folder.path() / "data.sqlite"}};

  EXPECT_THROW(ApiServer({.data = folder.path() / "data.sqlite"}), Error);
  EXPECT_THROW(ApiServer({.data = folder.path() / "none" / "data.sqlite"}), Error);
  folder.write("text.sqlite", std::string(5000, 'x'));
  EXPECT_THROW(ApiServer({.data = folder.path() / "text.sqlite"}), Error);
}

TEST(Persistence, RestartWithoutStateEmptiesTheFile) {
  const Folder folder;
  {
    ApiServer server{{.data = folder.path() / "data.sqlite"}};
    server.create(config_map("a"));
    server.restart(ApiServer::State::kForget);
  }

  ApiServer server{{.data = folder.path() / "data.sqlite"}};

  EXPECT_EQ(server.count<ConfigMap>("default"), 0U);
  EXPECT_TRUE(server.find({"", "namespaces"}, "", "default"));
}

}  // namespace
}  // namespace kube::testkit
