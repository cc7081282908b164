// SPDX-License-Identifier: Apache-2.0
#include <kube/object/list.hpp>

#include <kube/object/ref.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kube {
namespace {

using test::chain;
using test::long_text;
using test::Part;
using test::Tree;

template <typename T>
std::vector<std::string> names(const List<T>& list) {
  std::vector<std::string> found;
  for (const T& element : list) found.push_back(element.name.str());
  return found;
}

TEST(List, TakesEightBytesAndStartsUnset) {
  static_assert(sizeof(List<String>) == 8);
  const List<String> list;

  EXPECT_TRUE(list.is_null());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
}

TEST(List, TellsSetButEmptyFromUnset) {
  const List<String> set{std::initializer_list<String>{}};
  const List<String> copy = set;
  List<String> moved_from = set;
  const List<String> moved = std::move(moved_from);

  EXPECT_FALSE(set.is_null());
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(copy.is_null());
  EXPECT_FALSE(moved.is_null());
  EXPECT_FALSE(freeze(set)->is_null());
  EXPECT_TRUE(freeze(List<String>{})->is_null());
  EXPECT_EQ(set, List<String>{});  // equal as content: JSON omits both
}

TEST(List, KeepsTheOrderOfWhatIsPushed) {
  List<std::int32_t> list;

  for (std::int32_t i = 0; i < 1000; ++i) list.push_back(i * i);

  ASSERT_EQ(list.size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(list[i], static_cast<std::int32_t>(i * i));
  EXPECT_EQ(list.front(), 0);
  EXPECT_EQ(list.back(), 999 * 999);
}

TEST(List, IsMadeFromARange) {
  const std::vector<const char*> source{"a", "b", "c"};

  const List<String> list{source.begin(), source.end()};

  EXPECT_EQ(list, (List<String>{"a", "b", "c"}));
}

TEST(List, IsMadeOfAVectorAndBack) {
  const std::vector<std::string> standard{"a", long_text("b")};

  List<String> list = standard;
  EXPECT_EQ(list, (List<String>{"a", String{long_text("b")}}));
  list.reset();
  list = standard;
  EXPECT_EQ(list, standard);
  const std::vector<std::string> back = list;
  EXPECT_EQ(back, standard);
  EXPECT_EQ(List<Part>{(std::vector<Part>{chain(2), chain(1)})}, (List<Part>{chain(2), chain(1)}));
  EXPECT_FALSE(List<String>{std::vector<std::string>{}}.is_null());
}

TEST(List, HoldsStructsWhoseReferencesStayValidWhenItGrows) {
  List<Part> list;
  Part& first = list.emplace_back();
  first.name = long_text("first");

  for (int i = 0; i < 100; ++i) list.push_back(chain(2, "more"));

  EXPECT_EQ(&first, &list.front());
  EXPECT_EQ(list.front().name, long_text("first"));
  EXPECT_EQ(list.back(), chain(2, "more"));
}

TEST(List, PushesACopyOfItsOwnElement) {
  List<Part> parts{chain(1, "a")};
  List<String> texts{String{long_text("a")}};

  for (int i = 0; i < 20; ++i) {
    parts.push_back(parts.front());
    texts.push_back(texts.front());
  }

  EXPECT_EQ(parts.back(), chain(1, "a"));
  EXPECT_EQ(texts.back(), long_text("a"));
}

TEST(List, IteratesForwardsAndBackwards) {
  List<Part> list{chain(1, "a"), chain(1, "b"), chain(1, "c")};

  EXPECT_EQ(names(list),
            (std::vector<std::string>{long_text("a"), long_text("b"), long_text("c")}));
  std::vector<std::string> reversed;
  for (auto it = list.end(); it != list.begin();) reversed.push_back((--it)->name.str());
  EXPECT_EQ(reversed, (std::vector<std::string>{long_text("c"), long_text("b"), long_text("a")}));
}

TEST(List, ChangesElementsThroughItsIterator) {
  List<Part> list{chain(1), chain(1)};

  for (Part& part : list) part.count = 42;

  EXPECT_TRUE(std::all_of(list.begin(), list.end(), [](const Part& p) { return p.count == 42; }));
}

TEST(List, HasRandomAccessIterators) {
  using It = List<Part>::const_iterator;
  static_assert(std::random_access_iterator<It>);
  static_assert(std::random_access_iterator<List<std::int32_t>::iterator>);
  List<std::int32_t> list;
  for (std::int32_t i = 0; i < 100; ++i) list.push_back(99 - i);

  EXPECT_EQ(list.end() - list.begin(), 100);
  EXPECT_EQ(list.begin()[10], 89);
  EXPECT_EQ(*(list.begin() + 10), 89);
  EXPECT_EQ(*(10 + list.begin()), 89);
  EXPECT_EQ(*(list.end() - 1), 0);
  EXPECT_LT(list.begin(), list.end());
  std::sort(list.begin(), list.end());
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
  EXPECT_TRUE(std::binary_search(list.begin(), list.end(), 50));
}

TEST(List, SortsStrings) {
  List<String> list{String{long_text("c")}, "b", String{long_text("a")}, "d"};

  std::sort(list.begin(), list.end());

  EXPECT_EQ(list, (List<String>{String{long_text("a")}, String{long_text("c")}, "b", "d"}));
}

TEST(List, ErasesWhatMatches) {
  List<Part> list;
  for (int i = 1; i <= 10; ++i) list.push_back(chain(i));

  EXPECT_EQ(list.erase_if([](const Part& part) { return part.count % 2 == 0; }), 5U);
  EXPECT_EQ(list.erase_if([](const Part& part) { return part.count > 100; }), 0U);

  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(list.back(), chain(9));
  EXPECT_EQ(list.erase_if([](const Part&) { return true; }), 5U);
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.is_null());
  list.push_back(chain(2));
  EXPECT_EQ(list.front(), chain(2));
}

TEST(List, ErasesNothingFromAnEmptyList) {
  List<String> unset;
  List<String> empty{std::initializer_list<String>{}};
  const auto any = [](const String&) { return true; };

  EXPECT_EQ(unset.erase_if(any), 0U);
  EXPECT_EQ(empty.erase_if(any), 0U);
}

TEST(List, Nests) {
  List<List<String>> table{List<String>{"a", String{long_text("b")}}, List<String>{}};

  List<List<String>> copy = table;
  copy[0].push_back("c");
  copy.emplace_back().push_back("d");

  EXPECT_EQ(table[0].size(), 2U);
  EXPECT_EQ(copy[0], (List<String>{"a", String{long_text("b")}, "c"}));
  EXPECT_EQ(copy[2], (List<String>{"d"}));
  EXPECT_NE(copy, table);
}

TEST(List, MovesWithoutCopying) {
  List<String> from{"a", String{long_text("b")}};
  const String* const second = &from[1];

  List<String> to;
  to = std::move(from);

  EXPECT_EQ(&to[1], second);
  EXPECT_TRUE(from.is_null());  // NOLINT: what a moved-from list is, is the question
}

// The old elements own the new ones, which must be moved out before the old ones are destroyed.
TEST(List, CanBeAssignedFromAPartOfItself) {
  const auto tree = [](std::string_view name, List<Tree> children) {
    return Tree{.name = long_text(name), .children = std::move(children), .named = {}};
  };
  List<Tree> list{tree("top", {tree("middle", {tree("leaf", {})}), tree("other", {})})};

  list = std::move(list[0].children);
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, long_text("middle"));
  const List<Tree>& inner = list[0].children;
  list = inner;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].name, long_text("leaf"));
}

TEST(List, IsEqualElementByElement) {
  EXPECT_EQ((List<String>{"a", "b"}), (List<String>{"a", "b"}));
  EXPECT_NE((List<String>{"a", "b"}), (List<String>{"b", "a"}));
  EXPECT_NE((List<String>{"a", "b"}), (List<String>{"a"}));
  EXPECT_EQ((List<Part>{chain(3)}), (List<Part>{chain(3)}));
  EXPECT_NE((List<Part>{chain(3)}), (List<Part>{chain(4)}));
}

TEST(List, KeepsElementsApartFromTheBlockTheyWereCopiedFrom) {
  Ref<List<Part>> frozen = freeze(List<Part>{chain(2, "a"), chain(3, "b")});
  List<Part> copy = *frozen;
  const Part one = (*frozen)[1];

  frozen.reset();
  copy[0].name = "changed";
  copy.push_back(one);

  EXPECT_EQ(copy[1], chain(3, "b"));
  EXPECT_EQ(copy[2], chain(3, "b"));
  EXPECT_EQ(copy[0].name, "changed");
}

}  // namespace
}  // namespace kube
