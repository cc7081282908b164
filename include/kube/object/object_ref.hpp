// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>

#include <cstddef>
#include <utility>

namespace kube::detail {

/// A shared, immutable object of a type that somebody else knows, or null: Ref in eight bytes. The core
/// of the cache is written once, for these.
///
/// It always keeps a whole object: what is a part of a larger one (an item of a decoded list) is copied
/// out of it first, so a cached object never keeps its neighbours.
/// Thread safety: as Ref.
class ObjectRef {
 public:
  ObjectRef() noexcept = default;
  ObjectRef(std::nullptr_t) noexcept {}  // NOLINT: null is a value of it
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
  template <typename T>
  static ObjectRef from(const Ref<T>& ref) {
    if (ref == nullptr) return {};
    if (reinterpret_cast<const std::byte*>(ref.get()) != block_of(ref)->root()) {
      return from(freeze(*ref));
    }
    return whole(ref);
  }
  /// Of a reference to an object that is the root of its block, as each that a client decodes.
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
  /// Lets the processor fetch the count of references, which will be changed.
  void prefetch() const noexcept { __builtin_prefetch(block_, 1); }
  /// And its neighbours, where the name of the object is.
  void prefetch_name() const noexcept {
    constexpr std::ptrdiff_t kLine = 64;
    const auto* const block = reinterpret_cast<const std::byte*>(block_);
    prefetch();
    __builtin_prefetch(block - kLine);
    __builtin_prefetch(block + kLine);
  }
  /// And what giving back its memory touches, which this is perhaps the last reference to.
  void prefetch_release() const noexcept {
    if (block_ == nullptr) return;
    __builtin_prefetch(block_->memory(), 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(block_) + block_->size);
  }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  /// Identity, not equality of content.
  friend bool operator==(const ObjectRef& a, const ObjectRef& b) noexcept = default;

 private:
  Block* block_ = nullptr;
};
static_assert(sizeof(ObjectRef) == 8);

}  // namespace kube::detail
