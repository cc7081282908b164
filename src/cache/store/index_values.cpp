// SPDX-License-Identifier: Apache-2.0
#include "cache/store/index_values.hpp"

#include "base/heap.hpp"

#include <cstring>
#include <new>

namespace kube::detail {

IndexValues::IndexValues(const std::vector<std::pair<std::uint32_t, std::string>>& values) {
  if (values.empty()) return;
  std::size_t size = 0;
  for (const auto& [index, value] : values) size += sizeof(Head) + value.size();
  block_ = new (heap_allocate(sizeof(Block) + size)) Block{{1}, static_cast<std::uint32_t>(size)};
  char* at = block_->text();
  for (const auto& [index, value] : values) {
    const Head head{index, static_cast<std::uint32_t>(value.size())};
    std::memcpy(at, &head, sizeof head);
    std::memcpy(at + sizeof head, value.data(), value.size());
    at += sizeof head + value.size();
  }
}

IndexValues::~IndexValues() {
  if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    heap_release(block_);
  }
}

IndexValues::Head IndexValues::head_at(const char* place) noexcept {
  Head head;
  std::memcpy(&head, place, sizeof head);
  return head;
}

std::size_t IndexValues::bytes() const noexcept {
  return block_ == nullptr ? 0 : heap_size_of(block_);
}

}  // namespace kube::detail
