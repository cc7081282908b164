// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/operations.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <utility>

namespace kube {

template <typename T>
class Box;

namespace detail {
template <typename T>
inline constexpr Type kBoxType{
    .kind = Kind::kBox, .size = 8, .name = "object", .element = &TypeOf<T>::value};
template <typename T>
inline constexpr bool kStoredInline<Box<T>> = true;

/// Returns the struct that the word of a box refers to, or null.
inline const std::byte* boxed(const Word& word) noexcept {
  switch (word.form()) {
    case Form::kRelative:
      return word.relative_target();
    case Form::kNode:
      return word.node()->data();
    case Form::kOwned:
      return word.owned_struct();
    default:
      return nullptr;
  }
}
}  // namespace detail

template <typename T>
struct TypeOf<Box<T>> {
  static constexpr const Type& value = detail::kBoxType<T>;
};

/// An optional T in eight bytes, for what is a pointer to a struct in Go. Copying it copies the T.
///
/// T is any described struct, and may be incomplete where the box is declared.
template <typename T>
class Box {
 public:
  Box() noexcept = default;
  Box(std::nullptr_t) noexcept {}                         // NOLINT: `.probe = nullptr` reads well
  Box(T value) : Box() { emplace() = std::move(value); }  // NOLINT: implicit, from the content
  Box(const Box& other) : word_(detail::copy_word(type_of<Box>(), other.word_)) {}
  Box(const Box&&) = delete;
  Box(Box&& other) noexcept : word_(detail::take_word(type_of<Box>(), other.word_)) {}
  Box& operator=(const Box& other) {
    if (this != &other) *this = Box{other};
    return *this;
  }
  Box& operator=(const Box&&) = delete;
  Box& operator=(Box&& other) noexcept {
    if (this != &other) {
      // Taken before reset(): `other` may be a part of the content.
      const detail::Word taken = detail::take_word(type_of<Box>(), other.word_);
      reset();
      word_ = taken;
    }
    return *this;
  }
  ~Box() { reset(); }

  [[nodiscard]] const T* get() const noexcept {
    return reinterpret_cast<const T*>(detail::boxed(word_));
  }
  [[nodiscard]] T* get() noexcept {
    return const_cast<T*>(reinterpret_cast<const T*>(detail::boxed(word_)));
  }
  explicit operator bool() const noexcept { return !word_.is_none(); }
  [[nodiscard]] bool has_value() const noexcept { return !word_.is_none(); }
  const T& operator*() const noexcept { return *get(); }
  T& operator*() noexcept { return *get(); }
  const T* operator->() const noexcept { return get(); }
  T* operator->() noexcept { return get(); }

  /// Replaces the content by an empty T and returns it.
  T& emplace() {
    reset();
    word_ = detail::Word::of_owned(detail::allocate_struct(sizeof(T)));
    return *get();
  }
  /// Returns the content, created empty if there is none.
  T& ensure() { return has_value() ? *get() : emplace(); }
  void reset() noexcept {
    if (word_.is_owned()) detail::destroy_word(type_of<Box>(), word_);
    word_ = {};
  }

  friend bool operator==(const Box& a, const Box& b) noexcept { return deep_equal(a, b); }

 private:
  detail::Word word_;
};

}  // namespace kube
