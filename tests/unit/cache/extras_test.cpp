// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/cache/expiration_store.hpp>
#include <kube/cache/fifo.hpp>
#include <kube/cache/lister.hpp>
#include <kube/cache/mutation_cache.hpp>
#include <kube/cache/undelta_store.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/items.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::Item;
using testing_support::item;
using testing_support::show;
using testing_support::version_of;
using Strings = std::vector<std::string>;

Ref<Item> with_uid(const Ref<Item>& object, std::string_view uid) {
  Item copy = *object;
  copy.metadata.uid = uid;
  return freeze(copy);
}

// Y-1, Y-2, Y-3, Y-4, Y-7, Y-9
TEST(Lister, ReadsFromTheCache) {
  Indexer<Item> indexer;
  const Lister<Item> lister{indexer, {"example.com", "items"}};
  EXPECT_TRUE(lister.list().empty());
  indexer.upsert(item("a", "x", "1", {{"app", "web"}}));
  indexer.upsert(item("b", "x", "2", {{"app", "db"}}));
  indexer.upsert(item("", "node", "3", {{"app", "web"}}));

  EXPECT_EQ(show(lister.list()), "a/x@1 b/x@2 node@3");
  EXPECT_EQ(show(lister.list(labels::Selector::parse("app=web"))), "a/x@1 node@3");
  EXPECT_TRUE(lister.list(labels::Selector::nothing()).empty());
  EXPECT_EQ(show(lister.in_namespace("b").list()), "b/x@2");
  EXPECT_EQ(show(lister.in_namespace("").list()), "a/x@1 b/x@2 node@3");
  EXPECT_TRUE(lister.in_namespace("b").list(labels::Selector::parse("app=web")).empty());
  EXPECT_EQ(version_of(lister.get("a/x")), "1");
  EXPECT_EQ(version_of(lister.get("node")), "3");
  EXPECT_EQ(version_of(lister.get({"a", "x"})), "1");
  EXPECT_EQ(version_of(lister.find({"b", "x"})), "2");
  EXPECT_EQ(lister.find({"b", "y"}), nullptr);
  EXPECT_EQ(version_of(lister.in_namespace("b").get("x")), "2");
  EXPECT_EQ(lister.in_namespace("b").find("node"), nullptr);
  EXPECT_EQ(lister.get("a/x"), indexer.find("a/x"));  // shared, not copied
  std::size_t seen = 0;
  lister.for_each(labels::Selector::parse("app"), [&](const Item&) { ++seen; });
  lister.in_namespace("a").for_each({}, [&](const Item&) { ++seen; });
  EXPECT_EQ(seen, 4U);
}

// Y-5, Y-6
TEST(Lister, ReportsMissingObjectsLikeAServer) {
  const auto text = [](const auto& get) -> std::string {
    try {
      (void)get();
    } catch (const ApiError& error) {
      EXPECT_TRUE(is_not_found(error));
      EXPECT_EQ(error.code(), 404);
      EXPECT_EQ(error.status().status, "Failure");
      EXPECT_EQ(error.status().reason, "NotFound");
      return std::string{error.what()} + " " + error.status().details->group.str() + "," +
             error.status().details->kind.str() + "," + error.status().details->name.str();
    }
    return "no error";
  };
  const Lister<Item> generic{Indexer<Item>{}, {"example.com", "items"}};
  EXPECT_EQ(text([&] { return generic.in_namespace("a").get("x"); }),
            "items.example.com \"x\" not found example.com,items,x");
  EXPECT_EQ(text([&] { return generic.get("a/x"); }),
            "items.example.com \"a/x\" not found example.com,items,a/x");
  const Lister<core::v1::Pod> pods{Indexer<core::v1::Pod>{}};
  EXPECT_EQ(text([&] { return pods.in_namespace("a").get("x"); }), "pod \"x\" not found ,pod,x");
}

//
TEST(MutationCache, ShowsOwnWritesUntilTheStoreHasThem) {
  testkit::FakeClock clock;
  Indexer<Item> store;
  store.upsert(item("a", "x", "5"));
  MutationCache<Item> cache{store, {.clock = &clock}};
  cache.mutation(item("a", "x", "10"));
  EXPECT_EQ(version_of(cache.find("a/x")), "10");
  cache.mutation(item("a", "new", "11"));
  EXPECT_EQ(cache.find("a/new"), nullptr);  // additions are hidden unless include_adds is set

  store.upsert(item("a", "x", "10"));
  EXPECT_EQ(version_of(cache.find("a/x")), "10");
  store.upsert(item("a", "x", "7"));  // the own write is dropped
  EXPECT_EQ(version_of(cache.find("a/x")), "7");

  cache.mutation(item("a", "x", "20"));
  clock.advance(5min + 1s);
  EXPECT_EQ(version_of(cache.find("a/x")), "7");
  EXPECT_THROW(cache.mutation(item("a", "x", "abc")), std::invalid_argument);
}

//
TEST(MutationCache, KeepsOnlyTheMostRecentWrites) {
  Indexer<Item> store;
  MutationCache<Item> cache{store, {.max_entries = 2, .include_adds = true}};
  cache.mutation(item("a", "x", "1"));
  cache.mutation(item("a", "y", "2"));
  EXPECT_NE(cache.find("a/x"), nullptr);  // used, so y is the least recently used now
  cache.mutation(item("a", "z", "3"));
  EXPECT_NE(cache.find("a/x"), nullptr);
  EXPECT_EQ(cache.find("a/y"), nullptr);
  EXPECT_NE(cache.find("a/z"), nullptr);
}

//
TEST(MutationCache, FindsOwnWritesThroughIndexes) {
  Indexer<Item> store{{{"app", [](const Item& object) {
                          const String* app = object.metadata.labels.find("app");
                          return app == nullptr ? Strings{} : Strings{app->str()};
                        }}}};
  store.upsert(item("a", "x", "5", {{"app", "web"}}));
  MutationCache<Item> cache{store, {.include_adds = true}};
  cache.mutation(item("a", "x", "6", {{"app", "web"}}));
  cache.mutation(item("a", "new", "7", {{"app", "web"}}));
  cache.mutation(item("a", "other", "8", {{"app", "db"}}));
  EXPECT_EQ(show(cache.by_index("app", "web")), "a/new@7 a/x@6");
  EXPECT_THROW((void)cache.by_index("none", "x"), std::out_of_range);
}

//
TEST(MutationCache, DropsOwnWritesWhenEventsArrive) {
  Indexer<Item> store;
  MutationCache<Item> cache{store, {.include_adds = true}};
  cache.mutation(with_uid(item("a", "x", "10"), "u1"));
  cache.on_add_or_update(with_uid(item("a", "x", "9"), "u1"));
  EXPECT_EQ(version_of(cache.find("a/x")), "10");
  cache.on_add_or_update(with_uid(item("a", "x", "10"), "u1"));
  EXPECT_EQ(cache.find("a/x"), nullptr);

  cache.mutation(with_uid(item("a", "x", "20"), "u2"));
  cache.on_delete(with_uid(item("a", "x", "15"), "u1"));  // an older object of that name
  EXPECT_EQ(version_of(cache.find("a/x")), "20");
  cache.on_delete(with_uid(item("a", "x", "18"), "u2"));  // the current one
  EXPECT_EQ(cache.find("a/x"), nullptr);
  cache.mutation(with_uid(item("a", "x", "30"), "u2"));  // a write to the deleted object
  EXPECT_EQ(cache.find("a/x"), nullptr);
  cache.mutation(with_uid(item("a", "x", "17"), "u3"));  // older than the deletion
  EXPECT_EQ(cache.find("a/x"), nullptr);
  cache.mutation(with_uid(item("a", "x", "31"), "u3"));  // created again
  EXPECT_EQ(version_of(cache.find("a/x")), "31");
}

//
TEST(ExpirationStore, RemovesExpiredObjects) {
  testkit::FakeClock clock;
  ExpirationStore<Item> store{10s, clock};
  store.upsert(item("a", "x", "1"));
  clock.advance(5s);
  store.upsert(item("a", "y", "2"));
  clock.advance(5s);
  EXPECT_NE(store.find("a/x"), nullptr);  // exactly at its expiry
  clock.advance(1s);
  EXPECT_EQ(store.keys().size(), 2U);
  EXPECT_EQ(store.find("a/x"), nullptr);
  EXPECT_EQ(store.keys().size(), 1U);
  store.upsert(item("a", "y", "3"));
  clock.advance(10s);
  EXPECT_EQ(show(store.list()), "a/y@3");
  clock.advance(1s);
  EXPECT_TRUE(store.list().empty());
  store.replace({item("a", "z", "4")});
  EXPECT_NE(store.find("a/z"), nullptr);
  store.erase("a/z");
  EXPECT_EQ(store.find("a/z"), nullptr);
  EXPECT_THROW(store.upsert(item("a", "")), KeyError);

  ExpirationStore<Item> forever{0s, clock};
  forever.upsert(item("a", "x", "1"));
  clock.advance(1000h);
  EXPECT_NE(forever.find("a/x"), nullptr);
}

//
TEST(UndeltaStore, PassesItsContentOnAfterEachWrite) {
  Strings pushed;
  UndeltaStore<Item> store{[&](const std::vector<Ref<Item>>& all) { pushed.push_back(show(all)); }};
  store.upsert(item("a", "x", "1"));
  store.upsert(item("a", "y", "2"));
  store.erase({"a", "x"});
  store.replace({item("a", "z", "3")}, "3");
  EXPECT_THROW(store.upsert(item("a", "")), KeyError);
  (void)store.store().list();
  EXPECT_EQ(pushed, (Strings{"a/x@1", "a/x@1 a/y@2", "a/y@2", "a/z@3"}));
}

// B-1
TEST(Fifo, ReturnsTheNewestStateOfEachObject) {
  Fifo<Item> queue;
  const auto pop = [&] {
    std::string text = "-";
    if (queue.size() > 0) {
      (void)queue.pop([&](const Ref<Item>& object, bool initial) {
        text = object->metadata.name.str() + version_of(object) + (initial ? "*" : "");
      });
    }
    return text;
  };
  EXPECT_FALSE(queue.synced().done());
  queue.replace({item("a", "x", "1"), item("a", "y", "2")});
  queue.add(item("a", "x", "3"));
  queue.add(item("a", "z", "4"));
  queue.erase("a/y");
  EXPECT_EQ(pop(), "x3*");
  EXPECT_FALSE(queue.synced().done());
  EXPECT_EQ(pop(), "z4");  // y was deleted
  EXPECT_TRUE(queue.synced().done());
  EXPECT_EQ(pop(), "-");
  queue.close();
  EXPECT_FALSE(queue.pop([](const auto&, bool) {}));
  EXPECT_THROW(queue.add(item("a", "")), KeyError);

  Fifo<Item> other;
  other.add(item("a", "x", "1"));
  EXPECT_TRUE(other.synced().done());
  other.replace({});
  EXPECT_EQ(other.size(), 0U);
}

}  // namespace
}  // namespace kube
