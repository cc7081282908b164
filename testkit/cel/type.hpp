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
  kDyn,  ///< known only when the expression runs
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
  kObject,  ///< with the fields that a schema names
  kType,
  kOptional,
  kOpaque,     ///< kubernetes.Quantity and its like
  kParameter,  ///< of a generic function
};

/// How the elements of a list are told apart (x-kubernetes-list-type).
enum class ListKind : std::uint8_t { kAtomic, kSet, kMap };

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// A type of CEL, as the checker and the values see it.
/// Thread safety: immutable once made.
struct Type {
  struct Field {
    TypePtr type;
    std::string property;  ///< its name in the document
  };

  TypeKind kind = TypeKind::kDyn;
  /// Of objects, opaque types and parameters.
  std::string name = {};
  /// Element; key and value; what an optional or a type is about.
  std::vector<TypePtr> parameters = {};
  /// Of objects, by the name that expressions use (escape_property).
  std::map<std::string, Field, std::less<>> fields = {};
  ListKind list_kind = ListKind::kAtomic;
  std::vector<std::string> list_keys = {};
};

[[nodiscard]] TypePtr simple_type(TypeKind kind);
/// A dyn of which nothing is known yet, such as the element of []: what it is joined with says what it is.
[[nodiscard]] TypePtr open_type();
[[nodiscard]] bool is_open(const Type& type);
[[nodiscard]] TypePtr list_type(TypePtr element);
[[nodiscard]] TypePtr map_type(TypePtr key, TypePtr value);
[[nodiscard]] TypePtr optional_type(TypePtr value);
[[nodiscard]] TypePtr type_type(TypePtr about);
/// The same name gives the same type.
[[nodiscard]] TypePtr opaque_type(std::string_view name);
[[nodiscard]] TypePtr parameter_type(std::string_view name);

/// The field of an object, by the name that an expression uses; reserved words need no escape. Null if there is none.
[[nodiscard]] const Type::Field* find_field(const Type& object, std::string_view name);

/// As messages show it: "list(int)".
[[nodiscard]] std::string to_string(const Type& type);
/// Without parameters: "list", "google.protobuf.Timestamp".
[[nodiscard]] std::string_view name_of(const Type& type);

/// The name by which expressions know a property: "__dash__" for '-', "__namespace__" for a reserved word. Empty if
/// expressions cannot name it.
[[nodiscard]] std::string escape_property(std::string_view property);
/// Words that are no identifiers of CEL.
[[nodiscard]] bool is_reserved(std::string_view word);

}  // namespace kube::testkit::cel
