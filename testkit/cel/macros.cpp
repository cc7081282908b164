// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/macros.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kube::testkit::cel {

namespace {

/// A macro of the form range.name(variables..., steps...).
struct Shape {
  std::string_view name;
  std::size_t arguments;
  Macro macro;
  std::size_t variables;
  bool has_filter;
};

constexpr std::array kShapes{
    Shape{"all", 2, Macro::kAll, 1, false},
    Shape{"exists", 2, Macro::kExists, 1, false},
    Shape{"exists_one", 2, Macro::kExistsOne, 1, false},
    Shape{"map", 2, Macro::kMap, 1, false},
    Shape{"map", 3, Macro::kMap, 1, true},
    Shape{"filter", 2, Macro::kFilter, 1, false},
    Shape{"all", 3, Macro::kAll, 2, false},
    Shape{"exists", 3, Macro::kExists, 2, false},
    Shape{"exists_one", 3, Macro::kExistsOne, 2, false},
    Shape{"existsOne", 3, Macro::kExistsOne, 2, false},
    Shape{"transformList", 3, Macro::kTransformList, 2, false},
    Shape{"transformList", 4, Macro::kTransformList, 2, true},
    Shape{"transformMap", 3, Macro::kTransformMap, 2, false},
    Shape{"transformMap", 4, Macro::kTransformMap, 2, true},
    Shape{"transformMapEntry", 3, Macro::kTransformMapEntry, 2, false},
    Shape{"transformMapEntry", 4, Macro::kTransformMapEntry, 2, true},
    Shape{"sortBy", 2, Macro::kSortBy, 1, false},
    Shape{"optMap", 2, Macro::kOptMap, 1, false},
    Shape{"optFlatMap", 2, Macro::kOptFlatMap, 1, false},
};

ExprPtr presence(ExprPtr call, Issue& issue) {
  Expr& argument = *call->arguments.front();
  if (argument.kind != Expr::Kind::kSelect) {
    issue = {argument.at, "invalid argument to has() macro"};
    return nullptr;
  }
  ExprPtr test = std::move(call->arguments.front());
  test->kind = Expr::Kind::kPresence;
  test->at = call->at;
  return test;
}

std::string not_a_name(const Shape& shape) {
  switch (shape.macro) {
    case Macro::kOptMap:
    case Macro::kOptFlatMap:
      return std::string{shape.name} + "() variable name must be a simple identifier";
    case Macro::kMap:
    case Macro::kFilter:
      return "argument is not an identifier";
    default:
      return "argument must be a simple name";
  }
}

ExprPtr comprehension(const Shape& shape, ExprPtr call, Issue& issue) {
  auto loop = std::make_unique<Expr>();
  loop->kind = Expr::Kind::kComprehension;
  loop->at = call->at;
  loop->name = shape.name;
  loop->macro = shape.macro;
  for (std::size_t i = 0; i < shape.variables; ++i) {
    const Expr& variable = *call->arguments[i];
    if (variable.kind != Expr::Kind::kIdent || variable.name.starts_with('.')) {
      issue = {variable.at, not_a_name(shape)};
      return nullptr;
    }
    if (std::ranges::find(loop->variables, variable.name) != loop->variables.end()) {
      issue = {variable.at, "duplicate variable name: " + variable.name};
      return nullptr;
    }
    loop->variables.push_back(variable.name);
  }
  loop->target = std::move(call->target);
  if (!shape.has_filter) loop->arguments.push_back(nullptr);
  for (std::size_t i = shape.variables; i < shape.arguments; ++i) {
    loop->arguments.push_back(std::move(call->arguments[i]));
  }
  return loop;
}

}  // namespace

ExprPtr expand_macro(ExprPtr call, Issue& issue) {
  if (call->target == nullptr) {
    if (call->name == "has" && call->arguments.size() == 1) return presence(std::move(call), issue);
    return call;
  }
  for (const Shape& shape : kShapes) {
    if (call->name == shape.name && call->arguments.size() == shape.arguments) {
      return comprehension(shape, std::move(call), issue);
    }
  }
  return call;
}

}  // namespace kube::testkit::cel
