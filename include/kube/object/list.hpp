// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/box.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <algorithm>
#include <compare>
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {

template <typename T>
class List;

namespace detail {
template <typename T>
inline constexpr Type kListType{
    .kind = Kind::kList, .size = 8, .name = "list", .element = &TypeOf<T>::value};
template <typename T>
inline constexpr bool kStoredInline<List<T>> = true;

/// The stored form of an element of a list or map: the element itself, or a box of it.
template <typename T>
struct SlotOf {
  using type = std::conditional_t<kStoredInline<T>, T, Box<T>>;
};
template <typename T>
using Slot = typename SlotOf<T>::type;

template <typename T>
auto& in_slot(auto& slot) noexcept {
  if constexpr (kStoredInline<T>) {
    return slot;
  } else {
    return *slot;
  }
}
}  // namespace detail

template <typename T>
struct TypeOf<List<T>> {
  static constexpr const Type& value = detail::kListType<T>;
};

/// A sequence of T in eight bytes. Structs are stored individually behind the list, so that cached
/// objects can share equal ones; the iterator hides the indirection.
///
/// Ownership: a copy is independent of the block that it was copied from. When an owned list grows,
/// references to struct elements stay valid; references to other elements do not.
template <typename T>
class List {
  using Slot = detail::Slot<T>;

  template <typename Value, typename SlotPointer>
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = Value&;
    using pointer = Value*;

    Iterator() noexcept = default;
    explicit Iterator(SlotPointer slot) noexcept : slot_(slot) {}
    reference operator*() const noexcept { return detail::in_slot<T>(*slot_); }
    pointer operator->() const noexcept { return &**this; }
    reference operator[](difference_type n) const noexcept { return *(*this + n); }
    Iterator& operator++() noexcept {
      ++slot_;
      return *this;
    }
    Iterator operator++(int) noexcept { return Iterator{slot_++}; }
    Iterator& operator--() noexcept {
      --slot_;
      return *this;
    }
    Iterator operator--(int) noexcept { return Iterator{slot_--}; }
    Iterator& operator+=(difference_type n) noexcept {
      slot_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) noexcept {
      slot_ -= n;
      return *this;
    }
    friend Iterator operator+(Iterator it, difference_type n) noexcept { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) noexcept { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) noexcept { return it -= n; }
    friend difference_type operator-(Iterator a, Iterator b) noexcept { return a.slot_ - b.slot_; }
    friend bool operator==(Iterator a, Iterator b) noexcept = default;
    friend auto operator<=>(Iterator a, Iterator b) noexcept { return a.slot_ <=> b.slot_; }

   private:
    SlotPointer slot_ = nullptr;
  };

 public:
  using value_type = T;
  using const_iterator = Iterator<const T, const Slot*>;
  using iterator = Iterator<T, Slot*>;

  List() noexcept = default;
  // Delegates: on an exception the destructor frees the elements.
  List(std::initializer_list<T> elements) : List() {
    for (const T& element : elements) push_back(element);
    if (elements.size() == 0) word_ = detail::Word::set_but_empty();
  }
  /// Copies a range of elements.
  template <std::input_iterator It>
  List(It first, It last) : List() {
    for (; first != last; ++first) push_back(*first);
  }
  /// Copies the elements of a vector.
  template <std::convertible_to<T> Element, typename Allocator>
  List(const std::vector<Element, Allocator>& elements)  // NOLINT: implicit
      : List(elements.begin(), elements.end()) {
    if (elements.empty()) word_ = detail::Word::set_but_empty();
  }
  List(const List& other) : word_(detail::copy_word(type_of<List>(), other.word_)) {}
  List(const List&&) = delete;
  List(List&& other) noexcept : word_(detail::take_word(type_of<List>(), other.word_)) {}
  List& operator=(const List& other) {
    if (this != &other) *this = List{other};
    return *this;
  }
  List& operator=(const List&&) = delete;
  List& operator=(List&& other) noexcept {
    if (this != &other) {
      // Taken before reset(): `other` may be a part of the content.
      const detail::Word taken = detail::take_word(type_of<List>(), other.word_);
      reset();
      word_ = taken;
    }
    return *this;
  }
  ~List() { reset(); }

  /// Converts to a vector: `std::vector<std::string> arguments = container.args;`
  template <typename Element, typename Allocator>
  requires std::convertible_to<const T&, Element>
  operator std::vector<Element, Allocator>() const {  // NOLINT
    return std::vector<Element, Allocator>(begin(), end());
  }

  [[nodiscard]] std::size_t size() const noexcept { return word_.view().count; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// True if the list was never set. An empty list that was set is `[]` in JSON, where Go
  /// distinguishes the two.
  [[nodiscard]] bool is_null() const noexcept { return word_.is_none(); }
  const T& operator[](std::size_t i) const noexcept { return detail::in_slot<T>(slots()[i]); }
  T& operator[](std::size_t i) noexcept { return detail::in_slot<T>(slots()[i]); }
  [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
  [[nodiscard]] T& front() noexcept { return (*this)[0]; }
  [[nodiscard]] const T& back() const noexcept { return (*this)[size() - 1]; }
  [[nodiscard]] T& back() noexcept { return (*this)[size() - 1]; }

  [[nodiscard]] const_iterator begin() const noexcept { return const_iterator{slots()}; }
  [[nodiscard]] const_iterator end() const noexcept { return const_iterator{slots() + size()}; }
  [[nodiscard]] iterator begin() noexcept { return iterator{slots()}; }
  [[nodiscard]] iterator end() noexcept { return iterator{slots() + size()}; }

  /// Appends an empty element and returns it.
  T& emplace_back() {
    detail::OwnedHeader* header = detail::grow_owned(word_, sizeof(Slot), detail::Content::kList);
    Slot* slot = reinterpret_cast<Slot*>(header->data()) + header->count;
    if constexpr (!detail::kStoredInline<T>) slot->emplace();
    ++header->count;
    return detail::in_slot<T>(*slot);
  }
  void push_back(T element) { emplace_back() = std::move(element); }
  /// Removes the elements for which `matches` returns true. Returns their number.
  template <typename Predicate>
  std::size_t erase_if(Predicate matches) {
    Slot* const first = slots();
    Slot* const last = first + size();
    Slot* const kept = std::remove_if(
        first, last, [&](Slot& slot) { return matches(std::as_const(detail::in_slot<T>(slot))); });
    const auto removed = static_cast<std::size_t>(last - kept);
    for (Slot* slot = kept; slot != last; ++slot) *slot = Slot{};
    if (removed > 0) word_.owned()->count -= static_cast<std::uint32_t>(removed);
    return removed;
  }
  /// Returns to the unset state; see is_null().
  void reset() noexcept {
    if (word_.is_owned()) detail::destroy_word(type_of<List>(), word_);
    word_ = {};
  }

  friend bool operator==(const List& a, const List& b) noexcept {
    return a.size() == b.size() && deep_equal(a, b);
  }

 private:
  [[nodiscard]] const Slot* slots() const noexcept {
    return reinterpret_cast<const Slot*>(word_.view().data);
  }
  [[nodiscard]] Slot* slots() noexcept { return const_cast<Slot*>(std::as_const(*this).slots()); }
  detail::Word word_;
};

}  // namespace kube
