// SPDX-License-Identifier: Apache-2.0
#include "object/arena.hpp"

#include "object/intern.hpp"
#include <kube/object/pool.hpp>
#include <kube/object/string.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kube {
namespace {

using detail::Arena;
using detail::Block;
using detail::Word;

constexpr std::size_t kMiB = std::size_t{1} << 20;

Word& new_word(Arena& arena) { return *reinterpret_cast<Word*>(arena.allocate(sizeof(Word))); }
/// Returns the first word of an object that becomes a block.
Word& new_root(Arena& arena) { return *reinterpret_cast<Word*>(arena.allocate_root(sizeof(Word))); }

TEST(Arena, GivesZeroedMemoryAlignedToEight) {
  Arena arena;
  for (const std::size_t size : {1U, 7U, 8U, 9U, 100U}) {
    std::byte* memory = arena.allocate(size);

    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 8, 0U);
    EXPECT_TRUE(std::all_of(memory, memory + size, [](std::byte b) { return b == std::byte{0}; }));
    std::memset(memory, 0xee, size);
  }
}

TEST(Arena, GivesZeroedMemoryAgainAfterClear) {
  Arena arena;
  std::memset(arena.allocate(1000), 0xee, 1000);
  arena.clear();

  const std::byte* memory = arena.allocate(1000);

  EXPECT_EQ(arena.used(), 1000U);
  EXPECT_TRUE(std::all_of(memory, memory + 1000, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Arena, MakesOneBlockOfStructsAndText) {
  Arena arena;
  Word& first = new_root(arena);
  Word& second = new_word(arena);
  arena.set_text(first, "a text in the block");
  arena.set_text(second, "short");
  const std::size_t used = arena.used() - sizeof(Block);

  Block* block = arena.finish();

  const auto* words = reinterpret_cast<const Word*>(block->root());
  EXPECT_EQ(words[0].text(), "a text in the block");
  EXPECT_EQ(words[1].text(), "short");
  EXPECT_GE(block->image_size(), used);
  EXPECT_LT(block->image_size(), used + 8);
  EXPECT_EQ(arena.used(), 0U);
  block->release();
}

TEST(Arena, TextMayShrinkToWhatWasNeeded) {
  Arena arena;
  Word& word = new_word(arena);
  char* text = arena.allocate_text(100);
  std::memcpy(text, "only this much", 14);

  arena.shrink_text(text, 100, 14);

  const char* shrunk = text + 86;
  EXPECT_EQ(std::string_view(shrunk, 14), "only this much");
  EXPECT_EQ(arena.used(), 8U + 14U);
  word.set_relative(shrunk, 14, detail::Content::kBytes);
  char* next = arena.allocate_text(5);
  std::memcpy(next, "other", 5);
  EXPECT_EQ(word.text(), "only this much");
  EXPECT_EQ(next + 5, shrunk);
}

TEST(Arena, TextMayShrinkToNothing) {
  Arena arena;
  char* text = arena.allocate_text(50);

  arena.shrink_text(text, 50, 0);

  EXPECT_EQ(arena.used(), 0U);
}

TEST(Arena, TellsEmptyTextFromNone) {
  Arena arena;
  Word& none = new_word(arena);
  Word& empty = new_word(arena);

  arena.set_text(empty, std::string_view{});

  EXPECT_TRUE(none.is_none());
  EXPECT_FALSE(empty.is_none());
  EXPECT_EQ(empty.text(), "");
}

TEST(Arena, RefusesStructsBeyondItsLimit) {
  Arena arena{kMiB};
  static_cast<void>(arena.allocate(kMiB - 8));

  static_cast<void>(arena.allocate(8));
  EXPECT_THROW(static_cast<void>(arena.allocate(8)), std::length_error);
  EXPECT_THROW(static_cast<void>(arena.allocate(2 * kMiB)), std::length_error);
}

TEST(Arena, RefusesTextBeyondItsLimit) {
  Arena arena{kMiB};
  static_cast<void>(arena.allocate_text(kMiB - 8));

  static_cast<void>(arena.allocate_text(8));
  EXPECT_THROW(static_cast<void>(arena.allocate_text(1)), std::length_error);
  EXPECT_THROW(static_cast<void>(arena.allocate_text(std::size_t{1} << 40)), std::length_error);
}

TEST(Arena, IsUsableAfterARefusal) {
  Arena arena{kMiB};
  EXPECT_THROW(static_cast<void>(arena.allocate(kMiB + 8)), std::length_error);
  EXPECT_THROW(static_cast<void>(arena.allocate_text(kMiB + 8)), std::length_error);
  arena.clear();

  Word& word = new_word(arena);
  arena.set_text(word, "still of use");

  EXPECT_EQ(word.text(), "still of use");
}

TEST(Arena, RefusesMoreThanTheBudgetOfOneObject) {
  Arena arena;
  arena.set_budget(1000);
  static_cast<void>(arena.allocate(600));

  try {
    static_cast<void>(arena.allocate_text(401));
    FAIL() << "the budget was not kept";
  } catch (const std::length_error& error) {
    EXPECT_STREQ(error.what(), "object takes more than 1000 bytes, out of proportion to its input");
  }
  arena.clear();
  EXPECT_NO_THROW(static_cast<void>(arena.allocate(5000)));  // the budget is per object
}

TEST(Arena, TakesASmallObjectAfterALargeOne) {
  Arena arena;
  for (const std::size_t size : {8 * kMiB, std::size_t{16}, 20 * kMiB, std::size_t{16}}) {
    Word& word = new_root(arena);
    std::memset(arena.allocate(size), 0xee, size);
    arena.set_text(word, std::string(size, 'x'));

    Block* block = arena.finish();

    const auto& frozen = *reinterpret_cast<const Word*>(block->root());
    EXPECT_EQ(frozen.text().size(), size);
    EXPECT_EQ(frozen.text().find_first_not_of('x'), std::string_view::npos);
    block->release();
    const std::byte* memory = arena.allocate(4096);
    EXPECT_TRUE(std::all_of(memory, memory + 4096, [](std::byte b) { return b == std::byte{0}; }));
    arena.clear();
  }
}

TEST(Arena, GivesBackNodesWhenCleared) {
  Pool pool;
  Arena arena;
  arena.set_node(new_word(arena), detail::intern_text(pool, "a text that is shared"));
  arena.set_node(new_word(arena), detail::intern_text(pool, "a text that is shared"));
  EXPECT_EQ(pool.totals().nodes, 1U);

  arena.clear();

  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST(Arena, GivesBackADroppedNodeOnce) {
  Pool pool;
  Arena arena;
  Word& dropped = new_root(arena);
  Word& kept = new_word(arena);
  arena.set_node(dropped, detail::intern_text(pool, "this one is dropped"));
  arena.assign(kept, dropped);

  arena.drop(dropped);
  EXPECT_TRUE(dropped.is_none());
  EXPECT_EQ(kept.text(), "this one is dropped");
  Block* block = arena.finish();
  EXPECT_EQ(pool.totals().nodes, 1U);
  block->release();

  EXPECT_EQ(pool.totals().nodes, 0U);
}

TEST(Arena, AssignsTextAcrossPlaces) {
  Arena arena;
  Word& from = new_word(arena);
  arena.set_text(from, "a text in the block");
  static_cast<void>(arena.allocate(1000));
  Word& to = new_word(arena);

  arena.assign(to, from);

  EXPECT_EQ(to.text(), "a text in the block");
}

TEST(Arena, RecordsNodeWordsThatAreFarApart) {
  Pool pool;
  Arena arena;
  Word& root = new_root(arena);
  for (const std::size_t gap : {8U, 8U * 253, 8U * 254, 8U * 255, 8U * 1000, 0U}) {
    static_cast<void>(arena.allocate(gap));
    arena.set_node(new_word(arena),
                   detail::intern_text(pool, "node after " + std::to_string(gap) + " bytes"));
  }
  arena.set_text(root, "text at the other end of it");

  Block* block = arena.finish();
  std::size_t seen = 0;
  block->for_each_node_word([&](const Word& word) {
    ++seen;
    EXPECT_TRUE(word.text().starts_with("node after ")) << word.text();
  });

  EXPECT_EQ(seen, 6U);
  block->release();
  EXPECT_EQ(pool.totals().nodes, 0U);
}

}  // namespace
}  // namespace kube
