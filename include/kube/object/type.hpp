// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// @file
/// Type descriptors: the layout of C++ types as constant data.
///
/// Codecs, copying, comparing and hashing are each written once and driven by these tables. Every
/// described type follows two rules: all-zero memory is its empty value, and it holds content only
/// through the handles of this folder, so that the table reaches all of it.
namespace kube {

/// The kind of a described type.
enum class Kind : std::uint8_t {
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kOptionalBool,
  kOptionalInt32,
  kOptionalInt64,
  kOptionalDouble,
  kString,
  kOptionalString,
  kBytes,
  kLeaf,    ///< a type with its own text or number form, see LeafOperations
  kValue,   ///< any JSON
  kStruct,  ///< fields, embedded by value
  kBox,     ///< an optional element behind a word
  kList,
  kMap,  ///< sorted by key; keys are text
};

struct LeafOperations;  // the codec functions of a leaf: "codec/leaf.hpp"
struct Type;

/// Describes one member of a struct.
struct Field {
  /// Properties of a member, combined with |.
  enum Flags : std::uint8_t {
    kNoFlags = 0,
    kOmitEmpty = 1,     ///< omitted from JSON when empty (a struct embedded by value never is)
    kOmitZero = 2,      ///< omitted from JSON when all bits are zero
    kProtoWrapped = 4,  ///< a list that protobuf wraps into a message with the single field "items"
    kOptional = 8,      ///< a leaf that may be absent, and is then also omitted from protobuf
  };

  const char* json_name = "";
  const Type* type = nullptr;
  std::uint32_t offset = 0;
  std::uint8_t json_size = 0;
  std::uint8_t flags = 0;
  /// The first bytes of the name, for a fast comparison.
  std::uint64_t json_prefix = 0;

  constexpr Field() = default;
  /// `name` must have static lifetime; it is not copied.
  constexpr Field(std::string_view name, const Type& field_type, std::size_t field_offset,
                  std::uint8_t field_flags = kNoFlags)
      : json_name(name.data()),
        type(&field_type),
        offset(static_cast<std::uint32_t>(field_offset)),
        json_size(static_cast<std::uint8_t>(name.size())),
        flags(field_flags),
        json_prefix(prefix_of(name)) {}

  [[nodiscard]] constexpr std::string_view name() const { return {json_name, json_size}; }
  /// True if at least one of these flags is set.
  [[nodiscard]] constexpr bool is(std::uint8_t flag) const { return (flags & flag) != 0; }

  /// Returns the first eight bytes of a name as a number, zero-padded.
  static constexpr std::uint64_t prefix_of(std::string_view name) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < name.size() && i < 8; ++i) {
      prefix |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * i);
    }
    return prefix;
  }
};

/// Describes one field of a protobuf message. A struct that Go embeds inline is flat in JSON but a
/// message of its own in protobuf: the entries of such a `part` refer to the same list of fields.
struct ProtoField {
  std::uint32_t number = 0;
  std::uint32_t field = 0;                ///< index into Type::fields, unless `part` is set
  std::span<const ProtoField> part = {};  ///< the message of an inline struct
  bool is_part = false;

  /// Returns the entry of an inline struct.
  static constexpr ProtoField inline_part(std::uint32_t number, std::span<const ProtoField> part) {
    return {number, 0, part, true};
  }
};

/// Describes a type. Constant data with static lifetime.
struct Type {
  /// Properties of a type, combined with |.
  enum Flags : std::uint8_t {
    kNoFlags = 0,
    /// Contains a timestamp, so that equal content in two objects is a coincidence and not worth
    /// sharing.
    kVolatile = 1,
    /// A union: JSON contains the one member that is set, identified by the kind of token (bool,
    /// array, object).
    kByToken = 2,
    /// A top-level object: its JSON starts with kind and apiVersion, which are not stored.
    kHasTypeMeta = 4,
    /// A list of objects, as servers return it: its items are written without kind and apiVersion.
    kIsList = 8,
  };

  Kind kind = Kind::kStruct;
  std::uint8_t flags = 0;
  std::uint32_t size = 0;
  std::string_view name = {};
  const Type* element = nullptr;       ///< element type of a box, list or map
  std::span<const Field> fields = {};  ///< fields of a struct, in the order of JSON output
  /// Fields of a struct, by ascending number; empty if it has no protobuf form.
  std::span<const ProtoField> proto = {};
  const LeafOperations* leaf = nullptr;
  std::string_view api_version = {};  ///< apiVersion of a top-level object: "v1", "apps/v1"

  /// True if at least one of these flags is set.
  [[nodiscard]] constexpr bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
  /// True if a list or map stores elements of this type behind a word each, so that each can be
  /// shared. All other elements are stored in the array itself.
  [[nodiscard]] constexpr bool is_boxed_in_containers() const { return kind == Kind::kStruct; }
  /// Bytes from one element to the next in a list of this type.
  [[nodiscard]] constexpr std::size_t list_stride() const {
    return is_boxed_in_containers() ? 8 : size;
  }
  /// Bytes from one entry to the next in a map with values of this type: the key, then the value.
  [[nodiscard]] constexpr std::size_t map_stride() const {
    return 8 + (is_boxed_in_containers() ? 8 : (size + 7) / 8 * 8);
  }
};

/// Locates the descriptor of T: the static member `kube_type`, unless specialised.
template <typename T>
struct TypeOf {
  static constexpr const Type& value = T::kube_type;
};

/// The descriptor of T.
template <typename T>
constexpr const Type& type_of() noexcept {
  return TypeOf<T>::value;
}

namespace detail {
/// True for types that a list stores directly. All other types are described structs, which may be
/// incomplete where the list is declared.
template <typename T>
inline constexpr bool kStoredInline = false;
template <>
inline constexpr bool kStoredInline<bool> = true;
template <>
inline constexpr bool kStoredInline<std::int32_t> = true;
template <>
inline constexpr bool kStoredInline<std::int64_t> = true;
template <>
inline constexpr bool kStoredInline<double> = true;

template <typename T>
inline constexpr Type kScalarType{};
template <>
inline constexpr Type kScalarType<bool>{.kind = Kind::kBool, .size = 1, .name = "boolean"};
template <>
inline constexpr Type kScalarType<std::int32_t>{
    .kind = Kind::kInt32, .size = 4, .name = "32-bit integer"};
template <>
inline constexpr Type kScalarType<std::int64_t>{.kind = Kind::kInt64, .size = 8, .name = "integer"};
template <>
inline constexpr Type kScalarType<double>{.kind = Kind::kDouble, .size = 8, .name = "number"};
template <>
inline constexpr Type kScalarType<std::optional<bool>>{
    .kind = Kind::kOptionalBool, .size = sizeof(std::optional<bool>), .name = "boolean"};
template <>
inline constexpr Type kScalarType<std::optional<std::int32_t>>{
    .kind = Kind::kOptionalInt32,
    .size = sizeof(std::optional<std::int32_t>),
    .name = "32-bit integer"};
template <>
inline constexpr Type kScalarType<std::optional<std::int64_t>>{
    .kind = Kind::kOptionalInt64, .size = sizeof(std::optional<std::int64_t>), .name = "integer"};
template <>
inline constexpr Type kScalarType<std::optional<double>>{
    .kind = Kind::kOptionalDouble, .size = sizeof(std::optional<double>), .name = "number"};
}  // namespace detail

// clang-format off: version 14 does not know how to indent a constraint
template <typename T>
requires(detail::kScalarType<T>.size != 0) struct TypeOf<T> {
  static constexpr const Type& value = detail::kScalarType<T>;
};
// clang-format on

/// Describes a member, for a hand-written table: `field<decltype(Foo::spec)>("spec", offsetof(Foo,
/// spec))`.
template <typename T>
constexpr Field field(std::string_view json_name, std::size_t offset,
                      std::uint8_t flags = Field::kOmitEmpty) {
  return {json_name, type_of<T>(), offset, flags};
}

}  // namespace kube
