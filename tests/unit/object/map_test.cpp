// SPDX-License-Identifier: Apache-2.0
#include <kube/object/map.hpp>

#include <kube/object/ref.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {
namespace {

using test::chain;
using test::long_text;
using test::Part;
using test::Tree;

template <typename T>
std::vector<std::string> keys(const Map<T>& map) {
  std::vector<std::string> found;
  for (const auto& [key, value] : map) found.push_back(key.str());
  return found;
}

TEST(Map, TakesEightBytesAndStartsUnset) {
  static_assert(sizeof(Map<String>) == 8);
  const Map<String> map;

  EXPECT_TRUE(map.is_null());
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find("a"), nullptr);
}

TEST(Map, TellsSetButEmptyFromUnset) {
  const Map<String> set(std::initializer_list<std::pair<std::string_view, String>>{});
  const Map<String> copy = set;

  EXPECT_FALSE(set.is_null());
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(copy.is_null());
  EXPECT_EQ(set.find("a"), nullptr);
  EXPECT_EQ(set.begin(), set.end());
  EXPECT_FALSE(freeze(set)->is_null());
}

TEST(Map, SortsByKeyAsBytes) {
  const Map<String> map{{"b", "2"}, {"B", "0"}, {"a", "1"}, {"\xc3\xa4", "4"}, {"b-", "3"}};

  EXPECT_EQ(keys(map), (std::vector<std::string>{"B", "a", "b", "b-", "\xc3\xa4"}));
}

TEST(Map, KeepsTheLastOfEqualKeys) {
  const Map<String> map{{"a", "first"}, {"a", "second"}};

  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(map.at("a"), "second");
}

TEST(Map, FindsExistingKeys) {
  const Map<String> map{{"app", "web"}, {"", "empty key"}, {"tier", "front"}};

  ASSERT_NE(map.find("app"), nullptr);
  EXPECT_EQ(*map.find("app"), "web");
  EXPECT_EQ(*map.find(""), "empty key");
  EXPECT_TRUE(map.contains("tier"));
  EXPECT_EQ(map.find("ap"), nullptr);
  EXPECT_EQ(map.find("apps"), nullptr);
  EXPECT_EQ(map.find("zzz"), nullptr);
}

TEST(Map, AtNamesTheMissingKey) {
  const Map<String> map{{"app", "web"}};

  EXPECT_EQ(map.at("app"), "web");
  try {
    static_cast<void>(map.at("tier"));
    FAIL() << "at() found what is not there";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "no entry \"tier\"");
  }
}

TEST(Map, SubscriptInsertsAnEmptyValueOnce) {
  Map<Part> map;

  map["b"].count = 2;
  map["a"].count = 1;
  map["b"].name = long_text("b");

  EXPECT_EQ(keys(map), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(map.at("a").count, 1);
  EXPECT_EQ(map.at("b").count, 2);
  EXPECT_EQ(map.at("b").name, long_text("b"));
}

TEST(Map, ChangesValuesThroughFindAndIterator) {
  Map<String> map{{"a", "1"}, {"b", "2"}};

  *map.find("a") = long_text("changed");
  for (auto& [key, value] : map) {
    if (key == "b") value = "through the iterator";
  }

  EXPECT_EQ(map.at("a"), long_text("changed"));
  EXPECT_EQ(map.at("b"), "through the iterator");
}

template <typename T>
void expect_all_bindings(Map<T> map, const T& changed) {
  const Map<T>& constant = map;
  std::size_t seen = 0;

  for (auto& [key, value] : constant) {
    static_assert(std::is_same_v<decltype(key), const String>);
    static_assert(std::is_same_v<decltype(value), const T>);
    seen += &value == constant.find(key) ? 1 : 0;
  }
  for (const auto& [key, value] : constant) seen += &value == constant.find(key) ? 1 : 0;
  for (auto&& [key, value] : constant) seen += &value == constant.find(key) ? 1 : 0;
  for (const auto& [key, value] : map) seen += &value == map.find(key) ? 1 : 0;
  for (auto&& [key, value] : map) seen += &value == map.find(key) ? 1 : 0;
  for (auto [key, value] : map) seen += value == map.at(key) ? 1 : 0;
  for (auto& [key, value] : map) {
    static_assert(std::is_same_v<decltype(key), const String>);
    value = changed;
  }

  EXPECT_EQ(seen, 6 * map.size());
  for (const auto& [key, value] : constant) EXPECT_EQ(value, changed) << key;
}

TEST(Map, GivesKeysAndValuesToEveryFormOfBinding) {
  expect_all_bindings<String>({{"a", "1"}, {long_text("b"), String{long_text("2")}}}, "changed");
  expect_all_bindings<Part>({{"a", chain(1)}, {long_text("b"), chain(2)}}, chain(3));
  expect_all_bindings<bool>({{"a", true}, {"b", false}}, true);
}

TEST(Map, KeepsOtherCodeFromChangingKeys) {
  using Entry = Map<String>::value_type;
  static_assert(!std::is_assignable_v<Entry&, const Entry&>);
  static_assert(!std::is_assignable_v<Entry&, Entry&&>);
  static_assert(sizeof(Entry) == 16);
  static_assert(sizeof(Map<Part>::value_type) == 16);
}

TEST(Map, IsMadeOfAStandardMapAndBack) {
  const std::map<std::string, std::string> standard{{"app", "web"}, {"tier", long_text("t")}};

  Map<String> map = standard;
  EXPECT_EQ(map, (Map<String>{{"app", "web"}, {"tier", String{long_text("t")}}}));
  map.reset();
  map = standard;
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map, standard);
  const std::map<std::string, std::string> back = map;
  EXPECT_EQ(back, standard);
  const std::map<std::string, String, std::less<>> own(map.begin(), map.end());
  EXPECT_EQ(own.at("app"), "web");
}

TEST(Map, IsMadeOfOtherPairs) {
  const std::unordered_map<std::string, Part> parts{{"b", chain(2)}, {"a", chain(1)}};
  const std::vector<std::pair<std::string_view, const char*>> pairs{{"b", "2"}, {"a", "1"}};

  EXPECT_EQ(Map<Part>{parts}, (Map<Part>{{"a", chain(1)}, {"b", chain(2)}}));
  EXPECT_EQ(Map<String>{pairs}, (Map<String>{{"a", "1"}, {"b", "2"}}));
  EXPECT_FALSE((Map<String>{std::map<std::string, std::string>{}}).is_null());
}

TEST(Map, PrintsEntriesAsKeyAndValue) {
  const Map<String> map{{"app", "web"}};
  std::ostringstream out;

  out << *map.begin();

  EXPECT_EQ(out.str(), "app=web");
}

TEST(Map, ErasesAKey) {
  Map<Part> map{{"a", chain(1)}, {"b", chain(2)}, {"c", chain(3)}};

  EXPECT_TRUE(map.erase("b"));
  EXPECT_FALSE(map.erase("b"));
  EXPECT_FALSE(map.erase("x"));

  EXPECT_EQ(keys(map), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(map.at("c"), chain(3));
  EXPECT_TRUE(map.erase("a"));
  EXPECT_TRUE(map.erase("c"));
  EXPECT_TRUE(map.empty());
  map["again"].count = 1;
  EXPECT_EQ(map.size(), 1U);
}

TEST(Map, FindsTheKeyThatIsPartOfItself) {
  Map<String> map{{long_text("a"), "1"}};

  for (int i = 0; i < 10; ++i) {
    const std::string_view own_key = map.begin()->key().view();
    map[std::string{own_key} + std::to_string(i)] = "2";
  }

  EXPECT_EQ(map.size(), 11U);
}

TEST(Map, BehavesLikeAStandardMap) {
  std::mt19937 random{20240517};
  Map<String> map;
  std::map<std::string, std::string> model;
  const auto key = [&] {
    return "key-" + std::to_string(random() % 60) + std::string(random() % 9, 'x');
  };

  for (int step = 0; step < 4000; ++step) {
    const std::string chosen = key();
    if (random() % 3 == 0) {
      EXPECT_EQ(map.erase(chosen), model.erase(chosen) > 0);
    } else {
      const std::string value = "value " + std::to_string(step);
      map[chosen] = value;
      model[chosen] = value;
    }
  }

  ASSERT_EQ(map.size(), model.size());
  auto expected = model.begin();
  for (const auto& [found, value] : map) {
    EXPECT_EQ(found, expected->first);
    EXPECT_EQ(value, expected->second);
    ++expected;
  }
}

TEST(Map, CopiesAreIndependent) {
  Map<Part> map{{"a", chain(2)}, {long_text("key"), chain(1)}};

  Map<Part> copy = map;
  copy["a"].next->name = "changed";
  copy.erase(long_text("key"));

  EXPECT_EQ(map.at("a"), chain(2));
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(copy.size(), 1U);
}

// The old values own the new ones, which must be moved out before the old ones are destroyed.
TEST(Map, CanBeAssignedFromAPartOfItself) {
  Map<Tree> map;
  map["a"].named["b"].named["c"].name = long_text("leaf");

  map = std::move(map["a"].named);
  EXPECT_EQ(keys(map), std::vector<std::string>{"b"});
  const Map<Tree>& inner = map.at("b").named;
  map = inner;

  EXPECT_EQ(keys(map), std::vector<std::string>{"c"});
  EXPECT_EQ(map.at("c").name, long_text("leaf"));
}

TEST(Map, HoldsListsAndScalars) {
  Map<List<String>> groups;
  groups["admins"].push_back("ann");
  groups["admins"].push_back(long_text("bob"));
  Map<bool> flags{{"b", true}, {"a", false}};

  const Map<List<String>> copy = groups;
  groups.reset();

  EXPECT_EQ(copy.at("admins"), (List<String>{"ann", String{long_text("bob")}}));
  EXPECT_FALSE(flags.at("a"));
  EXPECT_TRUE(flags.at("b"));
}

TEST(Map, IsEqualByKeysAndValues) {
  EXPECT_EQ((Map<String>{{"a", "1"}, {"b", "2"}}), (Map<String>{{"b", "2"}, {"a", "1"}}));
  EXPECT_NE((Map<String>{{"a", "1"}}), (Map<String>{{"a", "2"}}));
  EXPECT_NE((Map<String>{{"a", "1"}}), (Map<String>{{"b", "1"}}));
  EXPECT_NE((Map<String>{{"a", "1"}}), Map<String>{});
}

TEST(Map, KeepsEntriesApartFromTheBlockTheyWereCopiedFrom) {
  Ref<Map<Part>> frozen = freeze(Map<Part>{{long_text("a"), chain(2)}, {"b", chain(1)}});
  Map<Part> copy = *frozen;

  frozen.reset();
  copy["c"] = copy.at(long_text("a"));

  EXPECT_EQ(copy.at("c"), chain(2));
  EXPECT_EQ(copy.size(), 3U);
}

TEST(Map, MovesWithoutCopying) {
  Map<Part> from{{"a", chain(2)}};
  const Part* const content = from.find("a");

  const Map<Part> to = std::move(from);

  EXPECT_EQ(to.find("a"), content);
  EXPECT_TRUE(from.is_null());  // NOLINT: what a moved-from map is, is the question
}

}  // namespace
}  // namespace kube
