// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>

#include <cstddef>
#include <utility>

namespace kube::detail {

/// A type-erased Ref in eight bytes: a shared, immutable object whose type the caller knows, or
/// null. The core of the cache is written for it, once for all types.
///
/// It always refers to a whole block. A part of a larger object (an item of a decoded list) is
/// copied first, so that a cached object does not keep its neighbours alive.
/// Thread safety: as Ref.
class ObjectRef {
 public:
  ObjectRef() noexcept = default;
  ObjectRef(std::nullptr_t) noexcept {}  // NOLINT: implicit, null is a value
  ObjectRef(const ObjectRef& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->retain();
  }
  ObjectRef(ObjectRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ObjectRef& operator=(ObjectRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~ObjectRef() {
    if (block_ != nullptr) block_->release();
  }

  /// Takes over one reference to `block`.
  static ObjectRef own(Block& block) noexcept {
    ObjectRef result;
    result.block_ = &block;
    return result;
  }
  /// Shares the object of `ref`, or a copy if it is only a part of its block.
  template <typename T>
  static ObjectRef from(const Ref<T>& ref) {
    if (ref == nullptr) return {};
    if (reinterpret_cast<const std::byte*>(ref.get()) != block_of(ref)->root()) {
      return from(freeze(*ref));
    }
    return whole(ref);
  }
  /// Shares an object that is the root of its block, as every object is that a client decodes.
  template <typename T>
  static ObjectRef whole(const Ref<T>& ref) noexcept {
    ObjectRef result;
    result.block_ = block_of(ref);
    if (result.block_ != nullptr) result.block_->retain();
    return result;
  }
  template <typename T>
  [[nodiscard]] Ref<T> to() const& noexcept {
    return ObjectRef{*this}.template to<T>();
  }
  template <typename T>
  [[nodiscard]] Ref<T> to() && noexcept {
    const T* object = static_cast<const T*>(get());
    return Inside::make<Ref<T>>(std::exchange(block_, nullptr), object);
  }
  template <typename T>
  [[nodiscard]] const T& as() const noexcept {
    return *static_cast<const T*>(get());
  }

  [[nodiscard]] const void* get() const noexcept {
    return block_ == nullptr ? nullptr : block_->root();
  }
  /// Prefetches the reference count for writing.
  void prefetch() const noexcept { __builtin_prefetch(block_, 1); }
  /// Prefetches the reference count and the adjacent cache lines, which contain the object's name.
  void prefetch_name() const noexcept {
    constexpr std::ptrdiff_t kLine = 64;
    const auto* const block = reinterpret_cast<const std::byte*>(block_);
    prefetch();
    __builtin_prefetch(block - kLine);
    __builtin_prefetch(block + kLine);
  }
  /// Prefetches the memory that releasing the block touches, if this is the last reference.
  void prefetch_release() const noexcept {
    if (block_ == nullptr) return;
    __builtin_prefetch(block_->memory(), 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(block_) + block_->size);
  }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  /// Compares identity, not content.
  friend bool operator==(const ObjectRef& a, const ObjectRef& b) noexcept = default;

 private:
  Block* block_ = nullptr;
};
static_assert(sizeof(ObjectRef) == 8);

}  // namespace kube::detail
