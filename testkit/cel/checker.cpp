// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/checker.hpp"

#include "testkit/cel/functions.hpp"
#include "testkit/cel/time.hpp"
#include "testkit/cel/unify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kube::testkit::cel {

namespace {

TypePtr dyn() { return simple_type(TypeKind::kDyn); }
TypePtr boolean() { return simple_type(TypeKind::kBool); }

/// Returns the type that `name` denotes in an expression.
TypePtr named_type(std::string_view name) {
  static const Variables kTypes = [] {
    Variables types;
    for (const TypeKind kind : {TypeKind::kDyn, TypeKind::kNull, TypeKind::kBool, TypeKind::kInt,
                                TypeKind::kUint, TypeKind::kDouble, TypeKind::kString,
                                TypeKind::kBytes, TypeKind::kTimestamp, TypeKind::kDuration}) {
      types.emplace(name_of(*simple_type(kind)), simple_type(kind));
    }
    types.emplace("list", list_type(dyn()));
    types.emplace("map", map_type(dyn(), dyn()));
    types.emplace("type", type_type(dyn()));
    types.emplace("optional_type", optional_type(dyn()));
    for (const char* opaque : {"kubernetes.URL", "kubernetes.Quantity", "kubernetes.NamedFormat",
                               "kubernetes.Semver", "net.IP", "net.CIDR"}) {
      types.emplace(opaque, opaque_type(opaque));
    }
    return types;
  }();
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? nullptr : found->second;
}

/// Returns "a.b.c" if the expression is such a qualified name, else an empty string.
std::string dotted_name(const Expr& expr) {
  if (expr.kind == Expr::Kind::kIdent) return expr.name;
  if (expr.kind != Expr::Kind::kSelect) return {};
  const std::string base = dotted_name(*expr.target);
  return base.empty() ? base : base + '.' + expr.name;
}

class Checker {
 public:
  Checker(const Variables& variables, Constructible constructible)
      : variables_(variables), constructible_(constructible) {}

  Checked run(Expr& expr) {
    visit(expr);
    return std::move(checked_);
  }

 private:
  void issue(std::uint32_t at, std::string message) {
    checked_.issues.push_back({at, std::move(message)});
  }

  void visit(Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        // An identifier that names a type was already given its type.
        if (expr.type == nullptr) expr.type = type_of(expr.literal);
        break;
      case Expr::Kind::kIdent:
        identifier(expr);
        break;
      case Expr::Kind::kSelect:
      case Expr::Kind::kPresence:
        select(expr);
        break;
      case Expr::Kind::kCall:
        call(expr);
        break;
      case Expr::Kind::kList:
        list(expr);
        break;
      case Expr::Kind::kMap:
        map(expr);
        break;
      case Expr::Kind::kStruct:
        message(expr);
        break;
      case Expr::Kind::kComprehension:
        comprehension(expr);
        break;
    }
  }

  void message(Expr& expr) {
    if (expr.name.starts_with("google.protobuf.")) {
      checked_.missing.push_back(expr.name + "{}");
      expr.type = dyn();
      return;
    }
    const bool is_object = expr.name == "Object" || expr.name.starts_with("Object.");
    if (constructible_ != Constructible::kPatches || (!is_object && expr.name != "JSONPatch")) {
      return undeclared(expr, expr.name);
    }
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      visit(*expr.arguments[i]);
      visit(*expr.arguments[i + 1]);
      const TypePtr type = element_type(*expr.arguments[i + 1], expr.optional[i / 2]);
      if (!is_object) patch_field(*expr.arguments[i], *type);
    }
    expr.type = opaque_type(expr.name);
  }

  /// Checks a field of a JSONPatch.
  void patch_field(const Expr& field, const Type& type) {
    const std::string_view name = field.literal.as_text();
    if (name == "value") return;
    const bool is_known = name == "op" || name == "path" || name == "from";
    if (is_known && (type.kind == TypeKind::kString || type.kind == TypeKind::kDyn)) return;
    issue(field.at, fmt::format("expected type of field '{}' is '{}' but provided type is '{}'",
                                name, is_known ? "string" : "", to_string(type)));
  }

  void undeclared(Expr& expr, std::string_view name) {
    issue(expr.at, fmt::format("undeclared reference to '{}' (in container '')", name));
    expr.type = dyn();
  }

  /// Returns the type of a variable or type name, or null if the name is unknown.
  TypePtr resolve(std::string_view name) const {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first == name) return local->second;
    }
    const auto variable = variables_.find(name);
    return variable == variables_.end() ? nullptr : variable->second;
  }

  static void become_type(Expr& expr, const TypePtr& type) {
    expr.kind = Expr::Kind::kLiteral;
    expr.literal = type;
    expr.target = nullptr;
    expr.type = type_type(type);
  }

  void identifier(Expr& expr) {
    if (TypePtr type = resolve(expr.name)) {
      expr.type = std::move(type);
      if (variables_.contains(expr.name)) checked_.used.push_back(expr.name);
    } else if (const TypePtr named = named_type(expr.name)) {
      become_type(expr, named);
    } else {
      undeclared(expr, expr.name);
    }
  }

  void select(Expr& expr) {
    const std::string name = dotted_name(expr);
    if (!name.empty()) {
      const TypePtr named = named_type(name);
      if (named != nullptr && resolve(name.substr(0, name.find('.'))) == nullptr) {
        become_type(expr, named);
        return;
      }
    }
    visit(*expr.target);
    TypePtr field = field_type(*expr.target->type, expr.name, expr.at);
    expr.type = expr.kind == Expr::Kind::kPresence ? boolean() : std::move(field);
  }

  /// Returns the type of a field of `type`. Returns dyn after it has reported an issue.
  TypePtr field_type(const Type& type, std::string_view name, std::uint32_t at) {
    switch (type.kind) {
      case TypeKind::kDyn:
        return dyn();
      case TypeKind::kMap:
        return type.parameters[1];
      case TypeKind::kOptional: {
        TypePtr field = field_type(*type.parameters[0], name, at);
        return field->kind == TypeKind::kOptional ? field : optional_type(std::move(field));
      }
      case TypeKind::kObject:
        if (const Type::Field* found = find_field(type, name)) return found->type;
        issue(at, fmt::format("undefined field '{}'", name));
        return dyn();
      default:
        issue(at, fmt::format("type '{}' does not support field selection", to_string(type)));
        return dyn();
    }
  }

  void call(Expr& expr) {
    if (expr.target != nullptr) {
      const std::string base = dotted_name(*expr.target);
      const std::string name = base + '.' + expr.name;
      if (!base.empty() && find_functions(name) != nullptr) {
        expr.name = name;
        expr.target = nullptr;
      } else if (!base.empty() && is_missing_function(name)) {
        checked_.missing.push_back(name);
        expr.type = dyn();
        return;
      } else {
        visit(*expr.target);
      }
    }
    // The arguments of format() may have different types.
    const bool was_lenient =
        std::exchange(lenient_, lenient_ || (expr.name == "format" && expr.target));
    for (const ExprPtr& argument : expr.arguments) visit(*argument);
    lenient_ = was_lenient;
    if (expr.name == "_&&_" || expr.name == "_||_") return logic(expr);
    if (expr.name == "_?_:_") return conditional(expr);
    if (expr.name == "_?._") {
      TypePtr field =
          field_type(*expr.arguments[0]->type, expr.arguments[1]->literal.as_text(), expr.at);
      expr.type = field->kind == TypeKind::kOptional ? field : optional_type(std::move(field));
      return;
    }
    overloaded(expr);
  }

  void logic(Expr& expr) {
    for (const ExprPtr& argument : expr.arguments) want_bool(*argument);
    expr.type = boolean();
  }

  void want_bool(const Expr& expr) {
    if (expr.type->kind == TypeKind::kBool || expr.type->kind == TypeKind::kDyn) return;
    issue(expr.at, fmt::format("expected type 'bool' but found '{}'", to_string(*expr.type)));
  }

  void conditional(Expr& expr) {
    const TypePtr types[] = {expr.arguments[0]->type, expr.arguments[1]->type,
                             expr.arguments[2]->type};
    expr.type = choice(expr.at, types[0], types[1], types[2]);
  }

  /// Returns the type of `condition ? a : b`.
  TypePtr choice(std::uint32_t at, const TypePtr& condition, const TypePtr& a, const TypePtr& b) {
    Bindings bindings;
    const TypePtr parameter = parameter_type("A");
    if (is_assignable(boolean(), condition, bindings) && is_assignable(parameter, a, bindings) &&
        is_assignable(parameter, b, bindings)) {
      return substitute(parameter, bindings);
    }
    no_overload(at, "_?_:_", {condition, a, b}, false);
    return dyn();
  }

  void no_overload(std::uint32_t at, std::string_view name, const std::vector<TypePtr>& types,
                   bool is_member) {
    std::string signature;
    for (std::size_t i = is_member ? 1 : 0; i < types.size(); ++i) {
      if (!signature.empty()) signature += ", ";
      signature += to_string(*types[i]);
    }
    issue(at, fmt::format("found no matching overload for '{}' applied to '{}({})'", name,
                          is_member ? to_string(*types[0]) + '.' : "", signature));
  }

  void overloaded(Expr& expr) {
    const std::vector<Overload>* functions = find_functions(expr.name);
    const bool is_member = expr.target != nullptr;
    if (functions == nullptr) {
      // The receiver of an unimplemented function is itself the result of an unimplemented one.
      if (is_missing_function(expr.name) && is_member &&
          expr.target->type->kind == TypeKind::kDyn) {
        checked_.missing.push_back(expr.name);
        expr.type = dyn();
        return;
      }
      if (!is_missing_function(expr.name)) return undeclared(expr, expr.name);
    }
    std::vector<TypePtr> types;
    if (is_member) types.push_back(expr.target->type);
    for (const ExprPtr& argument : expr.arguments) types.push_back(argument->type);
    TypePtr result;
    for (const Overload& overload : functions == nullptr ? kNone : *functions) {
      if (overload.is_member != is_member || overload.parameters.size() != types.size()) continue;
      Bindings bindings;
      bool fits = true;
      for (std::size_t i = 0; i < types.size() && fits; ++i) {
        fits = is_assignable(overload.parameters[i], types[i], bindings);
      }
      if (!fits) continue;
      TypePtr found = substitute(overload.result, bindings);
      if (result == nullptr) {
        result = std::move(found);
      } else if (to_string(*result) != to_string(*found)) {
        result = dyn();
      }
      expr.overloads.push_back(&overload);
    }
    if (result == nullptr) {
      no_overload(expr.at, expr.name, types, is_member);
      result = dyn();
    } else {
      check_literals(expr);
    }
    expr.type = std::move(result);
  }

  /// Checks string literals that are parsed at run time but can be validated before, such as
  /// regular expressions and timestamps.
  void check_literals(const Expr& expr) {
    if (expr.arguments.empty()) return;
    if (expr.name.starts_with("get")) return check_zone(expr);
    if (expr.name != "duration" && expr.name != "timestamp" && expr.name != "matches") return;
    const Expr& text = *expr.arguments.back();
    if (text.kind != Expr::Kind::kLiteral) return;
    if (!text.literal.is<Text>()) {
      if (expr.name == "duration") issue(text.at, "invalid duration argument");
      return;
    }
    bool valid = true;
    if (expr.name == "matches") {
      try {
        static_cast<void>(detail::Pattern{text.literal.as_text()});
      } catch (const std::invalid_argument&) {
        valid = false;
      }
    } else {
      Meter meter{UINT64_MAX};
      const Val argument[] = {text.literal};
      valid = !expr.overloads.front()->run(meter, Arguments{argument}).is_error();
    }
    if (!valid) issue(text.at, fmt::format("invalid {} argument", expr.name));
  }

  /// Reports time zone names: only offsets are implemented here.
  void check_zone(const Expr& expr) {
    const Expr& zone = *expr.arguments.back();
    if (zone.kind != Expr::Kind::kLiteral || !zone.literal.is<Text>()) return;
    if (zone_offset(zone.literal.as_text())) return;
    checked_.missing.push_back(fmt::format("{}('{}')", expr.name, zone.literal.as_text()));
  }

  /// Returns the type of an element. The prefix '?' unwraps an optional.
  TypePtr element_type(const Expr& element, bool optional) {
    const TypePtr& type = element.type;
    if (!optional || type->kind == TypeKind::kDyn) return type;
    if (type->kind == TypeKind::kOptional) return type->parameters[0];
    issue(element.at,
          fmt::format("expected type 'optional_type(dyn)' but found '{}'", to_string(*type)));
    return dyn();
  }

  /// Enforces that all elements of a list, and all keys or all values of a map, have one type.
  void join(TypePtr& joined, const TypePtr& type, std::uint32_t at) {
    if (joined == nullptr || is_open(*joined)) {
      joined = type;
      return;
    }
    if (joined->kind == TypeKind::kDyn || is_open(*type)) return;
    if (lenient_) {
      if (to_string(*joined) != to_string(*type)) joined = dyn();
      return;
    }
    Bindings none;
    const bool nulls = (joined->kind == TypeKind::kNull) != (type->kind == TypeKind::kNull);
    if (nulls || !is_assignable(joined, type, none)) {
      issue(at,
            fmt::format("expected type '{}' but found '{}'", to_string(*joined), to_string(*type)));
      joined = dyn();
    } else if (type->kind == TypeKind::kDyn) {
      joined = type;
    }
  }

  void list(Expr& expr) {
    TypePtr joined;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
      visit(*expr.arguments[i]);
      join(joined, element_type(*expr.arguments[i], expr.optional[i]), expr.arguments[i]->at);
    }
    expr.type = list_type(joined == nullptr ? open_type() : joined);
  }

  void map(Expr& expr) {
    TypePtr keys;
    TypePtr values;
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      Expr& key = *expr.arguments[i];
      Expr& value = *expr.arguments[i + 1];
      visit(key);
      visit(value);
      join(keys, key.type, key.at);
      join(values, element_type(value, expr.optional[i / 2]), value.at);
    }
    expr.type =
        map_type(keys == nullptr ? open_type() : keys, values == nullptr ? open_type() : values);
  }

  /// Declares the iteration variables of a comprehension over `range`.
  void declare(const Expr& expr, const Type& range) {
    const auto add = [&](std::size_t i, TypePtr type) {
      locals_.emplace_back(expr.variables[i], std::move(type));
    };
    const bool two = expr.variables.size() == 2;
    if (range.kind == TypeKind::kList) {
      if (two) add(0, simple_type(TypeKind::kInt));
      add(two ? 1 : 0, range.parameters[0]);
    } else if (range.kind == TypeKind::kMap) {
      add(0, range.parameters[0]);
      if (two) add(1, range.parameters[1]);
    } else {
      for (std::size_t i = 0; i < expr.variables.size(); ++i) add(i, dyn());
    }
  }

  void comprehension(Expr& expr) {
    visit(*expr.target);
    if (expr.macro == Macro::kOptMap || expr.macro == Macro::kOptFlatMap)
      return optional_macro(expr);
    const Type& range = *expr.target->type;
    if (range.kind != TypeKind::kList && range.kind != TypeKind::kMap &&
        range.kind != TypeKind::kDyn) {
      issue(expr.target->at,
            fmt::format("expression of type '{}' cannot be range of a comprehension (must be list, "
                        "map, or dynamic)",
                        to_string(range)));
    }
    const std::size_t outer = locals_.size();
    declare(expr, range);
    for (const ExprPtr& step : expr.arguments) {
      if (step != nullptr) visit(*step);
    }
    const TypePtr element = locals_.back().second;
    locals_.resize(outer);
    expr.type = loop_type(expr, element);
  }

  TypePtr loop_type(const Expr& expr, const TypePtr& element) {
    const Expr& step = *expr.arguments.back();
    const Expr* filter = expr.arguments.size() > 1 ? expr.arguments.front().get() : nullptr;
    const auto filtered = [&](TypePtr result) {
      if (filter != nullptr) choice(expr.at, filter->type, result, result);
      return result;
    };
    switch (expr.macro) {
      case Macro::kAll:
      case Macro::kExists:
        want_bool(step);
        return boolean();
      case Macro::kExistsOne:
        choice(expr.at, step.type, simple_type(TypeKind::kInt), simple_type(TypeKind::kInt));
        return boolean();
      case Macro::kFilter:
        return choice(expr.at, step.type, list_type(element), list_type(element));
      case Macro::kMap:
      case Macro::kTransformList:
        return filtered(list_type(step.type));
      case Macro::kSortBy:
        return list_type(element);
      case Macro::kTransformMap: {
        const Type& range = *expr.target->type;
        const TypePtr key = range.kind == TypeKind::kMap    ? range.parameters[0]
                            : range.kind == TypeKind::kList ? simple_type(TypeKind::kInt)
                                                            : dyn();
        return filtered(map_type(key, step.type));
      }
      default:
        if (step.type->kind != TypeKind::kMap && step.type->kind != TypeKind::kDyn) {
          no_overload(expr.at, "cel.@mapInsert", {map_type(dyn(), dyn()), step.type}, false);
          return dyn();
        }
        return filtered(step.type);
    }
  }

  void optional_macro(Expr& expr) {
    const Type& range = *expr.target->type;
    TypePtr content = dyn();
    if (range.kind == TypeKind::kOptional) {
      content = range.parameters[0];
    } else if (range.kind != TypeKind::kDyn) {
      no_overload(expr.at, "hasValue", {expr.target->type}, true);
    }
    locals_.emplace_back(expr.variables[0], content);
    Expr& step = *expr.arguments.back();
    visit(step);
    locals_.pop_back();
    if (expr.macro == Macro::kOptMap) {
      expr.type = optional_type(step.type);
      return;
    }
    expr.type = choice(expr.at, boolean(), step.type, optional_type(dyn()));
  }

  inline static const std::vector<Overload> kNone = {};
  const Variables& variables_;
  const Constructible constructible_;
  std::vector<std::pair<std::string, TypePtr>> locals_;
  bool lenient_ = false;  ///< allows elements of mixed types in lists and maps
  Checked checked_;
};

}  // namespace

Checked check(Expr& expression, const Variables& variables, Constructible constructible) {
  return Checker{variables, constructible}.run(expression);
}

}  // namespace kube::testkit::cel
