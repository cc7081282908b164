// SPDX-License-Identifier: Apache-2.0
#include "cache/store/persistent_set.hpp"

#include "base/heap.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace kube::detail {

std::uint16_t PersistentSet::Node::child_for(std::uint64_t key) const noexcept {
  // The first child also covers keys below its first number.
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

/// Copy-on-write: returns a node with this content that no other version shares, with capacity for
/// `room` entries but not many more. Takes ownership of `node`.
PersistentSet::Node* PersistentSet::own(Node* node, std::size_t room) {
  const bool alone = node->references.load(std::memory_order_acquire) == 1;
  if (alone && room <= node->capacity && node->capacity <= room + room / 2 + 8) return node;
  Node* copy = allocate(node->leaf, std::max<std::size_t>(room, node->count));
  copy->total = node->total;
  copy->count = node->count;
  std::memcpy(copy->keys(), node->keys(),
              node->count * (node->leaf ? sizeof(std::uint64_t) : sizeof(Child)));
  if (alone) {
    heap_release(node);  // its children have moved to the copy
    return copy;
  }
  if (!copy->leaf) {
    for (std::uint16_t i = 0; i < copy->count; ++i) retain(copy->children()[i].node);
  }
  release(node);
  return copy;
}

/// Moves the upper half of a full, unshared node into a new one.
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

/// Appends the content of `right` to `node`, which is unshared and has the capacity. Takes
/// ownership of `right`.
void PersistentSet::append(Node* node, Node* right) noexcept {
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

/// Makes child `i` of an unshared node unshared, with room for one more entry: a full child is
/// split. Does not change the content, so it may fail between any two steps.
void PersistentSet::make_room(Node* node, std::uint16_t i) {
  Node*& child = node->children()[i].node;
  const std::uint16_t limit = child->leaf ? kLeafKeys : kChildren;
  child = own(child, std::min<std::size_t>(child->count + 1U, limit));
  if (child->count < limit) return;
  Node* right = split(child);
  Child* place = node->children() + i + 1;
  Child* end = node->children() + node->count;
  std::memmove(place + 1, place, static_cast<std::size_t>(end - place) * sizeof(Child));
  *place = {right->first(), right};
  ++node->count;
  child = own(child, child->count + 1U);  // shrinks it: half of its capacity is enough now
}

/// Inserts a number that does not exist below `node`, which is unshared and has room for one more
/// entry.
void PersistentSet::insert_below(Node* node, std::uint64_t key) {
  if (node->leaf) {
    std::uint64_t* end = node->keys() + node->count;
    std::uint64_t* place = node->keys() + node->lower_bound(key);
    std::memmove(place + 1, place, static_cast<std::size_t>(end - place) * sizeof(key));
    *place = key;
    ++node->count;
  } else {
    const std::uint16_t count = node->count;
    std::uint16_t i = node->child_for(key);
    make_room(node, i);
    if (node->count != count) {
      i = node->child_for(key);
      make_room(node, i);
    }
    Child& child = node->children()[i];
    child.first = std::min(child.first, key);
    insert_below(child.node, key);
  }
  ++node->total;
}

void PersistentSet::insert(std::uint64_t key) {
  if (root_ == nullptr) root_ = allocate(true, 1);
  if (contains(key)) return;
  const std::uint16_t limit = root_->leaf ? kLeafKeys : kChildren;
  if (root_->count == limit) {
    Node* top = allocate(false, 2);
    top->total = root_->total;
    top->count = 1;
    top->children()[0] = {root_->first(), root_};
    root_ = top;
  } else {
    root_ = own(root_, root_->count + 1U);
  }
  insert_below(root_, key);
}

/// Merges children `i` and `i + 1` of an unshared node. Without memory for that they stay separate,
/// which only costs space.
void PersistentSet::join(Node* node, std::uint16_t i) noexcept {
  Child* children = node->children();
  try {
    children[i].node =
        own(children[i].node, children[i].node->count + 0U + children[i + 1].node->count);
  } catch (const std::bad_alloc&) {
    return;
  }
  append(children[i].node, children[i + 1].node);
  remove_child(node, static_cast<std::uint16_t>(i + 1));
}

void PersistentSet::remove_child(Node* node, std::uint16_t at) noexcept {
  Child* place = node->children() + at;
  std::memmove(place, place + 1, static_cast<std::size_t>(node->count - at - 1) * sizeof(Child));
  --node->count;
}

/// Removes a number that exists.
void PersistentSet::erase_from(Node*& node, std::uint64_t key) {
  node = own(node, node->count);
  if (node->leaf) {
    std::uint64_t* end = node->keys() + node->count;
    std::uint64_t* place = node->keys() + node->lower_bound(key);
    std::memmove(place, place + 1, static_cast<std::size_t>(end - place - 1) * sizeof(key));
    --node->count;
    --node->total;
    return;
  }
  std::uint16_t i = node->child_for(key);
  Child* children = node->children();
  erase_from(children[i].node, key);
  --node->total;
  if (children[i].node->count == 0) {
    release(children[i].node);
    remove_child(node, i);
    return;
  }
  // Merge a small node with a neighbour, if both are small.
  const std::uint16_t limit = children[i].node->leaf ? kLeafKeys : kChildren;
  if (children[i].node->count >= limit / 4) return;
  if (i + 1 == node->count) {
    if (i == 0) return;
    --i;
  }
  const unsigned both = children[i].node->count + 0U + children[i + 1].node->count;
  if (both <= limit * 3U / 4) join(node, i);
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
