// SPDX-License-Identifier: Apache-2.0
#include "persistent_set.hpp"

#include <kube/base/heap.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace kube::detail {

std::uint16_t PersistentSet::Node::child_for(std::uint64_t key) const noexcept {
  // The first child counts for all that is below the second.
  const Child* at = children();
  for (std::uint16_t left = count; left > 1;) {
    const auto half = static_cast<std::uint16_t>(left / 2);
    at += at[half].first <= key ? half : 0;
    left = static_cast<std::uint16_t>(left - half);
  }
  return static_cast<std::uint16_t>(at - children());
}

std::uint16_t PersistentSet::Node::lower_bound(std::uint64_t key) const noexcept {
  const std::uint64_t* at = keys();
  std::uint16_t left = count;
  while (left > 1) {
    const auto half = static_cast<std::uint16_t>(left / 2);
    at += at[half - 1] < key ? half : 0;
    left = static_cast<std::uint16_t>(left - half);
  }
  return static_cast<std::uint16_t>(at - keys() + (left == 1 && *at < key ? 1 : 0));
}

void PersistentSet::release(Node* node) noexcept {
  if (node == nullptr || node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!node->leaf) {
    for (std::uint16_t i = 0; i < node->count; ++i) release(node->children()[i].node);
  }
  heap_release(node);
}

PersistentSet::Node* PersistentSet::allocate(bool leaf, std::size_t capacity) {
  capacity = leaf ? std::min<std::size_t>((capacity + 7) / 8 * 8, kLeafKeys)
                  : std::min<std::size_t>((capacity + 3) / 4 * 4, kChildren);
  void* const memory =
      heap_allocate(sizeof(Node) + capacity * (leaf ? sizeof(std::uint64_t) : sizeof(Child)));
  return new (memory) Node{{1}, 0, 0, static_cast<std::uint16_t>(capacity), leaf};
}

/// A node with this content that no other version has, with room for `room` entries but not for very many
/// more. Takes over `node`.
PersistentSet::Node* PersistentSet::own(Node* node, std::size_t room) {
  const bool alone = node->references.load(std::memory_order_acquire) == 1;
  if (alone && room <= node->capacity && node->capacity <= room + room / 2 + 8) return node;
  Node* copy = allocate(node->leaf, std::max<std::size_t>(room, node->count));
  copy->total = node->total;
  copy->count = node->count;
  std::memcpy(copy->keys(), node->keys(),
              node->count * (node->leaf ? sizeof(std::uint64_t) : sizeof(Child)));
  if (alone) {
    heap_release(node);  // its children have moved
    return copy;
  }
  if (!copy->leaf) {
    for (std::uint16_t i = 0; i < copy->count; ++i) retain(copy->children()[i].node);
  }
  release(node);
  return copy;
}

/// Moves the upper half of an own, full node into a new one.
PersistentSet::Node* PersistentSet::split(Node* node) {
  const auto half = static_cast<std::uint16_t>(node->count / 2);
  const auto rest = static_cast<std::uint16_t>(node->count - half);
  Node* right = allocate(node->leaf, rest + 1U);
  right->count = rest;
  if (node->leaf) {
    std::memcpy(right->keys(), node->keys() + half, rest * sizeof(std::uint64_t));
    right->total = rest;
  } else {
    std::memcpy(right->children(), node->children() + half, rest * sizeof(Child));
    for (std::uint16_t i = 0; i < rest; ++i) right->total += right->children()[i].node->total;
  }
  node->count = half;
  node->total -= right->total;
  return right;
}

/// Appends what `right` holds to `node`, which is own and has the room. Takes over `right`.
void PersistentSet::append(Node* node, Node* right) {
  if (node->leaf) {
    std::memcpy(node->keys() + node->count, right->keys(), right->count * sizeof(std::uint64_t));
  } else {
    std::memcpy(node->children() + node->count, right->children(), right->count * sizeof(Child));
    for (std::uint16_t i = 0; i < right->count; ++i) retain(right->children()[i].node);
  }
  node->count = static_cast<std::uint16_t>(node->count + right->count);
  node->total += right->total;
  release(right);
}

/// Inserts a number that is not there. Returns a new node to stand right of `node`, if it overflowed.
PersistentSet::Node* PersistentSet::insert_into(Node*& node, std::uint64_t key) {
  const std::uint16_t limit = node->leaf ? kLeafKeys : kChildren;
  node = own(node, std::min<std::size_t>(node->count + 1U, limit));
  if (node->count == limit) {
    Node* right = split(node);
    node = own(node, node->count + 1U);  // half of its room is more than enough now
    Node*& target = key < right->first() ? node : right;
    [[maybe_unused]] const Node* overflow = insert_into(target, key);
    assert(overflow == nullptr);  // the target is half full
    return right;
  }
  ++node->total;
  if (node->leaf) {
    std::uint64_t* end = node->keys() + node->count;
    std::uint64_t* place = node->keys() + node->lower_bound(key);
    std::memmove(place + 1, place, static_cast<std::size_t>(end - place) * sizeof(key));
    *place = key;
    ++node->count;
    return nullptr;
  }
  const std::uint16_t i = node->child_for(key);
  Child& child = node->children()[i];
  child.first = std::min(child.first, key);
  if (Node* right = insert_into(child.node, key)) {
    Child* place = node->children() + i + 1;
    Child* end = node->children() + node->count;
    std::memmove(place + 1, place, static_cast<std::size_t>(end - place) * sizeof(Child));
    *place = {right->first(), right};
    ++node->count;
  }
  return nullptr;
}

void PersistentSet::insert(std::uint64_t key) {
  if (root_ == nullptr) root_ = allocate(true, 1);
  if (contains(key)) return;
  if (Node* right = insert_into(root_, key)) {
    Node* top = allocate(false, 2);
    top->total = root_->total + right->total;
    top->count = 2;
    top->children()[0] = {root_->first(), root_};
    top->children()[1] = {right->first(), right};
    root_ = top;
  }
}

/// Removes a number that is there.
void PersistentSet::erase_from(Node*& node, std::uint64_t key) {
  node = own(node, node->count);
  --node->total;
  if (node->leaf) {
    std::uint64_t* end = node->keys() + node->count;
    std::uint64_t* place = node->keys() + node->lower_bound(key);
    std::memmove(place, place + 1, static_cast<std::size_t>(end - place - 1) * sizeof(key));
    --node->count;
    return;
  }
  std::uint16_t i = node->child_for(key);
  Child* children = node->children();
  erase_from(children[i].node, key);
  const auto remove = [&](std::uint16_t at) {
    std::memmove(children + at, children + at + 1,
                 static_cast<std::size_t>(node->count - at - 1) * sizeof(Child));
    --node->count;
  };
  if (children[i].node->count == 0) {
    release(children[i].node);
    remove(i);
    return;
  }
  // A small node joins a neighbour, if both are small.
  const std::uint16_t limit = children[i].node->leaf ? kLeafKeys : kChildren;
  if (children[i].node->count >= limit / 4) return;
  if (i + 1 == node->count) {
    if (i == 0) return;
    --i;
  }
  const unsigned both = children[i].node->count + 0U + children[i + 1].node->count;
  if (both > limit * 3U / 4) return;
  children[i].node = own(children[i].node, both);
  append(children[i].node, children[i + 1].node);
  remove(static_cast<std::uint16_t>(i + 1));
}

void PersistentSet::erase(std::uint64_t key) {
  if (!contains(key)) return;
  erase_from(root_, key);
  if (root_->count == 0) {
    release(std::exchange(root_, nullptr));
    return;
  }
  while (!root_->leaf && root_->count == 1) {
    Node* only = retain(root_->children()[0].node);
    release(root_);
    root_ = only;
  }
}

bool PersistentSet::contains(std::uint64_t key) const noexcept {
  const Node* node = root_;
  if (node == nullptr) return false;
  while (!node->leaf) node = node->children()[node->child_for(key)].node;
  const std::uint16_t at = node->lower_bound(key);
  return at < node->count && node->keys()[at] == key;
}

std::size_t PersistentSet::rank(std::uint64_t key) const noexcept {
  const Node* node = root_;
  if (node == nullptr) return 0;
  std::size_t below = 0;
  while (!node->leaf) {
    const std::uint16_t i = node->child_for(key);
    for (std::uint16_t j = 0; j < i; ++j) below += node->children()[j].node->total;
    node = node->children()[i].node;
  }
  return below + node->lower_bound(key);
}

std::size_t PersistentSet::bytes_of_node(const Node* node) noexcept {
  if (node == nullptr) return 0;
  std::size_t bytes = heap_size_of(node);
  if (!node->leaf) {
    for (std::uint16_t i = 0; i < node->count; ++i)
      bytes += bytes_of_node(node->children()[i].node);
  }
  return bytes;
}

}  // namespace kube::detail
