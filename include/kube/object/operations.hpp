// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

/// Copying, destroying, comparing, hashing and visiting any described value.
///
/// Thread safety: reading operations may run on one object in many threads.
namespace kube::detail {

/// Makes `to`, which is all zero bits, an independent copy of `from` that owns everything it holds.
void copy_value(const Type& type, std::byte* to, const std::byte* from);
/// Frees what `value` owns and leaves it all zero. Content inside a block is not touched.
void destroy_value(const Type& type, std::byte* value) noexcept;

/// The same for the single word of a string, list, map, box or Value.
Word copy_word(const Type& type, const Word& from);
void destroy_word(const Type& type, Word& word) noexcept;
/// A copy for a move, which has no way to fail: ends the program if there is no memory for it.
Word copy_moved_word(const Type& type, const Word& from) noexcept;
/// What a move takes: the word itself, or a copy if it belongs to a block, as its distances hold only at
/// its own place.
inline Word take_word(const Type& type, Word& from) noexcept {
  if (from.form() == Form::kRelative || from.form() == Form::kNode) {
    return copy_moved_word(type, from);
  }
  return std::exchange(from, {});
}

[[nodiscard]] bool equal_values(const Type& type, const std::byte* a, const std::byte* b) noexcept;
[[nodiscard]] std::uint64_t hash_value(const Type& type, const std::byte* value) noexcept;

/// Heap content with room for `capacity` elements of `stride` bytes, all zero.
OwnedHeader* allocate_owned(std::size_t capacity, std::size_t stride, Content content);
/// Makes room for one more element in an owned (or still empty) container and returns its header.
OwnedHeader* grow_owned(Word& word, std::size_t stride, Content content);
void free_owned(Word word) noexcept;
/// Zeroed heap memory for an owned struct.
std::byte* allocate_struct(std::size_t size);
void free_struct(std::byte* memory) noexcept;
Word own_text(const char* text, std::size_t size);

/// Index of the first entry whose key is not less than `key`, in the sorted entries of a map.
[[nodiscard]] std::size_t lower_bound_entry(View entries, std::size_t stride,
                                            std::string_view key) noexcept;

}  // namespace kube::detail

namespace kube {

/// Sees every part of a value, in order, with its path ("spec.containers[0].image").
/// Returning false keeps the visit from going into that part.
using Visitor =
    std::function<bool(std::string_view path, const Type& type, const std::byte* value)>;

void visit(const Type& type, const std::byte* value, const Visitor& visitor);

template <typename T>
void visit(const T& object, const Visitor& visitor) {
  visit(type_of<T>(), reinterpret_cast<const std::byte*>(&object), visitor);
}

/// Deep equality of two values of a described type.
template <typename T>
[[nodiscard]] bool deep_equal(const T& a, const T& b) noexcept {
  return detail::equal_values(type_of<T>(), reinterpret_cast<const std::byte*>(&a),
                              reinterpret_cast<const std::byte*>(&b));
}

/// A hash that is equal for deeply equal values, within one process.
template <typename T>
[[nodiscard]] std::uint64_t deep_hash(const T& object) noexcept {
  return detail::hash_value(type_of<T>(), reinterpret_cast<const std::byte*>(&object));
}

}  // namespace kube
