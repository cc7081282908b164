// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/list.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kube {

template <typename T>
class Map;

namespace detail {
template <typename T>
inline constexpr Type kMapType{
    .kind = Kind::kMap, .size = 8, .name = "object", .element = &TypeOf<T>::value};
template <typename T>
inline constexpr bool kStoredInline<Map<T>> = true;
}  // namespace detail

template <typename T>
struct TypeOf<Map<T>> {
  static constexpr const Type& value = detail::kMapType<T>;
};

/// Text keys and values of T, sorted by key, in eight bytes. `for (const auto& [key, value] : labels)`.
///
/// Finding is a binary search; inserting moves what follows, as maps here are small.
/// Ownership: as for List.
template <typename T>
class Map {
  struct alignas(8) Entry {
    String key;
    alignas(8) detail::Slot<T> value;
  };

  template <typename Value, typename EntryPointer>
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<const String&, Value&>;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using pointer = void;

    Iterator() noexcept = default;
    explicit Iterator(EntryPointer entry) noexcept : entry_(entry) {}
    reference operator*() const noexcept {
      return {entry_->key, detail::in_slot<T>(entry_->value)};
    }
    Iterator& operator++() noexcept {
      ++entry_;
      return *this;
    }
    Iterator operator++(int) noexcept { return Iterator{entry_++}; }
    friend bool operator==(Iterator a, Iterator b) noexcept = default;

   private:
    EntryPointer entry_ = nullptr;
  };

 public:
  using const_iterator = Iterator<const T, const Entry*>;
  using iterator = Iterator<T, Entry*>;

  Map() noexcept = default;
  Map(std::initializer_list<std::pair<std::string_view, T>> entries) : Map() {
    for (const auto& [key, value] : entries) (*this)[key] = value;
    if (entries.size() == 0) word_ = detail::Word::set_but_empty();
  }
  Map(const Map& other) : word_(detail::copy_word(type_of<Map>(), other.word_)) {}
  Map(const Map&&) = delete;
  Map(Map&& other) noexcept : word_(detail::take_word(type_of<Map>(), other.word_)) {}
  Map& operator=(const Map& other) {
    if (this != &other) *this = Map{other};
    return *this;
  }
  Map& operator=(const Map&&) = delete;
  Map& operator=(Map&& other) noexcept {
    if (this != &other) {
      // First: `other` may be a part of what is reset.
      const detail::Word taken = detail::take_word(type_of<Map>(), other.word_);
      reset();
      word_ = taken;
    }
    return *this;
  }
  ~Map() { reset(); }

  [[nodiscard]] std::size_t size() const noexcept { return word_.view().count; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] bool is_null() const noexcept { return word_.is_none(); }

  /// The value under `key`, or null.
  [[nodiscard]] const T* find(std::string_view key) const noexcept {
    const std::size_t i = position(key);
    const Entry* entry = entries() + i;
    return i < size() && entry->key == key ? &detail::in_slot<T>(entry->value) : nullptr;
  }
  [[nodiscard]] T* find(std::string_view key) noexcept {
    return const_cast<T*>(std::as_const(*this).find(key));
  }
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  /// The value under `key`. Throws std::out_of_range if there is none.
  [[nodiscard]] const T& at(std::string_view key) const {
    if (const T* value = find(key)) return *value;
    throw std::out_of_range("no entry \"" + std::string{key} + '"');
  }
  /// The value under `key`, inserted empty if there was none.
  T& operator[](std::string_view key) {
    if (T* value = find(key)) return *value;
    const std::size_t i = position(key);
    Entry made{String{key}, {}};  // complete before it is seen
    if constexpr (!detail::kStoredInline<T>) made.value.emplace();
    detail::OwnedHeader* header = detail::grow_owned(word_, sizeof(Entry), detail::Content::kMap);
    Entry* const place = reinterpret_cast<Entry*>(header->data()) + i;
    // What an owned container holds may change place bit by bit.
    std::memmove(static_cast<void*>(place + 1), static_cast<const void*>(place),
                 (header->count - i) * sizeof(Entry));
    new (place) Entry{std::move(made)};
    ++header->count;
    return detail::in_slot<T>(place->value);
  }
  /// Removes the entry under `key`; false if there was none.
  bool erase(std::string_view key) {
    if (!contains(key)) return false;
    const std::size_t i = position(key);
    Entry* const place = entries() + i;
    const std::size_t behind = size() - i - 1;
    *place = Entry{};
    std::memmove(static_cast<void*>(place), static_cast<const void*>(place + 1),
                 behind * sizeof(Entry));
    std::memset(static_cast<void*>(place + behind), 0, sizeof(Entry));
    --word_.owned()->count;
    return true;
  }
  void reset() noexcept {
    if (word_.is_owned()) detail::destroy_word(type_of<Map>(), word_);
    word_ = {};
  }

  [[nodiscard]] const_iterator begin() const noexcept { return const_iterator{entries()}; }
  [[nodiscard]] const_iterator end() const noexcept { return const_iterator{entries() + size()}; }
  [[nodiscard]] iterator begin() noexcept { return iterator{entries()}; }
  [[nodiscard]] iterator end() noexcept { return iterator{entries() + size()}; }

  friend bool operator==(const Map& a, const Map& b) noexcept {
    return a.size() == b.size() && deep_equal(a, b);
  }

 private:
  [[nodiscard]] std::size_t position(std::string_view key) const noexcept {
    return detail::lower_bound_entry(word_.view(), sizeof(Entry), key);
  }
  [[nodiscard]] const Entry* entries() const noexcept {
    return reinterpret_cast<const Entry*>(word_.view().data);
  }
  [[nodiscard]] Entry* entries() noexcept {
    return const_cast<Entry*>(std::as_const(*this).entries());
  }
  detail::Word word_;
};

}  // namespace kube
