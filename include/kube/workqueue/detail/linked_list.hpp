// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kube::detail {

/// Intrusive doubly linked list: Links{}(node) has the members `previous` and `next`.
template <typename Node, typename Links>
class LinkedList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Node* front() const noexcept { return first_; }

  void push_back(Node& node) noexcept {
    Links{}(node).previous = last_;
    Links{}(node).next = nullptr;
    (last_ == nullptr ? first_ : Links{}(*last_).next) = &node;
    last_ = &node;
    ++size_;
  }
  void erase(Node& node) noexcept {
    Node* const previous = Links{}(node).previous;
    Node* const next = Links{}(node).next;
    (previous == nullptr ? first_ : Links{}(*previous).next) = next;
    (next == nullptr ? last_ : Links{}(*next).previous) = previous;
    --size_;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kube::detail
