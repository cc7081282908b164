// SPDX-License-Identifier: Apache-2.0
#include "manager_fixture.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/owner_references.hpp>

#include <atomic>
#include <functional>

namespace kube {
namespace {

using meta::v1::PartialObjectMetadata;

meta::v1::OwnerReference reference(std::string_view api_version, std::string_view kind,
                                   std::string_view name, bool controller = true) {
  meta::v1::OwnerReference owner{
      .api_version = api_version, .kind = kind, .name = name, .uid = "u"};
  if (controller) owner.controller = true;
  return owner;
}
Secret secret(std::string_view name, const std::vector<meta::v1::OwnerReference>& owners) {
  Secret secret;
  secret.metadata.namespace_ = "default";
  secret.metadata.name = name;
  for (const auto& owner : owners) secret.metadata.owner_references.push_back(owner);
  return secret;
}

class SourcesTest : public ManagerTest {
 protected:
  /// Writes to the server, in the namespace of this test.
  void put_secret(std::string_view name, const std::vector<meta::v1::OwnerReference>& owners) {
    Secret made = secret(name, owners);
    made.metadata.namespace_ = space;
    server.create(made);
  }
};

std::vector<std::string> owners(const Secret& object, const ResourceKind& owner, bool every) {
  const auto map = detail::owners_of_kind(detail::watched_kind<Secret>(), owner, every);
  std::vector<std::string> found;
  for (const Request& request : detail::requests_of(
           {.what = {}, .before = {}, .object = detail::ObjectRef::from(freeze(object)), .key = {}},
           map)) {
    found.push_back(request.key.str());
  }
  return found;
}

// CF-20
TEST(Owners, AreFoundByGroupAndKind) {
  const ResourceKind maps = resource_kind<ConfigMap>();
  const Secret owned = secret(
      "s", {reference("v1", "ConfigMap", "a"), reference("v1", "ConfigMap", "b", false),
            reference("apps/v1", "ConfigMap", "c", false), reference("v1", "Pod", "d", false)});
  using Names = std::vector<std::string>;
  EXPECT_EQ(owners(owned, maps, false), Names{"default/a"});
  EXPECT_EQ(owners(owned, maps, true), (Names{"default/a", "default/b"}));
  EXPECT_EQ(owners(secret("s", {reference("v9", "ConfigMap", "a")}), maps, false),
            Names{"default/a"});
  EXPECT_EQ(owners(secret("s", {reference("apps/v7", "Deployment", "a")}),
                   resource_kind<apps::v1::Deployment>(), false),
            Names{"default/a"});
  EXPECT_EQ(owners(secret("s", {reference("v1", "Namespace", "a")}),
                   resource_kind<core::v1::Namespace>(), false),
            Names{"a"});
}

// CF-20: the same for untyped documents.
TEST(Owners, AreFoundInAnyDocument) {
  const auto document =
      decode_json<Value>(encode_json(secret("s", {reference("v1", "ConfigMap", "a")})));
  const auto map =
      detail::owners_of_kind(detail::watched_kind<Value>({{"", "v1", "secrets"}, "Secret"}),
                             resource_kind<ConfigMap>(), false);
  const auto found = detail::requests_of(
      {.what = {}, .before = {}, .object = detail::ObjectRef::from(document), .key = {}}, map);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key.str(), "default/a");
}

// CF-20
TEST_F(SourcesTest, AreValidated) {
  Manager& manager = make();
  EXPECT_THROW(manager.controller("empty").reconcile(worked.noting()), std::logic_error);
  EXPECT_THROW(manager.controller("owner").owns<Secret>().reconcile(worked.noting()),
               std::logic_error);
  EXPECT_THROW(manager.controller<ConfigMap>("two").for_<Secret>(), std::logic_error);
  EXPECT_THROW(static_cast<void>(manager.controller<Value>("nameless")), std::invalid_argument);
}

// CF-20, CF-21: both the old and the new owner of a moved dependent get a request.
TEST_F(SourcesTest, EnqueueOwnersOfChangedDependents) {
  make().controller<ConfigMap>("maps").owns<Secret>().reconcile(worked.noting());
  running->start();
  put_secret("s", {reference("v1", "ConfigMap", "a")});
  ASSERT_TRUE(eventually([&] { return worked.count(key("a")) == 1; }));

  put_secret("s", {reference("v1", "ConfigMap", "b")});
  EXPECT_TRUE(eventually([&] { return worked.count(key("b")) == 1; }));
  EXPECT_TRUE(eventually([&] { return worked.count(key("a")) == 2; }));
  server.remove<Secret>(space, "s");
  EXPECT_TRUE(eventually([&] { return worked.count(key("b")) == 2; }));
  running->finish();
}

// CF-21: map functions see both states, and each request is made once per event.
TEST(MapFunctions, LeadToEachRequestOnce) {
  const auto map = detail::erase_map<ConfigMap>([](const ConfigMap& one) {
    return std::vector<Request>{{{"x", one.metadata.labels.at("to").str()}}, {{"x", "both"}}};
  });
  const auto object = [](const char* to) {
    return detail::ObjectRef::from(freeze(config_map("default", "m", {{"to", to}})));
  };
  const auto found = detail::requests_of({.what = {.kind = ObjectChange::Kind::kUpdate},
                                          .before = object("a"),
                                          .object = object("b"),
                                          .key = {}},
                                         map);
  std::vector<std::string> names;
  for (const Request& request : found) names.push_back(request.key.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "both", "b"}));
}

// CF-21
TEST_F(SourcesTest, MapAnyObjectToRequests) {
  make()
      .controller("nodes")
      .watches<ConfigMap>([](const ConfigMap& map) {
        return std::vector<Request>{{{"", map.metadata.name.str() + "-1"}},
                                    {{"", map.metadata.name.str() + "-2"}}};
      })
      .reconcile(worked.noting());
  running->start();
  put("a");
  EXPECT_TRUE(eventually([&] { return worked.count("a-1") == 1 && worked.count("a-2") == 1; }));
  running->finish();
}

// CF-22: all predicates must accept; global ones are evaluated first.
TEST_F(SourcesTest, AskTheCommonPredicatesFirst) {
  std::atomic<int> asked = 0;
  make()
      .controller<ConfigMap>(
          "maps", {.predicates = {matching<ConfigMap>([&](const ConfigMap& map) {
                                    ++asked;
                                    return map.metadata.name != "refused";
                                  }),
                                  matching_labels<ConfigMap>(labels::Selector::parse("ok=2"))}})
      .with_event_filter(matching_labels<meta::v1::ObjectMeta>(labels::Selector::parse("ok")))
      .reconcile(worked.noting());
  running->start();
  put("unlabelled");
  put("refused", {{"ok", "2"}});
  put("other", {{"ok", "1"}});
  put("good", {{"ok", "2"}});

  EXPECT_TRUE(eventually([&] { return worked.count(key("good")) == 1; }));
  running->finish();
  EXPECT_EQ(worked.size(), 1U);
  EXPECT_EQ(asked, 3);
}

// CF-22: a superfluous reconcile does no harm, a missing one does.
TEST_F(SourcesTest, AcceptEventsWhosePredicateThrows) {
  make()
      .controller<ConfigMap>("maps", {.predicates = {matching<ConfigMap>([](const ConfigMap& map) {
                                        if (map.metadata.name == "odd") throw 42;  // NOLINT
                                        if (map.metadata.name == "bad")
                                          throw std::bad_function_call{};
                                        return map.metadata.name == "good";
                                      })}})
      .reconcile(worked.noting());
  running->start();
  put("odd");
  put("bad");
  put("refused");
  put("good");

  EXPECT_TRUE(eventually([&] { return worked.count(key("good")) == 1; }));
  EXPECT_TRUE(eventually([&] { return worked.count(key("odd")) == 1; }));
  EXPECT_TRUE(eventually([&] { return worked.count(key("bad")) == 1; }));
  running->finish();
  EXPECT_EQ(worked.count(key("refused")), 0U);
}

// CF-22
TEST_F(SourcesTest, ContinueWhenAMapFunctionThrowsANonException) {
  make()
      .controller("maps")
      .watches<ConfigMap>([](const ConfigMap& map) {
        if (map.metadata.name == "odd") throw 42;  // NOLINT
        return std::vector<Request>{{{"", map.metadata.name.str()}}};
      })
      .reconcile(worked.noting());
  running->start();
  put("odd");
  put("good");

  EXPECT_TRUE(eventually([&] { return worked.count("good") == 1; }));
  running->finish();
  EXPECT_EQ(worked.count("odd"), 0U);
}

// CF-22, CF-23
TEST(Predicates, WorkOnTheMetadataOfAnyObject) {
  using Meta = meta::v1::ObjectMeta;
  Meta before;
  before.resource_version = "1";
  before.generation = 1;
  Meta now = before;
  EXPECT_FALSE(resource_version_changed<Meta>().update(before, now));
  EXPECT_FALSE(generation_changed<Meta>().update(before, now));
  now.resource_version = "2";
  EXPECT_TRUE(resource_version_changed<Meta>().update(before, now));
  EXPECT_FALSE(generation_changed<Meta>().update(before, now));
  now.generation = 2;
  now.labels["a"] = "b";
  EXPECT_TRUE(generation_changed<Meta>().update(before, now));
  EXPECT_TRUE(labels_changed<Meta>().update(before, now));
  EXPECT_FALSE(annotations_changed<Meta>().update(before, now));
}

// CF-24: a deletion that was not observed is reported with the last known state.
TEST_F(SourcesTest, ReportMissedDeletions) {
  put("a", {{"owner", "x"}});
  Worked events;
  make()
      .controller("owners")
      .watches<ConfigMap>([&](const ConfigMap& map, const ObjectChange& event) {
        if (event.kind == ObjectChange::Kind::kDelete) {
          events.note(map.metadata.name.str() + (event.final_state_known ? " seen" : " unseen"));
        }
        return std::vector<Request>{{{"", map.metadata.labels.at("owner").str()}}};
      })
      .reconcile(worked.noting());
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.count("x") == 1; }));

  server.stop();
  server.remove<ConfigMap>(space, "a");
  server.forget_history();
  server.start();
  EXPECT_TRUE(eventually_with_time([&] { return worked.count("x") == 2; }));
  EXPECT_EQ(events.all(), std::vector<std::string>{"a unseen"});

  put("b", {{"owner", "y"}});
  ASSERT_TRUE(eventually_with_time([&] { return worked.count("y") == 1; }));
  server.remove<ConfigMap>(space, "b");
  EXPECT_TRUE(eventually_with_time([&] { return worked.count("y") == 2; }));
  EXPECT_EQ(events.count("b seen"), 1U);
  running->finish();
}

// CF-24, CF-30: metadata-only sources have a cache of their own.
TEST_F(SourcesTest, MayBeOnlyMetadata) {
  Manager& manager = make();
  manager.controller<ConfigMap>("maps")
      .owns<PartialObjectMetadata>({.kind = resource_kind<Secret>()})
      .reconcile(worked.noting());
  running->start();
  put_secret("s", {reference("v1", "ConfigMap", "a")});
  EXPECT_TRUE(eventually([&] { return worked.count(key("a")) == 1; }));

  const auto metadata =
      manager.reader<PartialObjectMetadata>(resource_kind<Secret>()).find({space, "s"});
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->metadata.name, "s");
  EXPECT_EQ(watches("secrets"), 1U);
  EXPECT_TRUE(manager.find<Secret>({space, "s"}));
  EXPECT_EQ(watches("secrets"), 2U);
  running->finish();
  EXPECT_EQ(log().find("two informers"), std::string::npos) << log();
}

// CF-22: events from outside the cluster wait for the controller, and pass its predicates.
TEST_F(SourcesTest, MayBeOutsideOfTheCluster) {
  EventChannel<ConfigMap> channel;
  EXPECT_TRUE(channel.send(config_map("default", "early")));
  make()
      .controller("bells")
      .watches(
          channel, [](const ConfigMap& map) { return std::vector<Request>{{key_of(map)}}; },
          {Predicate<ConfigMap>{
              .on_generic = [](const ConfigMap& map) { return map.metadata.name != "silent"; }}})
      .reconcile(worked.noting());
  running->start();
  EXPECT_TRUE(eventually([&] { return worked.count("default/early") == 1; }));
  EXPECT_TRUE(channel.send(config_map("default", "silent")));
  EXPECT_TRUE(channel.send(config_map("default", "loud")));
  EXPECT_TRUE(eventually([&] { return worked.count("default/loud") == 1; }));
  running->finish();
  running.reset();
  EXPECT_EQ(worked.size(), 2U);

  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(channel.send(config_map("default", "waits")));
  EXPECT_FALSE(channel.send(config_map("default", "too much")));
}

// A map function that throws loses only its event.
TEST_F(SourcesTest, SurviveMapFunctionsThatThrow) {
  make()
      .controller("maps")
      .watches<ConfigMap>([](const ConfigMap& map) -> std::vector<Request> {
        if (map.metadata.name == "bad") throw Error{"what is this"};
        return {{key_of(map)}};
      })
      .reconcile(worked.noting());
  put("first");
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.count(key("first")) == 1; }));
  put("bad");
  put("good");
  EXPECT_TRUE(eventually_with_time([&] { return worked.count(key("good")) == 1; }));
  running->finish();
  EXPECT_NE(log().find("what is this"), std::string::npos);
}

// CF-25
TEST(ControllerReference, IsForOneOwnerInReach) {
  ConfigMap owner = config_map("default", "owner");
  owner.metadata.uid = "1";
  Secret owned = secret("s", {});
  set_controller_reference(owner, owned);
  ASSERT_EQ(owned.metadata.owner_references.size(), 1U);
  EXPECT_EQ(owned.metadata.owner_references[0].controller, true);
  EXPECT_EQ(owned.metadata.owner_references[0].block_owner_deletion, true);
  EXPECT_NO_THROW(set_controller_reference(owner, owned));
  EXPECT_EQ(owned.metadata.owner_references.size(), 1U);

  EXPECT_THROW(set_controller_reference(config_map("default", "rival"), owned), AlreadyOwnedError);
  Secret elsewhere = secret("s", {});
  elsewhere.metadata.namespace_ = "other";
  EXPECT_THROW(set_controller_reference(owner, elsewhere), std::invalid_argument);
  core::v1::Namespace cluster_scoped;
  cluster_scoped.metadata.name = "n";
  EXPECT_THROW(set_controller_reference(owner, cluster_scoped), std::invalid_argument);
  EXPECT_NO_THROW(set_controller_reference(cluster_scoped, elsewhere));
}

}  // namespace
}  // namespace kube
