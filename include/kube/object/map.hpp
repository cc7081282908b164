// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/list.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
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

/// A container of pairs that a Map<T> can be constructed from.
template <typename Pairs, typename T>
concept PairsTo = requires(const Pairs& pairs) {
  { pairs.begin()->first } -> TextLike;
  { pairs.begin()->second } -> std::convertible_to<T>;
};
}  // namespace detail

template <typename T>
struct TypeOf<Map<T>> {
  static constexpr const Type& value = detail::kMapType<T>;
};

/// A key of a map and its value: `for (auto& [key, value] : labels)`, or `entry.key()` and
/// `entry.value()`.
template <typename T>
class alignas(8) MapEntry {
 public:
  MapEntry(const MapEntry& other) = default;
  ~MapEntry() = default;

  [[nodiscard]] const String& key() const noexcept { return key_; }
  [[nodiscard]] const T& value() const noexcept { return detail::in_slot<T>(value_); }
  /// The value, for changing it in place.
  [[nodiscard]] T& value() noexcept { return detail::in_slot<T>(value_); }

  /// Supports structured bindings: 0 is the key, 1 is the value.
  template <std::size_t I>
  [[nodiscard]] const auto& get() const noexcept {
    if constexpr (I == 0) {
      return key();
    } else {
      return value();
    }
  }
  template <std::size_t I>
  [[nodiscard]] auto& get() noexcept {
    if constexpr (I == 0) {
      return key();
    } else {
      return value();
    }
  }
  MapEntry& operator=(const MapEntry& other) = delete;
  /// Converts to the entry type of a standard map, copying key and value.
  template <typename Key, typename Mapped>
  requires(std::convertible_to<const String&, Key>&& std::convertible_to<const T&, Mapped>)
  operator std::pair<Key, Mapped>() const {  // NOLINT
    return {key(), value()};
  }
  /// Writes key=value.
  friend std::ostream& operator<<(std::ostream& out, const MapEntry& entry) requires requires {
    out << entry.value();
  }
  { return out << entry.key() << '=' << entry.value(); }

 private:
  friend class Map<T>;
  MapEntry() = default;
  explicit MapEntry(std::string_view key) : key_(key) {}
  // Only the map moves its entries: changing the key of an entry would break the order.
  MapEntry(MapEntry&& other) noexcept = default;
  MapEntry& operator=(MapEntry&& other) noexcept = default;

  String key_;
  alignas(8) detail::Slot<T> value_{};
};

/// Text keys and values of type T, sorted by key, in eight bytes: `for (const auto& [key, value] :
/// labels)`.
///
/// A look-up is a binary search. An insertion moves the entries behind it; maps of the API are
/// small.
/// Ownership: as for List.
template <typename T>
class Map {
  using Entry = MapEntry<T>;

 public:
  using value_type = MapEntry<T>;
  using const_iterator = const MapEntry<T>*;
  using iterator = MapEntry<T>*;

  Map() noexcept = default;
  Map(std::initializer_list<std::pair<std::string_view, T>> entries) : Map() {
    for (const auto& [key, value] : entries) (*this)[key] = value;
    if (entries.size() == 0) word_ = detail::Word::set_but_empty();
  }
  /// Copies a std::map, or any container of pairs of text and T.
  template <detail::PairsTo<T> Pairs>
  Map(const Pairs& pairs) : Map() {  // NOLINT: implicit
    for (const auto& [key, value] : pairs) (*this)[key] = value;
    if (empty()) word_ = detail::Word::set_but_empty();
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
      // Taken before reset(): `other` may be a part of the content.
      const detail::Word taken = detail::take_word(type_of<Map>(), other.word_);
      reset();
      word_ = taken;
    }
    return *this;
  }
  ~Map() { reset(); }

  /// Converts to a std::map: `std::map<std::string, std::string> labels = pod.metadata.labels;`
  template <typename Mapped, typename Compare, typename Allocator>
  requires std::convertible_to<const T&, Mapped>
  operator std::map<std::string, Mapped, Compare, Allocator>() const {  // NOLINT
    return std::map<std::string, Mapped, Compare, Allocator>(begin(), end());
  }

  [[nodiscard]] std::size_t size() const noexcept { return word_.view().count; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] bool is_null() const noexcept { return word_.is_none(); }

  /// Returns the value of `key`, or null.
  [[nodiscard]] const T* find(std::string_view key) const noexcept {
    const std::size_t i = position(key);
    const Entry* entry = entries() + i;
    return i < size() && entry->key_ == key ? &entry->value() : nullptr;
  }
  [[nodiscard]] T* find(std::string_view key) noexcept {
    return const_cast<T*>(std::as_const(*this).find(key));
  }
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  /// Returns the value of `key`. Throws std::out_of_range if there is none.
  [[nodiscard]] const T& at(std::string_view key) const {
    if (const T* value = find(key)) return *value;
    throw std::out_of_range("no entry \"" + std::string{key} + '"');
  }
  /// Returns the value of `key`, inserted empty if there was none.
  T& operator[](std::string_view key) {
    if (T* value = find(key)) return *value;
    const std::size_t i = position(key);
    Entry made{key};  // complete before the map is changed, in case this throws
    if constexpr (!detail::kStoredInline<T>) made.value_.emplace();
    detail::OwnedHeader* header = detail::grow_owned(word_, sizeof(Entry), detail::Content::kMap);
    Entry* const place = reinterpret_cast<Entry*>(header->data()) + i;
    // The content of an owned container is trivially relocatable.
    std::memmove(static_cast<void*>(place + 1), static_cast<const void*>(place),
                 (header->count - i) * sizeof(Entry));
    new (place) Entry{std::move(made)};
    ++header->count;
    return place->value();
  }
  /// Removes the entry of `key`. Returns false if there was none.
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

  [[nodiscard]] const_iterator begin() const noexcept { return entries(); }
  [[nodiscard]] const_iterator end() const noexcept { return entries() + size(); }
  [[nodiscard]] iterator begin() noexcept { return entries(); }
  [[nodiscard]] iterator end() noexcept { return entries() + size(); }

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

template <typename T>
struct std::tuple_size<kube::MapEntry<T>> : std::integral_constant<std::size_t, 2> {};
template <typename T>
struct std::tuple_element<0, kube::MapEntry<T>> {
  using type = const kube::String;
};
template <typename T>
struct std::tuple_element<1, kube::MapEntry<T>> {
  using type = T;
};
