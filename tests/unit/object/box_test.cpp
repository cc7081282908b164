// SPDX-License-Identifier: Apache-2.0
#include <kube/object/box.hpp>

#include "unit/object/described.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace kube {
namespace {

using test::chain;
using test::long_text;
using test::Part;

TEST(Box, TakesEightBytesAndStartsEmpty) {
  static_assert(sizeof(Box<Part>) == 8);
  const Box<Part> box;

  EXPECT_FALSE(box);
  EXPECT_FALSE(box.has_value());
  EXPECT_EQ(box.get(), nullptr);
  EXPECT_EQ(box, Box<Part>{nullptr});
}

TEST(Box, HoldsWhatItWasMadeFrom) {
  const Box<Part> box = Part{.name = long_text("content"), .count = 3, .next = {}};

  ASSERT_TRUE(box);
  EXPECT_EQ(box->name, long_text("content"));
  EXPECT_EQ((*box).count, 3);
}

TEST(Box, CopiesTheContent) {
  Box<Part> box = chain(3);

  const Box<Part> copy = box;
  box->next->name = "changed";

  EXPECT_EQ(copy->next->name, long_text("link"));
  EXPECT_NE(copy, box);
  EXPECT_NE(copy.get(), box.get());
}

TEST(Box, MovesTheContentWithoutCopying) {
  Box<Part> from = chain(2);
  const Part* const content = from.get();

  const Box<Part> to = std::move(from);

  EXPECT_EQ(to.get(), content);
  EXPECT_FALSE(from);  // NOLINT: what a moved-from box is, is the question
}

TEST(Box, EmplaceReplacesByAnEmptyContent) {
  Box<Part> box = chain(2);

  Part& fresh = box.emplace();

  EXPECT_EQ(&fresh, box.get());
  EXPECT_EQ(*box, Part{});
}

TEST(Box, EnsureMakesContentOnlyIfThereIsNone) {
  Box<Part> box;

  box.ensure().count = 5;
  box.ensure().name = "kept";

  EXPECT_EQ(box->count, 5);
  EXPECT_EQ(box->name, "kept");
}

TEST(Box, ResetEmptiesIt) {
  Box<Part> box = chain(4);

  box.reset();

  EXPECT_EQ(box, nullptr);
}

TEST(Box, IsEqualByContent) {
  EXPECT_EQ(Box<Part>{chain(3)}, Box<Part>{chain(3)});
  EXPECT_NE(Box<Part>{chain(3)}, Box<Part>{chain(2)});
  EXPECT_NE(Box<Part>{Part{}}, Box<Part>{});
}

// The old content owns the new content, which must be moved out before the old one is destroyed.
TEST(Box, CanBeAssignedFromAPartOfItself) {
  Box<Part> box = chain(3);

  box = std::move(box->next);
  EXPECT_EQ(box->count, 2);
  const Box<Part>& inner = box->next;
  box = inner;
  EXPECT_EQ(box->count, 1);
  EXPECT_FALSE(box->next);
}

TEST(Box, SurvivesAssignmentToItself) {
  Box<Part> box = chain(2);
  const Box<Part>& same = box;

  box = same;

  EXPECT_EQ(*box, chain(2));
}

}  // namespace
}  // namespace kube
