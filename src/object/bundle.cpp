// SPDX-License-Identifier: Apache-2.0
#include <kube/object/bundle.hpp>

#include <cstdlib>
#include <new>

namespace kube::detail {

Bundle* Bundle::make(std::size_t capacity) {
  void* memory = std::malloc(sizeof(Bundle) + capacity * sizeof(Node*));
  if (memory == nullptr) throw std::bad_alloc{};
  return new (memory) Bundle;
}

void Bundle::destroy() noexcept {
  for (Node* node : nodes()) node->release();
  std::free(this);
}

}  // namespace kube::detail
