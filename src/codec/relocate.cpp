// SPDX-License-Identifier: Apache-2.0
#include "codec/relocate.hpp"

#include <kube/object/string.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace kube::detail {

namespace {

bool holds_word(const Type& type) noexcept {
  switch (type.kind) {
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
    case Kind::kBox:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kValue:
    case Kind::kStruct:  // behind a word of its own
      return true;
    case Kind::kLeaf:
      return holds_word(*type.element);
    default:
      return false;
  }
}

std::string_view key_at(const std::byte* entry) {
  return reinterpret_cast<const String*>(entry)->view();
}

}  // namespace

void relocate_slot(Arena& arena, const Type& element, std::byte* to, const std::byte* from) {
  if (holds_word(element)) {
    arena.assign(word_at(to), word_at(from));
  } else {
    std::memcpy(to, from, element.list_stride());
  }
}

std::size_t sort_entries(Arena& arena, std::byte*& entries, std::size_t count, std::size_t stride,
                         const Type& value_type) {
  bool in_order = true;
  for (std::size_t i = 1; i < count && in_order; ++i) {
    in_order = key_at(entries + (i - 1) * stride) < key_at(entries + i * stride);
  }
  if (in_order) return count;

  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return key_at(entries + a * stride) < key_at(entries + b * stride);
  });
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    if (!kept.empty() && key_at(entries + kept.back() * stride) == key_at(entries + i * stride)) {
      kept.back() = i;
    } else {
      kept.push_back(i);
    }
  }
  std::byte* sorted = arena.allocate(kept.size() * stride);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::byte* from = entries + kept[i] * stride;
    arena.assign(word_at(sorted + i * stride), word_at(from));
    relocate_slot(arena, value_type, sorted + i * stride + 8, from + 8);
  }
  entries = sorted;
  return kept.size();
}

}  // namespace kube::detail
