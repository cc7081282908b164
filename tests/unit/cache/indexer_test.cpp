// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/indexer.hpp>
#include <kube/cache/resource_version.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/items.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

using testing_support::Item;
using testing_support::item;
using testing_support::LabelList;
using testing_support::show;
using testing_support::version_of;

IndexFunction<Item> by_label(std::string key) {
  return [key = std::move(key)](const Item& object) -> std::vector<std::string> {
    const String* value = object.metadata.labels.find(key);
    return value == nullptr ? std::vector<std::string>{} : std::vector{value->str()};
  };
}

/// One value per character of the label "letters".
std::vector<std::string> letters(const Item& object) {
  std::vector<std::string> values;
  if (const String* text = object.metadata.labels.find("letters")) {
    for (const char c : text->view()) values.emplace_back(1, c);
  }
  return values;
}

// I-1, I-4
TEST(Indexer, StoresUnderNamespaceAndName) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "x", "1"));
  indexer.upsert(item("", "node", "2"));
  indexer.upsert(item("a", "x", "3"));

  EXPECT_EQ(show(indexer.list()), "a/x@3 node@2");
  EXPECT_EQ(version_of(indexer.find("a/x")), "3");
  EXPECT_EQ(version_of(indexer.find("node")), "2");
  EXPECT_EQ(version_of(indexer.find(ObjectKey{"a", "x"})), "3");
  EXPECT_EQ(indexer.find("a", "node"), nullptr);
  EXPECT_EQ(indexer.find("x"), nullptr);

  indexer.erase(ObjectKey{"b", "x"});  // no such key: no effect
  EXPECT_EQ(indexer.size(), 2U);
  indexer.erase(ObjectKey{"a", "x"});
  EXPECT_EQ(show(indexer.list()), "node@2");
}

TEST(Indexer, FindsByEveryFormOfKey) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "x", "1"));
  const Snapshot<Item> snapshot = indexer.snapshot();
  const String space{"a"};
  const String name{"x"};
  const std::string text{"a/x"};

  const auto found = [&](const auto& store) {
    EXPECT_EQ(version_of(store.find({"a", "x"})), "1");
    EXPECT_EQ(version_of(store.find({space, name})), "1");
    EXPECT_EQ(version_of(store.find(ObjectKey{"a", "x"})), "1");
    EXPECT_EQ(version_of(store.find("a", "x")), "1");
    EXPECT_EQ(version_of(store.find(space, name)), "1");
    EXPECT_EQ(version_of(store.find("a/x")), "1");
    EXPECT_EQ(version_of(store.find(text)), "1");
    EXPECT_EQ(version_of(store.find(std::string_view{text})), "1");
    EXPECT_EQ(version_of(store.find(String{text})), "1");
    EXPECT_EQ(store.find({"x", "a"}), nullptr);
    EXPECT_EQ(store.find({}), nullptr);
  };

  found(indexer);
  found(snapshot);
  indexer.erase({"a", "x"});
  EXPECT_EQ(indexer.size(), 0U);
}

// K-28: keys are pairs; as plain text, these two would be equal.
TEST(Indexer, DistinguishesNamespacesFromNames) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "b/c", "1"));
  indexer.upsert(item("a/b", "c", "2"));
  EXPECT_EQ(indexer.size(), 2U);
  EXPECT_EQ(version_of(indexer.find("a", "b/c")), "1");
  EXPECT_EQ(version_of(indexer.find("a/b", "c")), "2");
  EXPECT_EQ(version_of(indexer.find("a/b/c")), "1");  // the text is split at the first slash
  indexer.erase(item("a/b", "c", "3"));
  EXPECT_EQ(show(indexer.list()), "a/b/c@1");
}

// I-1, K-4
TEST(Indexer, RefusesAnObjectWithoutName) {
  Indexer<Item> indexer;
  EXPECT_THROW(indexer.upsert(item("a", "")), KeyError);
  EXPECT_THROW(indexer.replace({item("a", "x", "1"), item("a", "")}, "5"), KeyError);
  EXPECT_EQ(show(indexer.list()), "a/x@1");
}

// I-1, N-2
TEST(Indexer, HoldsDocumentsWithoutAType) {
  Indexer<Value> indexer{{{"node", [](const Value& object) -> std::vector<std::string> {
                             return {std::string{object.get_string("spec.nodeName").value_or("")}};
                           }}}};
  const Value object =
      Value::object({{"metadata", Value::object({{"name", "x"},
                                                 {"namespace", "a"},
                                                 {"resourceVersion", "7"},
                                                 {"labels", Value::object({{"app", "web"}})}})},
                     {"spec", Value::object({{"nodeName", "n1"}})}});
  indexer.upsert(freeze(object));

  ASSERT_NE(indexer.find("a/x"), nullptr);
  EXPECT_EQ(indexer.resource_version(), "7");
  EXPECT_EQ(indexer.by_index("node", "n1").size(), 1U);
  EXPECT_EQ(indexer.list("a", labels::Selector::parse("app=web")).size(), 1U);
  EXPECT_EQ(indexer.list("a", labels::Selector::parse("app=db")).size(), 0U);
  EXPECT_THROW(indexer.upsert(freeze(Value::object({{"kind", "Table"}}))), KeyError);
}

//
TEST(Indexer, CopiesAnObjectOutOfALargerOne) {
  meta::v1::Status whole;
  Indexer<Item> indexer;
  {
    struct Page {
      List<Item> items;
    };
    auto two = freeze(*item("a", "x", "1"));
    indexer.upsert(Ref<Item>{two, two.get()});
    EXPECT_EQ(two.use_count(), 2U);  // a whole object is shared, not copied
  }
  const Ref<meta::v1::ListMeta> other = freeze(meta::v1::ListMeta{});
  Item inside = *item("a", "y", "2");
  const Ref<Item> frozen = freeze(inside);
  const Ref<Item> part{other, frozen.get()};  // appears to be a part of `other`
  indexer.upsert(part);
  EXPECT_EQ(other.use_count(), 2U);  // `other` and `part`: the store keeps its own copy
  EXPECT_EQ(show(indexer.list()), "a/x@1 a/y@2");
}

// I-5, I-6
TEST(Indexer, ReplacesTheWholeContentAtOnce) {
  Indexer<Item> indexer{{{"app", by_label("app")}}};
  indexer.replace({item("a", "x", "1", {{"app", "web"}}), item("a", "y", "2", {{"app", "db"}})},
                  "2");
  const Snapshot<Item> old = indexer.snapshot();

  indexer.replace({item("a", "y", "3", {{"app", "web"}}), item("b", "z", "4", {{"app", "web"}})},
                  "5");

  EXPECT_EQ(show(indexer.list()), "a/y@3 b/z@4");
  EXPECT_EQ(show(indexer.by_index("app", "web")), "a/y@3 b/z@4");
  EXPECT_TRUE(indexer.by_index("app", "db").empty());
  EXPECT_EQ(show(indexer.list("a")), "a/y@3");
  EXPECT_EQ(indexer.resource_version(), "5");
  // The old snapshot is unchanged.
  EXPECT_EQ(show(old.list()), "a/x@1 a/y@2");
  EXPECT_EQ(show(old.by_index("app", "web")), "a/x@1");
  EXPECT_EQ(old.resource_version(), "2");
}

// K-32: a relist keeps the blocks of unchanged objects.
TEST(Indexer, KeepsTheBlockOfAnUnchangedObject) {
  Indexer<Item> indexer;
  const Ref<Item> first = item("a", "x", "1");
  indexer.replace({first, item("a", "y", "2")}, "2");

  indexer.replace({item("a", "x", "1"), item("a", "y", "3")}, "3");

  EXPECT_EQ(indexer.find("a/x"), first);
  EXPECT_EQ(version_of(indexer.find("a/y")), "3");
}

// I-11, I-13, I-15, I-18
TEST(Indexer, FilesAnObjectUnderEachValueAndForgetsEmptyOnes) {
  Indexer<Item> indexer{{{"letters", letters}}};
  indexer.upsert(item("a", "x", "1", {{"letters", "abca"}}));
  indexer.upsert(item("a", "y", "2", {{"letters", "cd"}}));
  indexer.upsert(item("a", "z", "3"));

  EXPECT_EQ(show(indexer.by_index("letters", "a")), "a/x@1");
  EXPECT_EQ(show(indexer.by_index("letters", "c")), "a/x@1 a/y@2");
  EXPECT_TRUE(indexer.by_index("letters", "q").empty());
  EXPECT_EQ(indexer.index_values("letters"), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_TRUE(indexer.index_values("none").empty());
  try {
    (void)indexer.by_index("none", "a");
    FAIL() << "no error";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "Index with name none does not exist");
  }

  indexer.upsert(item("a", "x", "4", {{"letters", "d"}}));
  EXPECT_EQ(indexer.index_values("letters"), (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(show(indexer.by_index("letters", "d")), "a/x@4 a/y@2");
  indexer.erase(ObjectKey{"a", "y"});
  EXPECT_EQ(indexer.index_values("letters"), (std::vector<std::string>{"d"}));
}

// I-16, I-17
TEST(Indexer, GivesSortedKeysAndTheUnionOverTheValuesOfAnExample) {
  Indexer<Item> indexer{{{"letters", letters}}};
  indexer.upsert(item("b", "x", "1", {{"letters", "ab"}}));
  indexer.upsert(item("a", "y", "2", {{"letters", "bc"}}));
  indexer.upsert(item("a", "z", "3", {{"letters", "q"}}));

  EXPECT_EQ(indexer.index_keys("letters", "b"), (std::vector<std::string>{"a/y", "b/x"}));
  const Ref<Item> example = item("", "not-stored", "", {{"letters", "abc"}});
  EXPECT_EQ(show(indexer.index("letters", *example)), "a/y@2 b/x@1");
  EXPECT_THROW((void)indexer.index("none", *example), std::out_of_range);
}

// I-12, K-12: the function is called once per object; errors are reported, and yield no values.
TEST(Indexer, StoresIndexValuesAndReportsIndexErrors) {
  int calls = 0;
  std::vector<std::string> errors;
  Indexer<Item> indexer{
      {{"odd",
        [&](const Item& object) -> std::vector<std::string> {
          if (object.metadata.name == "bad") throw std::runtime_error("cannot");
          return {fmt::format("call-{}", ++calls)};  // never returns the same value twice
        }}},
      {.on_error = [&](const CacheError& error) {
        EXPECT_EQ(error.place, CacheError::Place::kIndex);
        errors.push_back(fmt::format("{} {} {}", error.name, error.key, error.message));
      }}};
  indexer.upsert(item("a", "x", "1"));
  indexer.upsert(item("a", "x", "2"));
  indexer.upsert(item("a", "bad", "3"));

  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(indexer.by_index("odd", "call-1").empty());
  EXPECT_EQ(show(indexer.by_index("odd", "call-2")), "a/x@2");
  EXPECT_EQ(errors, (std::vector<std::string>{"odd a/bad cannot"}));
  EXPECT_EQ(indexer.size(), 2U);
  indexer.erase(ObjectKey{"a", "x"});
  EXPECT_TRUE(indexer.index_values("odd").empty());
}

// I-14: Index() propagates the exception of the function.
TEST(Indexer, PropagatesTheErrorOfAnIndexFunctionForAnExample) {
  Indexer<Item> indexer{{{"bad", [](const Item&) -> std::vector<std::string> {
                            throw std::runtime_error("cannot");
                          }}}};
  EXPECT_THROW((void)indexer.index("bad", *item("a", "x")), std::runtime_error);
}

// I-19, K-14
TEST(Indexer, AddsIndexesOverExistingObjects) {
  Indexer<Item> indexer{{{"letters", letters}}};
  indexer.upsert(item("a", "x", "1", {{"app", "web"}, {"letters", "a"}}));

  indexer.add_indexers({{"app", by_label("app")}});

  EXPECT_EQ(show(indexer.by_index("app", "web")), "a/x@1");
  EXPECT_EQ(show(indexer.by_index("letters", "a")), "a/x@1");
  EXPECT_EQ(indexer.index_names(), (std::vector<std::string>{"namespace", "letters", "app"}));
  try {
    indexer.add_indexers({{"aaa", by_label("aaa")}, {"app", by_label("app")}});
    FAIL() << "no conflict";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "indexer conflict: app");
  }
  EXPECT_THROW(indexer.add_indexers({{"namespace", by_label("x")}}), std::invalid_argument);
  EXPECT_EQ(indexer.index_names().size(), 3U);
}

// I-19: indexes are added while the store changes.
TEST(Indexer, AddsIndexesWhileObjectsChange) {
  Indexer<Item> indexer;
  std::atomic<bool> done = false;
  std::jthread writer{[&] {
    for (int i = 0; !done; ++i) {
      indexer.upsert(
          item("a", fmt::format("x{}", i % 50), std::to_string(i + 1), {{"app", "web"}}));
    }
  }};
  for (int i = 0; i < 20; ++i) {
    indexer.add_indexers({{fmt::format("app{}", i), by_label("app")}});
    const Snapshot<Item> now = indexer.snapshot();
    EXPECT_EQ(now.by_index(fmt::format("app{}", i), "web").size(), now.size());
  }
  done = true;
}

// I-21, K-33
TEST(Indexer, AlwaysHasTheNamespaceIndex) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "x", "1"));
  indexer.upsert(item("b", "x", "2"));
  indexer.upsert(item("", "node", "3"));
  EXPECT_EQ(show(indexer.by_index("namespace", "a")), "a/x@1");
  EXPECT_EQ(show(indexer.by_index("namespace", "")), "node@3");
  EXPECT_EQ(indexer.index_values("namespace"), (std::vector<std::string>{"", "a", "b"}));
  indexer.erase(ObjectKey{"b", "x"});
  EXPECT_EQ(indexer.index_values("namespace"), (std::vector<std::string>{"", "a"}));
}

// I-22
TEST(Indexer, TurnsAnIndexFunctionIntoAKeyFunction) {
  const auto key = index_to_key<Item>(letters);
  EXPECT_EQ(key(*item("", "x", "", {{"letters", "a"}})), "a");
  EXPECT_THROW((void)key(*item("", "x")), KeyError);
  EXPECT_THROW((void)key(*item("", "x", "", {{"letters", "ab"}})), KeyError);
}

// I-2, I-3
TEST(Indexer, SplitsKeysAtTheFirstSlash) {
  EXPECT_EQ(ObjectKey::parse("a/x"), (ObjectKey{"a", "x"}));
  EXPECT_EQ(ObjectKey::parse("x").str(), "x");
  EXPECT_THROW((void)ObjectKey::parse("a/b/c"), std::invalid_argument);
  const auto parts = detail::KeyParts::of("a/b/c");
  EXPECT_EQ(parts.namespace_, "a");
  EXPECT_EQ(parts.name, "b/c");
  EXPECT_EQ(detail::KeyParts::of("").name, "");
}

// I-23 to I-28
TEST(Indexer, RemembersTheVersionLastWritten) {
  Indexer<Item> indexer;
  EXPECT_EQ(indexer.resource_version(), "");
  indexer.upsert(item("a", "x", "5"));
  EXPECT_EQ(indexer.resource_version(), "5");
  indexer.upsert(item("a", "y", "3"));
  EXPECT_EQ(indexer.resource_version(), "3");  // the last one, not the highest
  indexer.erase(item("a", "x", "8"));
  EXPECT_EQ(indexer.resource_version(), "8");
  indexer.erase(ObjectKey{"a", "y"});
  EXPECT_EQ(indexer.resource_version(), "8");  // erased by key alone: unchanged
  indexer.upsert(item("a", "z"));
  EXPECT_EQ(indexer.resource_version(), "8");  // an object without a version
  detail::Inside::core(indexer)->set_version("11");
  EXPECT_EQ(indexer.resource_version(), "11");

  std::vector<detail::StoreResult> results;
  detail::Inside::core(indexer)->apply({{detail::ObjectRef::from(item("a", "p", "20"))},
                                        {detail::ObjectRef::from(item("a", "q", "19"))}},
                                       results);
  EXPECT_EQ(indexer.resource_version(), "19");
  detail::Inside::core(indexer)->apply(
      {{detail::ObjectRef::from(item("a", "p", "30")), true, true}}, results);
  EXPECT_EQ(indexer.resource_version(), "19");  // a tombstone's object may be stale
}

// I-10, C-11
TEST(Indexer, CarriesOutATransactionAsFarAsPossible) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "x", "1"));
  std::vector<detail::StoreResult> results;
  detail::Inside::core(indexer)->apply({{detail::ObjectRef::from(item("a", "x", "2"))},
                                        {detail::ObjectRef::from(item("a", "", "3"))},
                                        {detail::ObjectRef::from(item("a", "x", "4")), true},
                                        {detail::ObjectRef::from(item("a", "y", "5"))}},
                                       results);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(version_of(results[0].before.to<Item>()), "1");
  EXPECT_NE(results[1].error, "");
  EXPECT_EQ(version_of(results[2].before.to<Item>()), "2");
  EXPECT_FALSE(results[3].before);
  EXPECT_EQ(show(indexer.list()), "a/y@5");
}

// K-29
TEST(Indexer, WaitsUntilItHasReachedAVersion) {
  Indexer<Item> indexer;
  indexer.upsert(item("a", "x", "99"));
  EXPECT_TRUE(indexer.wait_for_version("99"));
  EXPECT_TRUE(indexer.wait_for_version("7"));

  std::jthread writer{[&] {
    // a relist may go back: a version that was reached stays reached
    indexer.upsert(item("a", "x", "98"));
    indexer.upsert(item("a", "x", "100"));
  }};
  EXPECT_TRUE(indexer.wait_for_version("100"));
  EXPECT_EQ(version_of(indexer.find("a/x")), "100");
  writer.join();

  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(indexer.wait_for_version("1000", std::nullopt, stop.get_token()));
  EXPECT_FALSE(indexer.wait_for_version("abc", std::chrono::nanoseconds{0}));
}

// K-29, M-4
TEST(ResourceVersion, IsComparedAsANumber) {
  EXPECT_TRUE(compare_resource_versions("9", "10") < 0);
  EXPECT_TRUE(compare_resource_versions("0010", "10") == 0);
  EXPECT_TRUE(compare_resource_versions("99999999999999999999999", "100000000000000000000000") < 0);
  EXPECT_EQ(compare_resource_versions("a", "b"), std::partial_ordering::unordered);
  EXPECT_TRUE(compare_resource_versions("a", "a") == 0);
  EXPECT_EQ(resource_version_gauge(""), 0);
  EXPECT_EQ(resource_version_gauge("123"), 123);
  EXPECT_EQ(resource_version_gauge("9123456789012345"), 123456789012345);
  EXPECT_EQ(resource_version_gauge("12a"), std::nullopt);
}

// Y-2, Y-3: the label index returns the same objects as a scan.
TEST(Indexer, ListsBySelectorAsAScanWould) {
  std::mt19937 random{3};
  Indexer<Item> indexed;
  Indexer<Item> plain{{}, {.label_index = false, .namespace_index = false}};
  for (int i = 0; i < 4'000; ++i) {
    const std::string name = fmt::format("x{}", random() % 700);
    const std::string space = fmt::format("n{}", name.size() % 3 + name.back() % 3);
    if (random() % 5 == 0) {
      indexed.erase(ObjectKey{space, name});
      plain.erase(ObjectKey{space, name});
      continue;
    }
    const std::string app = fmt::format("app{}", random() % 40);
    const std::string tier = fmt::format("{}", random() % 4);
    LabelList labels{{"app", app}};
    if (random() % 2 == 0) labels.emplace_back("tier", tier);
    if (random() % 30 == 0) labels.emplace_back("rare", "");
    const Ref<Item> object = item(space, name, std::to_string(i + 1), labels);
    indexed.upsert(object);
    plain.upsert(object);
  }
  for (const char* text : {"", "app=app7", "app==app7,tier=2", "app in (app1,app2,app2,nope)",
                           "app notin (app1)", "rare", "!rare", "rare=", "tier>1",
                           "tier<2,app=app3", "app!=app3,rare", "none", "app=none"}) {
    const labels::Selector selector = labels::Selector::parse(text);
    for (const char* space : {"", "n2", "n3", "nowhere"}) {
      EXPECT_EQ(show(indexed.list(space, selector)), show(plain.list(space, selector)))
          << text << " in " << space;
    }
  }
  EXPECT_TRUE(indexed.list("", labels::Selector::nothing()).empty());
}

// I-7, K-13: readers see one consistent state while a writer works, and do not block it.
TEST(Indexer, ShowsReadersOneStateWhileItIsWritten) {
  Indexer<Item> indexer{{{"app", by_label("app")}}};
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!done) {
        const Snapshot<Item> now = indexer.snapshot();
        // Each state holds x and y with the same version and label, or neither.
        const Ref<Item> x = now.find("a/x");
        const Ref<Item> y = now.find("a/y");
        ASSERT_EQ(x == nullptr, y == nullptr);
        if (x != nullptr) {
          ASSERT_EQ(x->metadata.resource_version, y->metadata.resource_version);
          const std::string app = x->metadata.labels.at("app").str();
          ASSERT_EQ(now.by_index("app", app).size(), 2U);
          ASSERT_EQ(now.list("a", labels::Selector::parse("app=" + app)).size(), 2U);
        }
        ++reads;
      }
    });
  }
  for (int i = 1; i < 3'000 || reads < 300; ++i) {
    const std::string version = std::to_string(i);
    const std::string app = std::to_string(i % 7);
    if (i % 10 == 0) {
      indexer.replace({}, version);
    } else {
      indexer.replace(
          {item("a", "x", version, {{"app", app}}), item("a", "y", version, {{"app", app}})},
          version);
    }
  }
  done = true;
}

// K-13: a slow reader does not block the writer.
TEST(Indexer, IsWrittenWhileAReaderVisits) {
  Indexer<Item> indexer;
  for (int i = 0; i < 100; ++i) indexer.upsert(item("a", fmt::format("x{}", i), "1"));
  std::size_t seen = 0;
  indexer.snapshot().for_each([&](const Item& object) {
    ++seen;
    indexer.erase(key_of(object));
  });
  EXPECT_EQ(seen, 100U);
  EXPECT_EQ(indexer.size(), 0U);
}

// Memory of the store itself.
TEST(Indexer, CostsWellBelow150BytesPerObject) {
  constexpr std::size_t kObjects = 50'000;
  std::vector<Ref<Item>> objects;
  for (std::size_t i = 0; i < kObjects; ++i) {
    const std::string app = fmt::format("app-{}", i % 400);
    const std::string hash = fmt::format("{:x}", i % 900);
    const std::string unique = fmt::format("pod-{}", i);
    objects.push_back(item(fmt::format("ns-{}", i % 50), unique, std::to_string(i + 1),
                           {{"app", app},
                            {"pod-template-hash", hash},
                            {"tier", "web"},
                            {"version", "v1"},
                            {"statefulset.kubernetes.io/pod-name", unique}}));
  }
  Indexer<Item> indexer;
  indexer.replace(objects, "1");
  const double per_object = static_cast<double>(indexer.snapshot().overhead_bytes()) / kObjects;
  RecordProperty("bytes_per_object", std::to_string(per_object));
  EXPECT_LT(per_object, 110);

  // It stays small after many changes.
  std::mt19937 random{5};
  for (std::size_t i = 0; i < 2 * kObjects; ++i) {
    const Ref<Item>& object = objects[random() % kObjects];
    if (random() % 2 == 0) {
      indexer.erase(key_of(*object));
    } else {
      indexer.upsert(object);
    }
  }
  const double later = static_cast<double>(indexer.snapshot().overhead_bytes()) /
                       static_cast<double>(indexer.size());
  EXPECT_LT(later, 150);
  for (const Ref<Item>& object : objects) indexer.erase(key_of(*object));
  EXPECT_LT(indexer.snapshot().overhead_bytes(), 4096U);
}

}  // namespace
}  // namespace kube
