// SPDX-License-Identifier: Apache-2.0
#include <kube/object/ref.hpp>

#include "base/heap.hpp"
#include "object/arena.hpp"
#include "object/bundle.hpp"
#include "object/freeze.hpp"

namespace kube {

namespace {
std::atomic<std::size_t> live_blocks{0};
std::atomic<std::size_t> live_bytes{0};
}  // namespace

namespace detail {

void count_block(const Block& block, int change) noexcept {
  const std::size_t size = heap_size_of(block.memory());
  if (change > 0) {
    live_blocks.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_add(size, std::memory_order_relaxed);
  } else {
    live_blocks.fetch_sub(1, std::memory_order_relaxed);
    live_bytes.fetch_sub(size, std::memory_order_relaxed);
  }
}

void Block::destroy() noexcept {
  for_each_node_word([](const Word& word) { word.node()->release(); });
  if (bundle != nullptr) bundle->release();
  count_block(*this, -1);
  heap_release(memory());
}

ObjectBytes bytes_of_block(const Block* block) noexcept {
  if (block == nullptr) return {};
  ObjectBytes bytes{heap_size_of(block->memory()), 0};
  const auto part_of = [](const Node* node) {
    return (sizeof(Node) + node->size) / node->references.load(std::memory_order_relaxed);
  };
  block->for_each_node_word([&](const Word& word) { bytes.shared += part_of(word.node()); });
  if (const Bundle* bundle = block->bundle) {
    std::size_t held = heap_size_of(bundle);
    for (const Node* node : bundle->nodes()) held += part_of(node);
    bytes.shared += held / bundle->references();
  }
  return bytes;
}

Block* freeze_value(const Type& type, const std::byte* object) {
  // One arena per thread: programs that build objects freeze often.
  thread_local Arena arena;
  return arena.with_room(0, [&] {
    freeze_into(arena, type, arena.allocate_root(type.size), object);
    return arena.finish();
  });
}

}  // namespace detail

BlockTotals block_totals() noexcept {
  return {live_blocks.load(std::memory_order_relaxed), live_bytes.load(std::memory_order_relaxed)};
}

}  // namespace kube
