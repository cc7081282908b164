// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace kube {

namespace detail {

class Bundle;

/// The memory of one object: the text, this header, the structs (the object itself first), then the
/// positions of the words that hold a reference to a pool node of their own (as distances in words,
/// one byte each; 255 means "254 and more to come"). The reference count, the start of the object
/// and the text that was decoded first, its name, are adjacent, so that looking up an uncached
/// object costs one cache miss.
struct Block {
  std::atomic<std::uint32_t> references;
  std::uint32_t text_size;   ///< bytes before the header
  std::uint32_t size;        ///< bytes of the header and the structs
  std::uint32_t node_words;  ///< number of words that hold a reference to a node
  Bundle* bundle;            ///< holds the references of the other words; may be null

  [[nodiscard]] const std::byte* root() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
  /// The start of the allocation.
  [[nodiscard]] std::byte* memory() const noexcept {
    return reinterpret_cast<std::byte*>(const_cast<Block*>(this)) - text_size;
  }
  /// The size of text and structs, without the header and the positions of node words.
  [[nodiscard]] std::size_t image_size() const noexcept { return text_size + size - sizeof(Block); }
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  /// Calls `see(word)` for each word that holds a reference to a node.
  template <typename See>
  void for_each_node_word(See see) const noexcept {
    const auto* at = reinterpret_cast<const std::byte*>(this);
    const auto* step = reinterpret_cast<const std::uint8_t*>(at + size);
    for (std::uint32_t i = 0; i < node_words; ++i) {
      for (; *step == 255; ++step) at += std::size_t{254} * 8;
      at += std::size_t{*step++} * 8;
      see(word_at(at));
    }
  }

 private:
  void destroy() noexcept;
};
static_assert(sizeof(Block) == 24);

/// Updates block_totals().
void count_block(const Block& block, int change) noexcept;

}  // namespace detail

/// A shared, immutable object, or null. Copying a Ref shares the object; copying `*ref` makes an
/// independent value that can be changed.
///
/// A Ref may point into an object, `Ref<PodSpec>{pod, &pod->spec}`, and then keeps the whole object
/// alive.
/// Thread safety: as std::shared_ptr. One Ref must not be used by two threads at once; two Refs to
/// one object may.
template <typename T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}  // NOLINT: implicit, null is a value
  /// Refers to a part of the object that `whole` keeps alive.
  template <typename U>
  Ref(const Ref<U>& whole, const T* part) noexcept : object_(part), block_(whole.block_) {
    if (block_ != nullptr) block_->retain();
  }
  Ref(const Ref& other) noexcept : Ref(other, other.object_) {}
  Ref(Ref&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        block_(std::exchange(other.block_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~Ref() {
    if (block_ != nullptr) block_->release();
  }

  [[nodiscard]] const T* get() const noexcept { return object_; }
  const T& operator*() const noexcept { return *object_; }
  const T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept { *this = Ref{}; }
  /// The number of Refs that share the object, including this one; 0 if null.
  [[nodiscard]] std::uint32_t use_count() const noexcept {
    return block_ == nullptr ? 0 : block_->references.load(std::memory_order_relaxed);
  }

  /// Compares identity, not content; see deep_equal.
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }
  friend bool operator==(const Ref& a, std::nullptr_t) noexcept { return a.object_ == nullptr; }

 private:
  template <typename U>
  friend class Ref;
  friend struct detail::Inside;
  /// Takes over one reference to `block`.
  Ref(detail::Block* block, const T* object) noexcept : object_(object), block_(block) {}

  const T* object_ = nullptr;
  detail::Block* block_ = nullptr;
};

/// The memory of one cached object, in bytes.
struct ObjectBytes {
  std::size_t own = 0;  ///< the block itself
  /// The object's share of the pool nodes and the bundle that it refers to.
  std::size_t shared = 0;
};

namespace detail {

/// Takes over one reference to `block`, whose root is a T.
template <typename T>
[[nodiscard]] Ref<T> ref_to_root(Block* block) noexcept {
  return Inside::make<Ref<T>>(block, reinterpret_cast<const T*>(block->root()));
}
/// Returns the block that `ref` keeps alive, or null.
template <typename T>
[[nodiscard]] Block* block_of(const Ref<T>& ref) noexcept {
  return Inside::block(ref);
}

[[nodiscard]] ObjectBytes bytes_of_block(const Block* block) noexcept;
/// Returns a new immutable block with the content of `object`.
[[nodiscard]] Block* freeze_value(const Type& type, const std::byte* object);

}  // namespace detail

/// Returns the memory of the object that a Ref points to. Memory shared by n objects counts as one
/// n-th for each.
template <typename T>
[[nodiscard]] ObjectBytes bytes_of(const Ref<T>& ref) noexcept {
  return detail::bytes_of_block(detail::block_of(ref));
}

/// Number and size of all blocks of the process that are alive.
struct BlockTotals {
  std::size_t blocks = 0;
  std::size_t bytes = 0;
};
/// Returns the current totals; for tests and diagnostics.
[[nodiscard]] BlockTotals block_totals() noexcept;

/// Returns an immutable copy of `object`, ready to be shared.
template <typename T>
[[nodiscard]] Ref<T> freeze(const T& object) {
  return detail::ref_to_root<T>(
      detail::freeze_value(type_of<T>(), reinterpret_cast<const std::byte*>(&object)));
}

}  // namespace kube

template <typename T>
struct std::hash<kube::Ref<T>> {
  std::size_t operator()(const kube::Ref<T>& ref) const noexcept {
    return std::hash<const T*>{}(ref.get());
  }
};
