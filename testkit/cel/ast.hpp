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

/// What a macro over a range does with its elements.
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
  kOptMap,  ///< its range is an optional
  kOptFlatMap,
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// A part of an expression. Operators are calls: "_+_".
struct Expr {
  enum class Kind : std::uint8_t {
    kLiteral,
    kIdent,
    kSelect,    ///< target.name
    kPresence,  ///< has(target.name)
    kCall,      ///< name(arguments), or target.name(arguments)
    kList,
    kMap,     ///< arguments are keys and values in turn
    kStruct,  ///< name{...}: accepted by the parser, refused by the checker
    kComprehension,
  };

  Kind kind = Kind::kLiteral;
  std::uint32_t at = 0;  ///< in code points
  std::string name = {};
  Val literal = {};
  ExprPtr target = nullptr;
  std::vector<ExprPtr> arguments = {};
  /// Elements of a list, or entries of a map, that begin with '?'.
  std::vector<bool> optional = {};

  /// Of a comprehension: target is the range, arguments are the filter (may be null) and the steps.
  Macro macro = Macro::kAll;
  std::vector<std::string> variables = {};

  // Filled in by the checker:
  TypePtr type = nullptr;
  /// The candidates of a call, narrowed by the types that are known.
  std::vector<const Overload*> overloads = {};
};

}  // namespace kube::testkit::cel
