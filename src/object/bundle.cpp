// SPDX-License-Identifier: Apache-2.0
#include "object/bundle.hpp"

#include "base/heap.hpp"

#include <new>

namespace kube::detail {

Bundle* Bundle::make(std::size_t capacity) {
  return new (heap_allocate(sizeof(Bundle) + capacity * sizeof(Node*))) Bundle;
}

void Bundle::destroy() noexcept {
  for (Node* node : nodes()) node->release();
  heap_release(this);
}

}  // namespace kube::detail
