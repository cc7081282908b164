// SPDX-License-Identifier: Apache-2.0
// Recovery of an informer: from watches that end, expired versions, server restarts, and refused
// credentials. After each, the cache equals the server.
#include "wire_setup.hpp"

#include <kube/api/errors.hpp>

#include <filesystem>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using testkit::ApiServer;

class InformerRecovers : public WireTest, public ::testing::WithParamInterface<WireSetup> {
 protected:
  InformerRecovers() : WireTest(GetParam()) {}
  explicit InformerRecovers(testkit::ApiServerOptions options)
      : WireTest(GetParam(), std::move(options)) {}

  [[nodiscard]] std::vector<std::string> queries(const std::string& verb) const {
    std::vector<std::string> found;
    for (const auto& request : trace.all(verb, "configmaps")) found.push_back(request.query);
    return found;
  }
  /// Starts an informer of a server that will be replaced by another one with another certificate.
  bool follows(const ApiServer& first) {
    Config of_first = first.config();
    of_first.tls.ca_data.clear();
    of_first.tls.insecure_skip_verify = setup.tls;
    client.emplace(make_client(std::move(of_first)));
    start(client->resource<ConfigMap>());
    return eventually([&] {
      return running->recorder.believes() == known_to(first) && first.watch_count() == 1;
    });
  }
  static std::string known_to(const ApiServer& other) {
    return shown(other.list({"", "configmaps"}));
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  /// Returns how often the whole state was requested.
  std::size_t states_asked() {
    std::size_t count = requests("list");
    for (const std::string& query : queries("watch")) {
      if (contains(query, "sendInitialEvents=true")) ++count;
    }
    return count;
  }
  /// Waits for an event, so that the watch does not count as very short when it ends.
  void see_an_event() {
    last_seen = put("tick", std::to_string(trace.count()) + last_seen);
    ASSERT_TRUE(in_step());
  }
  void end_watch() {
    see_an_event();
    const std::size_t before = requests("watch");
    clock.advance(1min);
    server.end_watches();
    ASSERT_TRUE(eventually([&] { return requests("watch") > before; }));
  }

  std::string last_seen;
};

/// Tests that need faults which a real server does not produce on demand.
class InformerRecoversFromFaults : public InformerRecovers {
 protected:
  void SetUp() override {
    if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  }
};
class InformerOfJson : public InformerRecoversFromFaults {};

// R-37, W-7: nothing is listed again, and no change is missed.
TEST_P(InformerRecovers, ResumesWhereAWatchEnded) {
  put("a", "1");
  start_and_sync();
  for (int round = 0; round < 5; ++round) {
    end_watch();
    put("a", std::to_string(round));
    ASSERT_TRUE(in_step());
  }
  EXPECT_EQ(states_asked(), 1U);
  EXPECT_EQ(requests("watch"), 6U);
}

// R-38: a watch that ends at once counts as failed: list again after a pause.
TEST_P(InformerRecoversFromFaults, ListsAgainAfterAVeryShortWatch) {
  put("a", "1");
  start_and_sync();
  server->faults().next().matching({.verb = "watch"}).end_after(0);
  end_watch();
  put("b", "1");
  ASSERT_TRUE(in_step());
  put("c", "1");
  ASSERT_TRUE(in_step());
}

// R-40, R-17, R-15: the watch's resource version has expired, so the state is requested again, not
// older than the known one.
TEST_P(InformerRecovers, AsksForTheStateAgainWhenHistoryIsGone) {
  put("a", "1");
  put("b", "1");
  start_and_sync();
  see_an_event();
  server.stop();
  put("a", "2");
  put("c", "1");
  remove("b");
  server.forget_history();
  server.start();
  ASSERT_TRUE(in_step());
  EXPECT_EQ(seen(What::kWatchExpired), 1);
  EXPECT_EQ(states_asked(), 2U);
  const std::string asked = queries(setup.watch_list ? "watch" : "list").back();
  EXPECT_TRUE(contains(asked, "resourceVersion=" + last_seen)) << asked;
  // C-9: the deletion happened while there was no watch.
  EXPECT_TRUE(eventually([&] { return running->recorder.events().size() == 6; }));
  EXPECT_TRUE(contains(running->recorder.events()[3], "delete? " + space + "/b"));
}

// R-21, R-16, W-10: if that request fails with 410, the newest state is requested at once.
TEST_P(InformerRecoversFromFaults, AsksForTheNewestStateWhenTheVersionIsGone) {
  put("a", "1");
  start_and_sync();
  server->faults().next().matching({.verb = "watch"}).respond(410);
  server->faults().next().matching({.resource = "configmaps"}).after(1).respond(410);
  end_watch();
  put("b", "1");
  ASSERT_TRUE(in_step());
  const auto asked = queries(setup.watch_list ? "watch" : "list");
  const auto last_state = std::find_if(asked.rbegin(), asked.rend(), [&](const std::string& query) {
    return !setup.watch_list || contains(query, "sendInitialEvents=true");
  });
  ASSERT_NE(last_state, asked.rend());
  EXPECT_FALSE(contains(*last_state, "resourceVersion=")) << *last_state;
  EXPECT_EQ(seen(setup.watch_list ? What::kStateRestarted : What::kListRestarted), 1);
}

// R-27: the continue token has expired; list without pages then.
TEST_P(InformerRecoversFromFaults, ListsAllAtOnceWhenAPageIsGone) {
  for (int i = 0; i < 5; ++i) put("m" + std::to_string(i), "1");
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.watch_list = false;
  options.page_size = 2;
  server->faults()
      .next()
      .matching({.verb = "list", .resource = "configmaps"})
      .after(1)
      .respond(410);
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>(space),
                                                     [](ListOptions& list) {
                                                       if (list.resource_version == "0") {
                                                         list.resource_version.clear();
                                                       }
                                                     }),
      options);
  ASSERT_TRUE(in_step());
  EXPECT_EQ(requests("list"), 3U);
  EXPECT_FALSE(contains(queries("list").back(), "limit="));
  EXPECT_FALSE(contains(queries("list").back(), "continue="));
}

// W-13, R-48: a state without its final bookmark is requested again; watches work without
// bookmarks.
TEST_P(InformerRecoversFromFaults, CopesWithBookmarksThatDoNotCome) {
  put("a", "1");
  server->faults().next().matching({.verb = "watch"}).withhold_initial_events_end();
  server->faults().next().matching({.verb = "watch"}).after(1).withhold_bookmarks();
  start();
  for (std::size_t watches = 1; watches <= 2; ++watches) {
    ASSERT_TRUE(eventually([&] { return requests("watch") == watches; }));
    if (setup.watch_list) {
      EXPECT_FALSE(running->informer.has_synced());
    } else {
      EXPECT_TRUE(eventually([&] { return running->informer.has_synced(); }));
    }
    server->send_bookmarks();
    clock.advance(1min);
    server.end_watches();
  }
  put("b", "1");
  ASSERT_TRUE(in_step());
}

// R-41, R-43, L-13: errors inside a watch.
TEST_P(InformerOfJson, CopesWithErrorsInsideOfAWatch) {
  put("a", "1");
  start_and_sync();
  for (const int code : {410, 429, 500, 403}) {
    SCOPED_TRACE(code);
    server->faults()
        .next()
        .matching({.verb = "watch"})
        .respond(
            200, {},
            R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
            R"("message":"so it is","code":)" +
                std::to_string(code) + "}}\n");
    end_watch();
    put("at-" + std::to_string(code), "1");
    ASSERT_TRUE(in_step());
  }
  EXPECT_EQ(seen(What::kWatchExpired), 1);
  EXPECT_EQ(seen(What::kWatchFailed), 3);
}

// R-36: connection refused: the watch is retried without a new list.
TEST_P(InformerRecovers, WaitsForAServerThatIsAway) {
  put("a", "1");
  start_and_sync();
  see_an_event();
  server.stop();
  ASSERT_TRUE(eventually([&] { return seen(What::kWatchFailed) >= 3; })) << history;
  EXPECT_NE(running->informer.last_error(), "");
  put("b", "1");
  server.start();
  ASSERT_TRUE(in_step());
  EXPECT_EQ(states_asked(), 1U);
  EXPECT_TRUE(eventually([&] { return running->informer.last_error().empty(); }));
}

// FC-2: a server that shuts down gracefully.
TEST_P(InformerRecoversFromFaults, FollowsAServerThatShutsDownProperly) {
  put("a", "1");
  start_and_sync();
  clock.advance(1min);
  server->stop(1s);
  put("b", "1");
  server.start();
  ASSERT_TRUE(in_step());
}

TEST_P(InformerRecovers, SurvivesBrokenConnections) {
  put("a", "1");
  start_and_sync();
  for (int round = 0; round < 5; ++round) {
    server.drop_connections();
    put("a", std::to_string(round));
    put("b-" + std::to_string(round), "1");
    ASSERT_TRUE(in_step());
  }
}

// K-8: watches that break repeatedly.
TEST_P(InformerRecoversFromFaults, SurvivesWatchesThatKeepBreaking) {
  put("a", "1");
  server->faults().drop_watches_after(2);
  start();
  for (int i = 0; i < 10; ++i) {
    put("a", std::to_string(i));
    put("b-" + std::to_string(i), "1");
  }
  server->faults().clear();
  ASSERT_TRUE(in_step());
}

// A restart loses the history, not the objects.
TEST_P(InformerRecovers, FollowsAServerThatRestarts) {
  put("a", "1");
  put("b", "1");
  start_and_sync();
  const int rounds = server.is_real() ? 1 : 3;  // a real one takes seconds
  for (int round = 0; round < rounds; ++round) {
    server.restart();
    put("a", std::to_string(round));
    ASSERT_TRUE(in_step());
  }
}

// The same with a database that outlives the server, as with another process.
TEST_P(InformerRecoversFromFaults, FollowsAnotherProcessOnTheSameData) {
  struct File {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("informers-" + std::to_string(::getpid()) + GetParam().name);
    ~File() {
      for (const char* suffix : {"", "-wal", "-shm"}) {
        std::filesystem::remove(path.string() + suffix);
      }
    }
  } file;
  testkit::ApiServerOptions options = with_setup({.token = "secret", .data = file.path});
  auto first = std::make_unique<ApiServer>(options);
  options.port = first->port();
  first->create(config_map("default", "a", "1"));
  first->create(config_map("default", "b", "1"));
  ASSERT_TRUE(follows(*first));
  first->remove<ConfigMap>("default", "b");
  const std::string before = known_to(*first);
  first.reset();

  ApiServer second{options};
  EXPECT_EQ(known_to(second), before);
  second.create(config_map("default", "c", "1"));
  EXPECT_TRUE(eventually([&] {
    return running->recorder.believes() == known_to(second) &&
           shown(running->informer.indexer()) == known_to(second);
  })) << running->recorder.believes()
      << " instead of " << known_to(second) << '\n'
      << history;
  EXPECT_EQ(running->recorder.contradiction(), "");
  running.reset();
}

// All objects are gone, and new ones exist.
TEST_P(InformerRecoversFromFaults, FollowsAServerThatHasLostItsObjects) {
  put("a", "1");
  put("b", "1");
  start_and_sync();
  see_an_event();  // so that the watch is reopened first
  server->restart(ApiServer::State::kForget);
  put("a", "new");
  put("c", "1");
  ASSERT_TRUE(in_step());
}

// R-20, R-21, RV-8, W-10: another server at the same address, which counts versions from the start.
// All are older than the informer's version, so it must take the newest state.
TEST_P(InformerRecoversFromFaults, FollowsAnotherServerAtTheSameAddress) {
  testkit::FakeClock other_clock;
  testkit::ApiServerOptions options = with_setup({.token = "secret", .clock = &other_clock});
  auto first = std::make_unique<ApiServer>(options);
  options.port = first->port();
  first->set_next_revision(1000);
  first->create(config_map("default", "a", "1"));
  first->create(config_map("default", "b", "1"));
  ASSERT_TRUE(follows(*first));
  first->create(config_map("default", "a", "2"));  // so that the watch does not count as very short
  ASSERT_TRUE(eventually([&] { return running->recorder.believes() == known_to(*first); }));
  first.reset();

  ApiServer second{options};
  second.create(config_map("default", "c", "1"));
  second.create(config_map("default", "a", "2"));
  // A watch from a future version is accepted, and silent (WT-12).
  EXPECT_TRUE(eventually([&] { return second.watch_count() == 1; }));
  second.faults().next().matching({.verb = "watch"}).respond(410);
  second.end_watches();
  EXPECT_TRUE(eventually([&] {
    other_clock.advance(100ms);  // the server waits for that version
    return running->recorder.believes() == known_to(second) &&
           shown(running->informer.indexer()) == known_to(second);
  })) << running->recorder.believes()
      << " instead of " << known_to(second) << '\n'
      << history;
  EXPECT_EQ(running->recorder.contradiction(), "");
  EXPECT_EQ(seen(setup.watch_list ? What::kStateRestarted : What::kListRestarted), 1);
  running.reset();
}

// Sends a wrong token until it is refused, like an exec plugin with an expired token.
class OldToken final : public Credentials {
 public:
  OldToken(std::string right, std::shared_ptr<Credentials> others)
      : right_(std::move(right)), others_(std::move(others)) {}
  std::string authorization(std::stop_token) override {
    return refused_ ? "Bearer " + right_ : "Bearer old";
  }
  std::shared_ptr<const TlsMaterial> tls(std::stop_token stop) override {
    return others_->tls(std::move(stop));
  }
  void refused(const std::string& authorization) override {
    if (authorization == "Bearer old") refused_ = true;
  }
  void expire() { refused_ = false; }

 private:
  const std::string right_;
  const std::shared_ptr<Credentials> others_;
  std::atomic<bool> refused_ = false;
};

struct InformerWithCredentials : InformerRecovers {
  InformerWithCredentials() : InformerRecovers({.allow_anonymous = false}) {}
};

// R-11: 401 once, then the right token.
TEST_P(InformerWithCredentials, AreRefusedAndThenAccepted) {
  put("a", "1");
  Config anonymous = server.config_for("root");
  const auto token = std::make_shared<OldToken>(std::exchange(anonymous.bearer_token, ""),
                                                make_credentials(anonymous));
  client.emplace(make_client(anonymous, token));
  start();
  ASSERT_TRUE(in_step());
  EXPECT_EQ(trace.all("", "configmaps").front().status, 401);
  token->expire();
  end_watch();
  put("b", "1");
  ASSERT_TRUE(in_step());
}

// R-11, R-12: without permission an error is reported; with it, the cache fills.
TEST_P(InformerWithCredentials, WaitForPermission) {
  put("a", "1");
  client.emplace(make_client(server.config_for("alice")));
  start();
  ASSERT_TRUE(eventually([&] { return seen(What::kListFailed) >= 3; }));
  EXPECT_FALSE(running->informer.has_synced());
  EXPECT_NE(running->informer.last_error().find("User \"alice\" cannot"), std::string::npos)
      << running->informer.last_error();
  server.allow_alice(true);
  ASSERT_TRUE(in_step());
  EXPECT_TRUE(eventually([&] { return running->informer.last_error().empty(); }));
  // Permission is revoked and granted again while the informer runs.
  see_an_event();  // the watch is open: one that is still being opened would not be ended
  server.allow_alice(false);
  clock.advance(1min);
  server.end_watches();
  ASSERT_TRUE(eventually([&] { return running->informer.last_error() != ""; }));
  put("b", "1");
  server.allow_alice(true);
  ASSERT_TRUE(in_step());
}

// N-1: a resource that does not exist yet.
TEST_P(InformerRecovers, WaitsForAResourceThatIsNotThere) {
  client.emplace(make_client(config()));
  const std::string group = space + ".example.com";
  const GroupVersionResource foos{group, "v1", "foos"};
  Running<Value> informer{std::make_shared<ResourceListWatch<Value>>(client->dynamic(foos, space)),
                          informer_options<Value>()};
  ASSERT_TRUE(eventually([&] { return seen(What::kListFailed) >= 2; }));
  server.load_yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.)" +
                   group + R"(}
spec:
  group: )" + group +
                   R"(
  scope: Namespaced
  names: {plural: foos, singular: foo, kind: Foo}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)");
  server.load_yaml("{apiVersion: " + group + "/v1, kind: Foo, metadata: {name: a, namespace: " +
                   space + "}, spec: {size: 1}}");
  ASSERT_TRUE(eventually([&] { return informer.recorder.events().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return informer.informer.has_synced(); }));
  EXPECT_EQ(informer.informer.indexer().find(space, "a")->get_integer("spec.size"), 1);
}

INSTANTIATE_TEST_SUITE_P(WireSetups, InformerRecovers, ::testing::ValuesIn(wire_setups()),
                         setup_name);
INSTANTIATE_TEST_SUITE_P(WireSetups, InformerRecoversFromFaults, ::testing::ValuesIn(wire_setups()),
                         setup_name);
std::vector<WireSetup> json_setups() {
  std::vector<WireSetup> some = wire_setups();
  std::erase_if(some, [](const WireSetup& setup) { return setup.content_type != kJsonType; });
  return some;
}
INSTANTIATE_TEST_SUITE_P(WireSetups, InformerOfJson, ::testing::ValuesIn(json_setups()),
                         setup_name);
INSTANTIATE_TEST_SUITE_P(WireSetups, InformerWithCredentials, ::testing::ValuesIn(wire_setups()),
                         setup_name);

}  // namespace
}  // namespace kube
