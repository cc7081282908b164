// SPDX-License-Identifier: Apache-2.0
// A program built with AddressSanitizer sees the heap's allocations and releases, though the
// library is built without it.
#include "base/heap.hpp"
#include <kube/object/ref.hpp>
#include <kube/object/string.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>

namespace {
/// The poisoned bytes, as the sanitizer would know them.
std::set<const volatile std::byte*>& poisoned() {
  static auto& bytes = *new std::set<const volatile std::byte*>;
  return bytes;
}
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void __asan_poison_memory_region(const volatile void* memory, std::size_t size);
void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);

void __asan_poison_memory_region(const volatile void* memory, std::size_t size) {
  const auto* const first = static_cast<const volatile std::byte*>(memory);
  for (std::size_t i = 0; i < size; ++i) poisoned().insert(first + i);
}
void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size) {
  const auto* const first = static_cast<const volatile std::byte*>(memory);
  poisoned().erase(poisoned().lower_bound(first), poisoned().lower_bound(first + size));
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace kube::detail {
namespace {

TEST(HeapPoison, CoversReleasedPiecesAndNothingElse) {
  auto* const first = static_cast<std::byte*>(heap_allocate(200));
  auto* const second = static_cast<std::byte*>(heap_allocate(200));
  EXPECT_FALSE(poisoned().contains(first));

  heap_release(first);
  EXPECT_TRUE(poisoned().contains(first));
  EXPECT_TRUE(poisoned().contains(first + 199));
  EXPECT_FALSE(poisoned().contains(second));

  auto* const third = static_cast<std::byte*>(heap_allocate(200));
  EXPECT_FALSE(poisoned().contains(third));
  EXPECT_FALSE(poisoned().contains(third + 199));
  heap_release(second);
  heap_release(third);
}

TEST(HeapPoison, CoversAReferenceThatOutlivesItsObject) {
  Ref<String> ref = freeze(String{"a text that stands in the block of the object"});
  const String& kept = *ref;
  const auto* const place = reinterpret_cast<const std::byte*>(&kept);
  EXPECT_FALSE(poisoned().contains(place));

  ref.reset();

  EXPECT_TRUE(poisoned().contains(place));
}

}  // namespace
}  // namespace kube::detail
