// SPDX-License-Identifier: Apache-2.0
#include "object/freeze.hpp"

#include <kube/codec/decoder.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace kube {
namespace {

using test::Everything;
using test::filled;
using test::long_text;
using test::Part;

template <typename T>
void expect_frozen_equal(const T& source) {
  const Ref<T> frozen = freeze(source);

  EXPECT_TRUE(deep_equal(*frozen, source));
  EXPECT_EQ(deep_hash(*frozen), deep_hash(source));
  EXPECT_EQ(frozen.use_count(), 1U);
}

TEST(Freeze, MakesOneEqualBlockOfAnyValue) {
  expect_frozen_equal(Everything{});
  expect_frozen_equal(filled());
  expect_frozen_equal(Part{});
  expect_frozen_equal(test::chain(50));
  expect_frozen_equal(String{});
  expect_frozen_equal(String{long_text("x")});
  expect_frozen_equal(OptionalString{""});
  expect_frozen_equal(List<Part>{});
  expect_frozen_equal(List<Part>{Part{}, test::chain(2)});
  expect_frozen_equal(Map<Part>{{"a", Part{}}, {long_text("b"), test::chain(2)}});
  expect_frozen_equal(std::int32_t{7});
  expect_frozen_equal(Value{});
  expect_frozen_equal(Value{nullptr});
  expect_frozen_equal(Value{2.5});
  expect_frozen_equal(Value::integer(std::int64_t{1} << 62));
  expect_frozen_equal(Value::array());
  expect_frozen_equal(Value::object());
  expect_frozen_equal(filled().any);
}

TEST(Freeze, CountsOneBlock) {
  const std::size_t before = block_totals().blocks;

  const Ref<Everything> frozen = freeze(filled());

  EXPECT_EQ(block_totals().blocks, before + 1);
}

TEST(Freeze, TakesNoMoreThanTheContentNeeds) {
  Part part;
  part.name = std::string(1000, 'x');

  const Ref<Part> frozen = freeze(part);

  EXPECT_GE(detail::block_of(frozen)->image_size(), sizeof(Part) + 1000);
  EXPECT_LT(detail::block_of(frozen)->image_size(), sizeof(Part) + 1000 + 8);
}

TEST(Freeze, KeepsEmptyContainersOfAValueApart) {
  EXPECT_TRUE(freeze(Value::array())->is_array());
  EXPECT_TRUE(freeze(Value::object())->is_object());
  EXPECT_TRUE(freeze(Value{""})->is_string());
  EXPECT_TRUE(freeze(Value{})->is_absent());
}

TEST(Freeze, OfAFrozenObjectSharesItsNodes) {
  const std::string text = R"({"metadata":{"name":"a-1"},"text":"a text of some length"})";
  auto pool = std::make_shared<Pool>();
  Ref<Value> again;
  {
    Decoder<Value> decoder{{.pool = pool}};
    const Ref<Value> first = decoder.json(text);
    const Ref<Value> second = decoder.json(text);
    again = freeze(*second);
  }

  EXPECT_EQ(pool->totals().nodes, 1U);
  EXPECT_EQ(again->get_string("text"), "a text of some length");
  EXPECT_GT(bytes_of(again).shared, 0U);
  again.reset();
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(Freeze, CanCopyNodesIntoTheBlock) {
  const std::string text = R"({"metadata":{"name":"a-1"},"list":["a text of some length",2.5]})";
  auto pool = std::make_shared<Pool>();
  detail::Block* block = nullptr;
  {
    Decoder<Value> decoder{{.pool = pool}};
    const Ref<Value> first = decoder.json(text);
    const Ref<Value> second = decoder.json(text);
    detail::Arena arena;
    std::byte* root = arena.allocate_root(sizeof(Value));
    detail::freeze_into(arena, type_of<Value>(), root,
                        reinterpret_cast<const std::byte*>(second.get()), detail::Nodes::kCopy);
    block = arena.finish();
  }
  const Ref<Value> alone = detail::ref_to_root<Value>(block);

  EXPECT_EQ(pool->totals().nodes, 0U);
  EXPECT_EQ(alone->get_string("list[0]"), "a text of some length");
  EXPECT_EQ(alone->get_double("list[1]"), 2.5);
}

TEST(Freeze, RejectsObjectsThatAreTooLargeForOneBlock) {
  const std::size_t before = block_totals().blocks;
  const String large{std::string(detail::Arena::kDefaultLimit + 1, 'x')};

  EXPECT_THROW(static_cast<void>(freeze(large)), std::length_error);
  EXPECT_EQ(block_totals().blocks, before);
  expect_frozen_equal(filled());
}

}  // namespace
}  // namespace kube
