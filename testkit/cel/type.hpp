// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

enum class TypeKind : std::uint8_t {
  kDyn,  ///< known only at run time
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTimestamp,
  kDuration,
  kList,
  kMap,
  kObject,  ///< has the fields that a schema declares
  kType,
  kOptional,
  kOpaque,     ///< kubernetes.Quantity and similar types
  kParameter,  ///< type parameter of a generic function
};

/// The identity of list elements (x-kubernetes-list-type).
enum class ListKind : std::uint8_t { kAtomic, kSet, kMap };

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// A CEL type, used by the checker and by values.
/// Thread safety: immutable after construction.
struct Type {
  struct Field {
    TypePtr type;
    std::string property;  ///< its name in the document
  };

  TypeKind kind = TypeKind::kDyn;
  /// The name of an object type, opaque type or type parameter.
  std::string name = {};
  /// The element type; the key and value types; or the type inside an optional or type value.
  std::vector<TypePtr> parameters = {};
  /// The fields of an object type, by the name used in expressions (escape_property).
  std::map<std::string, Field, std::less<>> fields = {};
  ListKind list_kind = ListKind::kAtomic;
  std::vector<std::string> list_keys = {};
};

[[nodiscard]] TypePtr simple_type(TypeKind kind);
/// Returns a dyn that is not determined yet, such as the element type of []. Joining it with
/// another type determines it.
[[nodiscard]] TypePtr open_type();
[[nodiscard]] bool is_open(const Type& type);
[[nodiscard]] TypePtr list_type(TypePtr element);
[[nodiscard]] TypePtr map_type(TypePtr key, TypePtr value);
[[nodiscard]] TypePtr optional_type(TypePtr value);
[[nodiscard]] TypePtr type_type(TypePtr about);
/// Returns the opaque type of that name; the same object for the same name.
[[nodiscard]] TypePtr opaque_type(std::string_view name);
[[nodiscard]] TypePtr parameter_type(std::string_view name);

/// Returns the field of an object by the name used in an expression, or null. Reserved words need
/// no escape.
[[nodiscard]] const Type::Field* find_field(const Type& object, std::string_view name);

/// Formats a type as in messages: "list(int)".
[[nodiscard]] std::string to_string(const Type& type);
/// Returns the type's name without parameters: "list", "google.protobuf.Timestamp".
[[nodiscard]] std::string_view name_of(const Type& type);

/// Returns the name of a property in expressions: "__dash__" for '-', "__namespace__" for a
/// reserved word. Empty if expressions cannot name it.
[[nodiscard]] std::string escape_property(std::string_view property);
/// Returns whether `word` is reserved in CEL and cannot be an identifier.
[[nodiscard]] bool is_reserved(std::string_view word);

}  // namespace kube::testkit::cel
