// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

/// Copies, destroys, compares, hashes and visits any described value.
///
/// Thread safety: many threads may read one object concurrently.
namespace kube::detail {

/// Makes `to`, which is all zero bits, an independent copy of `from` that owns its content.
void copy_value(const Type& type, std::byte* to, const std::byte* from);
/// Frees the content that `value` owns and leaves it all zero. Does not touch content inside a
/// block.
void destroy_value(const Type& type, std::byte* value) noexcept;

/// As above, for the single word of a string, list, map, box or Value.
Word copy_word(const Type& type, const Word& from);
void destroy_word(const Type& type, Word& word) noexcept;
/// Copies a word for a move, which cannot report failure: ends the program if memory is exhausted.
Word copy_moved_word(const Type& type, const Word& from) noexcept;
/// Moves a word out of `from`. A word of a block is copied instead, because its distances are only
/// valid at its own address.
inline Word take_word(const Type& type, Word& from) noexcept {
  if (from.form() == Form::kRelative || from.form() == Form::kNode) {
    return copy_moved_word(type, from);
  }
  return std::exchange(from, {});
}

[[nodiscard]] bool equal_values(const Type& type, const std::byte* a, const std::byte* b) noexcept;
[[nodiscard]] std::uint64_t hash_value(const Type& type, const std::byte* value) noexcept;

/// Allocates zeroed heap content with room for `capacity` elements of `stride` bytes.
OwnedHeader* allocate_owned(std::size_t capacity, std::size_t stride, Content content);
/// Makes room for one more element in an owned or still empty container. Returns its header.
OwnedHeader* grow_owned(Word& word, std::size_t stride, Content content);
void free_owned(Word word) noexcept;
/// Allocates zeroed heap memory for an owned struct.
std::byte* allocate_struct(std::size_t size);
void free_struct(std::byte* memory) noexcept;
Word own_text(const char* text, std::size_t size);

/// Returns the index of the first entry, among the sorted entries of a map, whose key is not less
/// than `key`.
[[nodiscard]] std::size_t lower_bound_entry(View entries, std::size_t stride,
                                            std::string_view key) noexcept;

}  // namespace kube::detail

namespace kube {

/// Called for every part of a value, in order, with its path ("spec.containers[0].image"). Returns
/// false to skip the content of that part.
using Visitor =
    std::function<bool(std::string_view path, const Type& type, const std::byte* value)>;

/// Calls `visitor` for every part of a value of the described type.
void visit(const Type& type, const std::byte* value, const Visitor& visitor);

/// Calls `visitor` for every part of `object`.
template <typename T>
void visit(const T& object, const Visitor& visitor) {
  visit(type_of<T>(), reinterpret_cast<const std::byte*>(&object), visitor);
}

/// Compares the contents of two values of a described type.
template <typename T>
[[nodiscard]] bool deep_equal(const T& a, const T& b) noexcept {
  return detail::equal_values(type_of<T>(), reinterpret_cast<const std::byte*>(&a),
                              reinterpret_cast<const std::byte*>(&b));
}

/// Returns a hash that is equal for deeply equal values, within one process.
template <typename T>
[[nodiscard]] std::uint64_t deep_hash(const T& object) noexcept {
  return detail::hash_value(type_of<T>(), reinterpret_cast<const std::byte*>(&object));
}

}  // namespace kube
