// SPDX-License-Identifier: Apache-2.0
#include "manager_fixture.hpp"

namespace kube {
namespace {

using core::v1::Namespace;
using core::v1::Pod;
using meta::v1::PartialObjectMetadata;
using Names = std::vector<std::string>;

class CacheTest : public ManagerTest {
 protected:
  /// Runs a manager with these caches.
  Manager& run(CacheOptions cache) {
    ManagerOptions from = options();
    from.cache = std::move(cache);
    Manager& manager = make(std::move(from));
    start();
    return manager;
  }
  void start() {
    running->start();
    EXPECT_TRUE(running->manager.elected().wait({}));
  }
  /// Returns the cached objects of these namespaces.
  template <typename T = ConfigMap>
  Names list(const CacheListOptions& which = {}) {
    Names names;
    for (const auto& object : running->manager.list<T>(which).items) {
      const ObjectKey key = key_of(*object);
      if (std::ranges::find(mine, key.namespace_) != mine.end()) names.push_back(key.str());
    }
    std::ranges::sort(names);
    return names;
  }
  /// Returns paths and queries of the lists or watches of a resource, without irrelevant
  /// parameters.
  Names asked(const std::string& resource) {
    Names found;
    for (const auto& request : trace.all("", resource)) {
      if (request.verb != "list" && request.verb != "watch") continue;
      std::string text = request.path;
      for (const char* part : {"labelSelector=", "fieldSelector="}) {
        const auto at = request.query.find(part);
        if (at == std::string::npos) continue;
        text += ' ' + request.query.substr(at, request.query.find('&', at) - at);
      }
      if (std::ranges::find(found, text) == found.end()) found.push_back(text);
    }
    std::ranges::sort(found);
    return found;
  }
  std::string add_space() {
    mine.push_back(server.add_space());
    return mine.back();
  }
  static Names sorted(Names names) {
    std::ranges::sort(names);
    return names;
  }

  Names mine{space};
};

// CF-30: the first reader waits until the kind is cached; all readers share one informer.
TEST_F(CacheTest, CachesAKindOnFirstRead) {
  put("a");
  ManagerOptions from = options();
  from.cache.namespaces = {};  // all namespaces
  Manager& manager = make(std::move(from));
  EXPECT_THROW(static_cast<void>(manager.find<ConfigMap>({space, "a"})), CacheNotStartedError);
  EXPECT_THROW(static_cast<void>(manager.list<ConfigMap>()), CacheNotStartedError);
  manager.controller<ConfigMap>("one").reconcile(worked.noting());
  manager.controller<ConfigMap>("two").reconcile(worked.noting());
  start();

  EXPECT_TRUE(manager.find<ConfigMap>({space, "a"}));
  EXPECT_FALSE(manager.find<ConfigMap>({space, "b"}));
  EXPECT_FALSE(manager.find<ConfigMap>({"elsewhere", "a"}));
  EXPECT_EQ(manager.get<ConfigMap>({space, "a"})->metadata.name, "a");
  try {
    static_cast<void>(manager.get<ConfigMap>({space, "b"}));
    ADD_FAILURE() << "there is none";
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
    EXPECT_STREQ(error.what(), "configmaps \"b\" not found");
  }
  EXPECT_EQ(watches("configmaps"), 1U);
  EXPECT_EQ(watches("secrets"), 0U);
  EXPECT_FALSE(manager.find<Secret>({space, "a"}));
  EXPECT_EQ(watches("secrets"), 1U);
  EXPECT_EQ(list<Secret>(), Names{});
  EXPECT_EQ(watches("secrets"), 1U);
  EXPECT_TRUE(manager.find<Namespace>({"", "default"}));
  running->finish();
  EXPECT_TRUE(manager.find<ConfigMap>({space, "a"}));
  EXPECT_THROW(static_cast<void>(manager.find<Pod>({space, "a"})), CacheNotStartedError);
}

// CF-30: a cache that cannot be filled does not block its reader for ever.
TEST_F(CacheTest, StopsWaitingWithTheReader) {
  Manager& manager = run({});
  server.go_silent();
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(eventually([&] { return trace.count("", "secrets") > 0; }));
    stop.request_stop();
  }};
  EXPECT_THROW(static_cast<void>(manager.find<Secret>({space, "a"}, stop.get_token())),
               CacheNotStartedError);
  std::jthread reader{[&] {
    EXPECT_THROW(static_cast<void>(manager.find<Secret>({space, "a"})), CacheNotStartedError);
  }};
  running->finish();
}

// CF-30
TEST_F(CacheTest, MayCacheOnlyWhatControllersNeed) {
  ManagerOptions from = options();
  from.cache.fail_on_missing_informer = true;
  Manager& manager = make(std::move(from));
  manager.controller<ConfigMap>("maps").reconcile(worked.noting());
  put("a");
  start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));
  EXPECT_TRUE(manager.find<ConfigMap>({space, "a"}));
  EXPECT_FALSE(manager.find<ConfigMap>({space, "b"}));
  EXPECT_THROW(static_cast<void>(manager.find<Secret>({space, "a"})), NotCachedError);
  EXPECT_THROW(static_cast<void>(manager.list<Secret>()), NotCachedError);
  running->finish();
}

// CF-23, CF-31: every ten hours, plus or minus one, all objects are delivered again, without a
// list.
TEST_F(CacheTest, ResyncsAllObjects) {
  put("a");
  for (const auto& [random, period] : {std::pair<double, Clock::Duration>{0.0, 9h}, {0.5, 10h}}) {
    worked.clear();
    ManagerOptions from = options();
    from.random = [random = random] { return random; };
    Manager& manager = make(std::move(from));
    manager.controller<ConfigMap>("maps").reconcile(worked.noting());
    Worked filtered;
    manager
        .controller<ConfigMap>("filtered", {.predicates = {resource_version_changed<ConfigMap>()}})
        .reconcile(filtered.noting());
    const auto begin = clock.now();
    start();
    ASSERT_TRUE(eventually([&] { return worked.size() == 1 && filtered.size() == 1; }));
    const auto lists = trace.count("", "configmaps");
    const auto near = [&] {
      const auto next = clock.next_deadline();
      return next > begin + period - 1s && next < begin + period + 1s;
    };
    ASSERT_TRUE(eventually(near));

    clock.advance(period + 1s);
    EXPECT_TRUE(eventually([&] { return worked.size() == 2; }));
    EXPECT_EQ(filtered.size(), 1U);
    EXPECT_EQ(trace.count("", "configmaps"), lists);
    running->finish();
  }
}

// CF-32: options that a kind does not set come from the namespace, then from the global ones.
TEST_F(CacheTest, InheritsUnsetOptions) {
  Manager& manager = run(
      {.namespaces = {{"a", {.label_selector = "in=a"}}, {"b", {}}},
       .label_selector = "all",
       .field_selector = "metadata.name!=x",
       .by_object = {
           cached<Secret>({.label_selector = "own"}),
           cached<Pod>({.namespaces = CacheNamespaces{{"a", {.label_selector = "p"}}, {"c", {}}},
                        .field_selector = "spec.nodeName=n"}),
           cached<core::v1::Service>({.namespaces = CacheNamespaces{}})}});
  static_cast<void>(manager.list<ConfigMap>());
  static_cast<void>(manager.list<Secret>());
  static_cast<void>(manager.list<Pod>());
  static_cast<void>(manager.list<core::v1::Service>());
  static_cast<void>(manager.list<Namespace>());
  running->finish();

  const std::string name = "fieldSelector=metadata.name%21%3Dx";
  EXPECT_EQ(asked("configmaps"),
            (Names{"/api/v1/namespaces/a/configmaps labelSelector=in%3Da " + name,
                   "/api/v1/namespaces/b/configmaps labelSelector=all " + name}));
  EXPECT_EQ(asked("secrets"), (Names{"/api/v1/namespaces/a/secrets labelSelector=own " + name,
                                     "/api/v1/namespaces/b/secrets labelSelector=own " + name}));
  EXPECT_EQ(asked("pods"),
            (Names{"/api/v1/namespaces/a/pods labelSelector=p fieldSelector=spec.nodeName%3Dn",
                   "/api/v1/namespaces/c/pods labelSelector=all fieldSelector=spec.nodeName%3Dn"}));
  EXPECT_EQ(asked("services"), Names{"/api/v1/services labelSelector=all " + name});
  EXPECT_EQ(asked("namespaces"), Names{"/api/v1/namespaces labelSelector=all " + name});
}

// CF-32: "" among others stands for all other namespaces.
TEST_F(CacheTest, MayTreatSomeNamespacesDifferently) {
  const std::string a = add_space();
  const std::string b = add_space();
  for (const std::string& where : mine) {
    put(config_map(where, "plain"));
    put(config_map(where, "marked", {{"marked", "yes"}}));
  }
  Manager& manager = run({.namespaces = {{a, {.label_selector = "marked"}}, {"", {}}}});
  EXPECT_EQ(list(),
            sorted({a + "/marked", b + "/marked", b + "/plain", key("marked"), key("plain")}));
  EXPECT_EQ(asked("configmaps"),
            (Names{"/api/v1/configmaps fieldSelector=metadata.namespace%21%3D" + a,
                   "/api/v1/namespaces/" + a + "/configmaps labelSelector=marked"}));
  EXPECT_FALSE(manager.find<ConfigMap>({a, "plain"}));
  EXPECT_TRUE(manager.find<ConfigMap>({b, "plain"}));
  running->finish();
}

// CF-32
TEST_F(CacheTest, RejectsNamespacesForClusterScopedKinds) {
  ManagerOptions from = options();
  from.cache.by_object = {cached<Namespace>({.namespaces = CacheNamespaces{{"a", {}}}})};
  EXPECT_THROW(make(std::move(from)), std::invalid_argument);
}

// CF-32, CF-33: less is stored, by a transform, by a projection, or by a setting for all kinds.
TEST_F(CacheTest, StoresOnlyWhatIsNeeded) {
  const Client client{server.config()};
  client.resource<ConfigMap>(space).create({.metadata = {.name = "a"}, .data = {{"k", "v"}}});
  Secret secret{.metadata = {.name = "s", .labels = {{"l", "1"}}, .annotations = {{"n", "1"}}}};
  client.resource<Secret>(space).create(secret);
  run({.by_object = {cached<ConfigMap>({.transform = [](ConfigMap& map) { map.data = {}; }}),
                     cached<Secret>({.projection = fields<Secret>(
                                         "metadata.name", "metadata.namespace", "metadata.uid",
                                         "metadata.resourceVersion", "metadata.labels")})},
       .leave_out = {"metadata.managedFields"}});
  Manager& manager = running->manager;

  const auto map = manager.find<ConfigMap>({space, "a"});
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->data.empty());
  EXPECT_TRUE(map->metadata.managed_fields.empty());
  const auto projected = manager.find<Secret>({space, "s"});
  ASSERT_TRUE(projected);
  EXPECT_EQ(projected->metadata.labels.size(), 1U);
  EXPECT_TRUE(projected->metadata.annotations.empty());
  // Updates are reduced as well.
  ConfigMap next = *server.find<ConfigMap>(space, "a");
  next.metadata.labels["round"] = "2";
  const auto stored = client.resource<ConfigMap>(space).update(next);
  EXPECT_FALSE(stored->data.empty());
  EXPECT_TRUE(eventually([&] {
    const auto now = manager.find<ConfigMap>({space, "a"});
    return now->metadata.resource_version == stored->metadata.resource_version && now->data.empty();
  }));
  running->finish();
}

// CF-34, CF-35
TEST_F(CacheTest, ListsByNamespaceLabelsAndIndexedFields) {
  const auto pod = [&](const std::string& where, const char* name, const char* node,
                       const char* app) {
    Pod made{
        .metadata = {.name = name, .namespace_ = where, .labels = {{"app", app}, {"test", space}}}};
    made.spec.node_name = node;
    made.spec.containers.push_back({.name = "main", .image = "nginx"});
    server.create(made);
  };
  const std::string a = add_space();
  const std::string one = a + "/one";
  const std::string two = a + "/two";
  const std::string three = key("three");
  pod(a, "one", "n1", "web");
  pod(a, "two", "n2", "web");
  pod(space, "three", "n1", "db");
  ManagerOptions from = options();
  from.cache = {.label_selector = "test=" + space};
  Manager& manager = make(std::move(from));
  manager.index_field<Pod>("spec.nodeName",
                           [](const Pod& made) -> Names { return {made.spec.node_name.str()}; });
  manager.index_field<Pod>("app", [](const Pod& made) -> Names {
    return {made.metadata.labels.at("app").str(), "any"};
  });
  EXPECT_THROW(manager.index_field<Pod>("app", [](const Pod&) -> Names { return {}; }),
               std::invalid_argument);
  start();

  EXPECT_EQ(list<Pod>(), sorted({one, two, three}));
  EXPECT_EQ(list<Pod>({.namespace_ = a}), (Names{one, two}));
  EXPECT_EQ(list<Pod>({.label_selector = "app=web"}), (Names{one, two}));
  EXPECT_EQ(list<Pod>({.field_selector = "spec.nodeName=n1"}), sorted({one, three}));
  EXPECT_EQ(list<Pod>({.namespace_ = a, .field_selector = "spec.nodeName=n1"}), Names{one});
  EXPECT_EQ(list<Pod>({.field_selector = "spec.nodeName=n1,app=any"}), sorted({one, three}));
  EXPECT_EQ(list<Pod>({.label_selector = "app=db", .field_selector = "spec.nodeName=n1,app=any"}),
            Names{three});
  EXPECT_EQ(list<Pod>({.field_selector = "spec.nodeName=n1,app=none"}), Names{});
  EXPECT_EQ(list<Pod>({.limit = 2}).size(), 2U);
  EXPECT_EQ(list<Pod>({.field_selector = "app=any", .limit = 1}).size(), 1U);

  const auto head = manager.list<Pod>({.limit = 1}).metadata;
  EXPECT_EQ(head.continue_token, "continue-not-supported");
  EXPECT_EQ(head.resource_version, "");
  const auto refused = [&](const CacheListOptions& which) {
    EXPECT_THROW(static_cast<void>(manager.list<Pod>(which)), std::invalid_argument);
  };
  refused({.field_selector = "spec.nodeName!=n1"});
  refused({.field_selector = "status.phase=Running"});
  refused({.field_selector = "spec.nodeName=nowhere,status.phase=Running"});
  refused({.label_selector = "app in web"});
  refused({.continue_token = "x"});
  running->finish();
}

// CF-36
TEST_F(CacheTest, ReadsSomeThingsFromTheServer) {
  put("a");
  server.create(Secret{.metadata = {.name = "s", .namespace_ = space}});
  const ResourceKind maps = resource_kind<ConfigMap>();
  Manager& manager = run({.uncached = {{"", "Secret"}}});

  EXPECT_TRUE(manager.find<Secret>({space, "s"}));
  EXPECT_FALSE(manager.find<Secret>({space, "t"}));
  EXPECT_EQ(
      manager.list<Secret>({.namespace_ = space, .field_selector = "metadata.name=s"}).items.size(),
      1U);
  EXPECT_EQ(manager.list<Secret>({.namespace_ = space, .limit = 1}).items.size(), 1U);
  const auto document = manager.reader<Value>(maps).find({space, "a"});
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["kind"].as_string(), "ConfigMap");
  EXPECT_EQ(watches("configmaps"), 0U);
  EXPECT_EQ(watches("secrets"), 0U);

  EXPECT_TRUE(manager.reader<PartialObjectMetadata>(maps).find({space, "a"}));
  EXPECT_EQ(watches("configmaps"), 1U);
  running->finish();

  EXPECT_EQ(run({.cache_unstructured = true})
                .reader<Value>(maps)
                .list({.namespace_ = space})
                .items.size(),
            1U);
  EXPECT_EQ(watches("configmaps"), 2U);
  running->finish();
}

// CF-37
TEST_F(CacheTest, KnowsWhichNamespacesItHolds) {
  const std::string b = add_space();
  const std::string c = add_space();
  for (const std::string& where : mine) {
    put(config_map(where, "one"));
    put(config_map(where, "two"));
  }
  Manager& manager = run({.namespaces = {{space, {}}, {b, {}}}});
  EXPECT_EQ(list(), sorted({key("one"), key("two"), b + "/one", b + "/two"}));
  EXPECT_EQ(watches("configmaps"), 2U);
  EXPECT_EQ(list({.namespace_ = b}), (Names{b + "/one", b + "/two"}));
  EXPECT_EQ(list({.limit = 3}).size(), 3U);
  EXPECT_TRUE(manager.find<ConfigMap>({space, "one"}));
  EXPECT_THROW(static_cast<void>(manager.find<ConfigMap>({c, "one"})), NotCachedError);
  EXPECT_THROW(static_cast<void>(manager.list<ConfigMap>({.namespace_ = c})), NotCachedError);
  EXPECT_TRUE(manager.find<Namespace>({"", c}));
  EXPECT_EQ(watches("namespaces"), 1U);
  running->finish();
}

// CF-37: controllers see the objects of all their namespaces.
TEST_F(CacheTest, FeedsControllersFromSeveralNamespaces) {
  const std::string b = add_space();
  add_space();
  for (const std::string& where : mine) put(config_map(where, "one"));
  ManagerOptions from = options();
  from.cache.namespaces = {{space, {}}, {b, {}}};
  make(std::move(from)).controller<ConfigMap>("maps").reconcile(worked.noting());
  start();
  EXPECT_TRUE(
      eventually([&] { return worked.count(key("one")) == 1 && worked.count(b + "/one") == 1; }));
  running->finish();
  EXPECT_EQ(worked.size(), 2U);
}

// G-15
TEST_F(CacheTest, RefusesMalformedSelectorsWhenTheManagerIsMade) {
  ManagerOptions all = options();
  all.cache.label_selector = "app in (web";
  EXPECT_THROW(make(std::move(all)), std::invalid_argument);
  ManagerOptions one = options();
  one.cache.by_object = {cached<ConfigMap>({.field_selector = "metadata.name"})};
  try {
    make(std::move(one));
    ADD_FAILURE() << "it was made";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string{error.what()}.find("at offset 0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kube
