// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"
#include "testkit/cel/value.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kube::testkit::cel {

struct Overload;

/// The comprehension macros of CEL, by the result that they compute from a range.
enum class Macro : std::uint8_t {
  kAll,
  kExists,
  kExistsOne,
  kMap,
  kFilter,
  kTransformList,
  kTransformMap,
  kTransformMapEntry,
  kSortBy,
  kOptMap,  ///< the range is an optional value
  kOptFlatMap,
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// A node of the syntax tree. Operators are calls with names such as "_+_".
struct Expr {
  enum class Kind : std::uint8_t {
    kLiteral,
    kIdent,
    kSelect,    ///< target.name
    kPresence,  ///< has(target.name)
    kCall,      ///< name(arguments), or target.name(arguments)
    kList,
    kMap,     ///< arguments alternate between keys and values
    kStruct,  ///< name{field: value}; arguments alternate between fields, as texts, and values
    kComprehension,
  };

  Kind kind = Kind::kLiteral;
  std::uint32_t at = 0;  ///< offset in code points
  std::string name = {};
  Val literal = {};
  ExprPtr target = nullptr;
  std::vector<ExprPtr> arguments = {};
  /// Marks the elements of a list, or the entries of a map or struct, that begin with '?'.
  std::vector<bool> optional = {};

  /// For comprehensions only: target is the range, arguments are the filter (may be null) and the
  /// steps.
  Macro macro = Macro::kAll;
  std::vector<std::string> variables = {};

  // Set by the checker:
  TypePtr type = nullptr;
  /// The candidate overloads of a call, narrowed by the types that are known statically.
  std::vector<const Overload*> overloads = {};
};

}  // namespace kube::testkit::cel
