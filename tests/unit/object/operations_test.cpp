// SPDX-License-Identifier: Apache-2.0
#include <kube/object/operations.hpp>

#include <kube/object/ref.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using test::Everything;
using test::filled;
using test::long_text;
using test::Part;
using test::Seconds;

struct Change {
  std::string_view what;
  std::function<void(Everything&)> apply;
};

/// Returns a change for every member and every depth; each results in a different object.
std::vector<Change> changes() {
  return {
      {"bool", [](Everything& e) { e.flag = false; }},
      {"int32", [](Everything& e) { e.small = 7; }},
      {"int64", [](Everything& e) { e.large += 1; }},
      {"double", [](Everything& e) { e.ratio = std::nextafter(e.ratio, 1.0); }},
      {"optional bool", [](Everything& e) { e.maybe_flag = true; }},
      {"optional bool unset", [](Everything& e) { e.maybe_flag.reset(); }},
      {"optional int32", [](Everything& e) { e.maybe_small = 1; }},
      {"optional int32 unset", [](Everything& e) { e.maybe_small.reset(); }},
      {"optional int64", [](Everything& e) { e.maybe_large = 1; }},
      {"optional int64 unset", [](Everything& e) { e.maybe_large.reset(); }},
      {"optional double", [](Everything& e) { e.maybe_ratio = 1; }},
      {"optional double unset", [](Everything& e) { e.maybe_ratio.reset(); }},
      {"string", [](Everything& e) { e.text = long_text("texu"); }},
      {"optional string unset", [](Everything& e) { e.maybe_text.reset(); }},
      {"bytes", [](Everything& e) { e.bytes = "other"; }},
      {"leaf", [](Everything& e) { e.seconds.count = 91; }},
      {"value", [](Everything& e) { e.any["list"].push_back(1); }},
      {"value kind", [](Everything& e) { e.any["empty"] = Value::array(); }},
      {"value gone", [](Everything& e) { e.any.reset(); }},
      {"struct", [](Everything& e) { e.part.next->count = 99; }},
      {"box", [](Everything& e) { e.boxed->next->next->name = "x"; }},
      {"box gone", [](Everything& e) { e.boxed->next.reset(); }},
      {"list of strings", [](Everything& e) { e.texts[2] = "x"; }},
      {"list order", [](Everything& e) { std::swap(e.texts[0], e.texts[1]); }},
      {"list of numbers", [](Everything& e) { e.numbers[2] = 0; }},
      {"list longer", [](Everything& e) { e.numbers.push_back(0); }},
      {"list of structs", [](Everything& e) { e.parts[1].next->name = "x"; }},
      {"list of leaves", [](Everything& e) { e.delays[0].count = 0; }},
      {"list of lists", [](Everything& e) { e.table[1][0] = "x"; }},
      {"map value", [](Everything& e) { e.labels["app"] = "x"; }},
      {"map key",
       [](Everything& e) {
         e.labels.erase("app");
         e.labels["apq"] = "web";
       }},
      {"map of structs", [](Everything& e) { e.parts_by_name["two"].next->count = 99; }},
      {"map of lists", [](Everything& e) { e.groups["admins"].push_back("x"); }},
      {"map of scalars", [](Everything& e) { e.flags["off"] = true; }},
  };
}

TEST(DeepEqual, HoldsForCopiesFrozenOrNot) {
  const Everything one = filled();
  const Everything two = filled();
  const Ref<Everything> frozen = freeze(one);

  EXPECT_TRUE(deep_equal(one, one));
  EXPECT_TRUE(deep_equal(one, two));
  EXPECT_TRUE(deep_equal(one, *frozen));
  EXPECT_TRUE(deep_equal(*frozen, *freeze(two)));
  EXPECT_TRUE(deep_equal(Everything{}, Everything{}));
  EXPECT_FALSE(deep_equal(one, Everything{}));
}

TEST(DeepEqual, SeesEveryChange) {
  for (const Change& change : changes()) {
    Everything changed = filled();
    change.apply(changed);

    EXPECT_FALSE(deep_equal(changed, filled())) << change.what;
    EXPECT_FALSE(deep_equal(*freeze(changed), filled())) << change.what;
  }
}

TEST(DeepEqual, TakesUnsetAndEmptyContainersForEqual) {
  Everything unset;
  Everything empty;
  empty.texts = List<String>(std::initializer_list<String>{});
  empty.labels = Map<String>(std::initializer_list<std::pair<std::string_view, String>>{});
  ASSERT_FALSE(empty.texts.is_null());

  EXPECT_TRUE(deep_equal(unset, empty));
  EXPECT_EQ(deep_hash(unset), deep_hash(empty));
}

TEST(DeepHash, IsEqualForEqualValues) {
  const Everything one = filled();

  EXPECT_EQ(deep_hash(one), deep_hash(filled()));
  EXPECT_EQ(deep_hash(one), deep_hash(*freeze(one)));
  EXPECT_EQ(deep_hash(Everything{}), deep_hash(Everything{}));
}

TEST(DeepHash, ChangesWithTheContent) {
  const std::uint64_t hash = deep_hash(filled());
  for (const Change& change : changes()) {
    // Unset and empty text may have the same hash; so may an empty array and an empty object.
    if (change.what == "optional string unset" || change.what == "value kind") continue;
    Everything changed = filled();
    change.apply(changed);

    EXPECT_NE(deep_hash(changed), hash) << change.what;
  }
}

TEST(DeepHash, FollowsEqualityOfNumbers) {
  EXPECT_EQ(deep_hash(Value{1}), deep_hash(Value{1.0}));
  EXPECT_EQ(deep_hash(Value{0.0}), deep_hash(Value{-0.0}));
  EXPECT_EQ(deep_hash(Value::integer(std::int64_t{1} << 60)), deep_hash(Value{0x1p60}));
  EXPECT_NE(deep_hash(Value{1}), deep_hash(Value{"1"}));
}

TEST(LowerBoundEntry, FindsThePlaceOfAKey) {
  Map<String> map;
  for (int i = 0; i < 100; i += 2) map["key " + std::to_string(1000 + i)] = "x";
  const auto& word = reinterpret_cast<const detail::Word&>(map);
  const auto place = [&](int i) {
    return detail::lower_bound_entry(word.view(), 16, "key " + std::to_string(1000 + i));
  };

  for (int i = 0; i < 100; ++i) EXPECT_EQ(place(i), static_cast<std::size_t>((i + 1) / 2));
  EXPECT_EQ(detail::lower_bound_entry(word.view(), 16, ""), 0U);
  EXPECT_EQ(detail::lower_bound_entry(word.view(), 16, "z"), 50U);
  EXPECT_EQ(detail::lower_bound_entry({}, 16, "z"), 0U);
}

}  // namespace
}  // namespace kube
