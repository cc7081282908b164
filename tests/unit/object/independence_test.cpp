// SPDX-License-Identifier: Apache-2.0
// Copies own everything; shared content is const. The address sanitizer detects violations.
#include <kube/object/ref.hpp>

#include <kube/codec/decoder.hpp>
#include <kube/object/box.hpp>
#include <kube/object/list.hpp>
#include <kube/object/map.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/string.hpp>
#include <kube/object/value.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {
namespace {

using test::Everything;
using test::filled;
using test::long_text;
using test::Part;

// Moving out of a const object would have to copy, so it does not compile: no hidden costs.
template <typename Handle>
constexpr bool kRefusesConstMove =
    !std::is_constructible_v<Handle, const Handle&&> &&
    !std::is_assignable_v<Handle&, const Handle&&> && std::is_copy_constructible_v<Handle> &&
    std::is_nothrow_move_constructible_v<Handle>;
static_assert(kRefusesConstMove<String>);
static_assert(kRefusesConstMove<OptionalString>);
static_assert(kRefusesConstMove<Box<Part>>);
static_assert(kRefusesConstMove<List<String>>);
static_assert(kRefusesConstMove<List<Part>>);
static_assert(kRefusesConstMove<Map<String>>);
static_assert(kRefusesConstMove<Map<Part>>);
static_assert(kRefusesConstMove<Value>);

// A Ref gives const access to its object and to every part of it.
static_assert(std::is_same_v<decltype(*std::declval<Ref<Everything>&>()), const Everything&>);
static_assert(std::is_same_v<decltype(std::declval<Ref<Everything>&>().get()), const Everything*>);
static_assert(std::is_same_v<decltype((std::declval<Ref<Everything>&>()->text)), const String&>);
static_assert(std::is_same_v<decltype(*std::declval<Ref<Everything>&>()->boxed), const Part&>);
static_assert(std::is_same_v<decltype(std::declval<Ref<Everything>&>()->parts[0]), const Part&>);
static_assert(
    std::is_same_v<decltype(*std::declval<Ref<Everything>&>()->parts.begin()), const Part&>);
static_assert(
    std::is_same_v<decltype(std::declval<Ref<Everything>&>()->labels.find("x")), const String*>);
static_assert(std::is_same_v<decltype(std::declval<Ref<Everything>&>()->any["x"]), const Value&>);
static_assert(!std::is_assignable_v<decltype((std::declval<Ref<Everything>&>()->text)), String>);
static_assert(!std::is_convertible_v<Ref<Everything>, Everything*>);

/// Returns an object that is stored largely in pool nodes: the second of two equal ones.
Ref<Value> shared_document(const std::shared_ptr<Pool>& pool) {
  Decoder<Value> decoder{{.pool = pool}};
  const std::string text = R"({"metadata":{"name":"web-1"},"spec":{"list":["a text to be shared",)"
                           R"({"deep":"another text to be shared"}],"number":1.5}})";
  const Ref<Value> first = decoder.json(text);
  return decoder.json(text);
}

TEST(Copies, OutliveTheBlockTheyWereCopiedFrom) {
  Ref<Everything> cached = freeze(filled());
  const Everything mine = *cached;

  cached.reset();

  EXPECT_EQ(mine, filled());
}

TEST(Copies, OfMembersOutliveTheBlock) {
  Ref<Everything> cached = freeze(filled());
  const String text = cached->text;
  const Box<Part> boxed = cached->boxed;
  const List<Part> parts = cached->parts;
  const Map<Part> by_name = cached->parts_by_name;
  const List<List<String>> table = cached->table;
  const Value any = cached->any;
  const Part part = cached->parts[1];

  cached.reset();

  const Everything expected = filled();
  EXPECT_EQ(text, expected.text);
  EXPECT_EQ(boxed, expected.boxed);
  EXPECT_EQ(parts, expected.parts);
  EXPECT_EQ(by_name, expected.parts_by_name);
  EXPECT_EQ(table, expected.table);
  EXPECT_EQ(any, expected.any);
  EXPECT_EQ(part, expected.parts[1]);
}

TEST(Copies, AreEditedWithoutTouchingTheCachedObject) {
  const Ref<Everything> cached = freeze(filled());
  Everything mine = *cached;

  mine.labels["added"] = long_text("label");
  mine.labels.erase("app");
  mine.texts.push_back(long_text("pushed"));
  mine.parts[0].name = "renamed";
  mine.parts.erase_if([](const Part& part) { return part.count == 2; });
  mine.boxed->next->next.reset();
  mine.any["list"].push_back("four");
  mine.groups["admins"].push_back("eve");
  mine.maybe_text.reset();

  EXPECT_EQ(*cached, filled());
  EXPECT_EQ(mine.labels.at("added"), long_text("label"));
  EXPECT_EQ(mine.texts.size(), 4U);
  EXPECT_EQ(mine.parts.size(), 1U);
  EXPECT_FALSE(mine.boxed->next->next);
  EXPECT_EQ(mine.any["list"].size(), 6U);
  EXPECT_EQ(mine.groups.at("admins").size(), 3U);
}

TEST(Copies, OfSharedContentOutliveThePool) {
  auto pool = std::make_shared<Pool>();
  Ref<Value> cached = shared_document(pool);
  ASSERT_GT(pool->totals().nodes, 0U);
  Value mine = *cached;

  cached.reset();
  pool.reset();
  mine["spec"]["list"].push_back("mine");

  EXPECT_EQ(mine.get_string("spec.list[0]"), "a text to be shared");
  EXPECT_EQ(mine.get_string("spec.list[1].deep"), "another text to be shared");
  EXPECT_EQ(mine["spec"]["list"].size(), 3U);
}

TEST(Copies, AreMovedAsAnyValue) {
  Ref<Everything> cached = freeze(filled());
  Everything first = *cached;
  cached.reset();

  std::vector<Everything> all;
  for (int i = 0; i < 5; ++i) all.push_back(first);
  const Everything last = std::move(all[3]);
  std::swap(all[0], first);

  EXPECT_EQ(last, filled());
  EXPECT_EQ(all[0], filled());
  EXPECT_EQ(first, filled());
  EXPECT_TRUE(all[3].parts.is_null());
  EXPECT_TRUE(all[3].text.empty());
}

TEST(Copies, CanBeFrozenAgain) {
  Ref<Everything> cached = freeze(filled());
  Everything mine = *cached;
  mine.text = long_text("second version");

  const Ref<Everything> again = freeze(mine);
  mine.text = "third";
  cached.reset();

  EXPECT_EQ(again->text, long_text("second version"));
  EXPECT_EQ(again->parts, filled().parts);
}

}  // namespace
}  // namespace kube
