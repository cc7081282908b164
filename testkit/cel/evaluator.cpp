// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/evaluator.hpp"

#include "testkit/cel/functions.hpp"
#include "testkit/cel/object_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kube::testkit::cel {

namespace {

// Costs that the real server charges in addition to calls.
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;
constexpr std::uint64_t kStructCost = 40;

Val no_overload() { return Val::error("no such overload"); }

/// Returns whether a value can be passed as an argument, judged by its outermost type.
bool accepts(const Type& wanted, const Val& value) {
  if (wanted.kind == TypeKind::kParameter || wanted.kind == TypeKind::kDyn) return true;
  const TypePtr found = type_of(value);
  if (wanted.kind != found->kind) return false;
  return wanted.kind != TypeKind::kOpaque || wanted.name == found->name;
}

class Evaluator {
 public:
  Evaluator(const Lookup& variables, Meter& meter) : variables_(variables), meter_(meter) {}

  Val eval(const Expr& expr) {
    meter_.step();
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        return expr.literal;
      case Expr::Kind::kIdent:
        return identifier(expr);
      case Expr::Kind::kSelect:
        return select(eval(*expr.target), expr.name);
      case Expr::Kind::kPresence:
        return presence(eval(*expr.target), expr.name);
      case Expr::Kind::kCall:
        return call(expr);
      case Expr::Kind::kList:
        return list(expr);
      case Expr::Kind::kMap:
        return map(expr);
      case Expr::Kind::kStruct:
        return structure(expr);
      case Expr::Kind::kComprehension:
        return comprehension(expr);
    }
    return Val::error("unsupported expression");
  }

 private:
  Val identifier(const Expr& expr) {
    meter_.charge(1);
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first == expr.name) return local->second;
    }
    return variables_(expr.name);
  }

  /// Returns the property name of the document that a field name of an expression denotes.
  static std::string property_of(const MapData& map, const std::string& name) {
    if (map.type != nullptr && map.type->kind == TypeKind::kObject) {
      if (const Type::Field* field = find_field(*map.type, name)) return field->property;
    }
    return name;
  }

  Val select(const Val& target, const std::string& name) {
    meter_.charge(1);
    if (target.is_error()) return target;
    if (target.is<Optional>()) {
      const auto& content = target.get<Optional>().value;
      return content == nullptr ? target : optional_select(*content, name);
    }
    if (!target.is<MapPtr>()) return Val::error("no such key: " + name);
    const MapData& map = *target.get<MapPtr>();
    Val found = lookup(map, Val::text(property_of(map, name)));
    if (found.is_error() && found.message().starts_with("no such key")) {
      return Val::error("no such key: " + name);
    }
    return found;
  }

  Val optional_select(const Val& target, const std::string& name) {
    meter_.charge(1);
    if (target.is_error()) return target;
    if (target.is<Optional>()) {
      const auto& content = target.get<Optional>().value;
      return content == nullptr ? target : optional_select(*content, name);
    }
    if (!target.is<MapPtr>()) return no_overload();
    const MapData& map = *target.get<MapPtr>();
    const Val key = Val::text(property_of(map, name));
    if (!is_set(map, key)) return Val::none();
    Val found = lookup(map, key);
    return found.is_error() ? found : Val::some(std::move(found));
  }

  static Val presence(const Val& target, const std::string& name) {
    if (target.is_error()) return target;
    if (target.is<Optional>()) {
      const auto& content = target.get<Optional>().value;
      return content == nullptr ? Val{false} : presence(*content, name);
    }
    if (!target.is<MapPtr>()) return no_overload();
    const MapData& map = *target.get<MapPtr>();
    return is_set(map, Val::text(property_of(map, name)));
  }

  /// Returns whether a field is present. Null in a document counts as absent.
  static bool is_set(const MapData& map, const Val& key) {
    if (!has_key(map, key)) return false;
    return map.object == nullptr || map.type == nullptr || map.type->kind != TypeKind::kObject ||
           !find_property(map, key.as_text())->is_null();
  }

  Val call(const Expr& expr) {
    if (expr.name == "_&&_") return logic(expr, false);
    if (expr.name == "_||_") return logic(expr, true);
    if (expr.name == "_?_:_") {
      const Val condition = eval(*expr.arguments[0]);
      if (condition.is_error()) return condition;
      if (!condition.is<bool>()) return no_overload();
      return eval(*expr.arguments[condition.get<bool>() ? 1 : 2]);
    }
    if (expr.name == "_?._") {
      return optional_select(eval(*expr.arguments[0]),
                             std::string{expr.arguments[1]->literal.as_text()});
    }
    if (expr.target != nullptr && (expr.name == "or" || expr.name == "orValue")) {
      return alternative(expr);
    }
    return strict_call(expr);
  }

  /// `decisive` is the operand value that determines the result even if other operands are errors.
  Val logic(const Expr& expr, bool decisive) {
    Val trouble = !decisive;
    for (const ExprPtr& argument : expr.arguments) {
      Val operand = eval(*argument);
      if (operand.is<bool>()) {
        if (operand.get<bool>() == decisive) return operand;
      } else if (!trouble.is_error()) {
        trouble = operand.is_error() ? std::move(operand) : no_overload();
      }
    }
    return trouble;
  }

  /// Evaluates the argument of `or` and `orValue` only if it is needed.
  Val alternative(const Expr& expr) {
    Val target = eval(*expr.target);
    if (target.is_error()) return target;
    if (!target.is<Optional>()) return no_overload();
    const auto& content = target.get<Optional>().value;
    if (content == nullptr) return eval(*expr.arguments[0]);
    return expr.name == "or" ? target : *content;
  }

  Val strict_call(const Expr& expr) {
    std::vector<Val> arguments;
    arguments.reserve(expr.arguments.size() + 1);
    if (expr.target != nullptr) arguments.push_back(eval(*expr.target));
    for (const ExprPtr& argument : expr.arguments) arguments.push_back(eval(*argument));
    for (Val& argument : arguments) {
      if (argument.is_error()) return std::move(argument);
    }
    for (const Overload* overload : expr.overloads) {
      bool fits = true;
      for (std::size_t i = 0; i < arguments.size() && fits; ++i) {
        fits = accepts(*overload->parameters[i], arguments[i]);
      }
      if (!fits) continue;
      charge_call(meter_, overload->cost, arguments);
      return overload->run(meter_, arguments);
    }
    meter_.charge(1);
    return no_overload();
  }

  /// Replaces an optional by its value. Returns false if there is none, or if `value` is no
  /// optional; then it becomes an error.
  static bool unwrap(Val& value) {
    if (!value.is<Optional>()) {
      value = no_overload();
      return false;
    }
    const std::shared_ptr<const Val> content = value.get<Optional>().value;
    if (content == nullptr) return false;
    value = *content;
    return true;
  }

  Val list(const Expr& expr) {
    meter_.charge(kListCost);
    std::vector<Val> elements;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
      Val element = eval(*expr.arguments[i]);
      if (element.is_error()) return element;
      if (expr.optional[i] && !unwrap(element)) {
        if (element.is_error()) return element;
        continue;
      }
      elements.push_back(std::move(element));
    }
    return Val::list(std::move(elements));
  }

  Val map(const Expr& expr) {
    meter_.charge(kMapCost);
    auto made = std::make_shared<MapData>();
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      Val key = eval(*expr.arguments[i]);
      if (key.is_error()) return key;
      Val value = eval(*expr.arguments[i + 1]);
      if (value.is_error()) return value;
      if (expr.optional[i / 2] && !unwrap(value)) {
        if (value.is_error()) return value;
        continue;
      }
      const std::string name = key_text(key);
      if (name.empty() || key.is<double>()) {
        return Val::error(fmt::format("unsupported key type: {}", name_of(*type_of(key))));
      }
      made->entries.insert_or_assign(name, std::pair{std::move(key), std::move(value)});
    }
    return MapPtr{std::move(made)};
  }

  Val structure(const Expr& expr) {
    meter_.charge(kStructCost);
    auto made = std::make_shared<ObjectLiteral>(expr.name);
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      Val value = eval(*expr.arguments[i + 1]);
      if (value.is_error()) return value;
      if (expr.optional[i / 2] && !unwrap(value)) {
        if (value.is_error()) return value;
        continue;
      }
      made->fields.insert_or_assign(std::string{expr.arguments[i]->literal.as_text()},
                                    std::move(value));
    }
    return OpaquePtr{std::move(made)};
  }

  // --- macros

  Val comprehension(const Expr& expr) {
    Val range = eval(*expr.target);
    if (range.is_error()) return range;
    if (expr.macro == Macro::kOptMap || expr.macro == Macro::kOptFlatMap) {
      return optional_macro(expr, range);
    }
    Loop loop{expr, range, {}, 0, {}};
    if (range.is<ListPtr>()) {
      loop.count = range.get<ListPtr>()->size();
    } else if (range.is<MapPtr>()) {
      loop.keys = keys_of(*range.get<MapPtr>());
      loop.count = loop.keys.size();
    } else {
      return Val::error(fmt::format("got '{}', expected iterable type", name_of(*type_of(range))));
    }
    switch (expr.macro) {
      case Macro::kAll:
        return quantifier(loop, false);
      case Macro::kExists:
        return quantifier(loop, true);
      case Macro::kExistsOne:
        return exactly_one(loop);
      case Macro::kSortBy:
        return sort_by(loop);
      case Macro::kTransformMap:
      case Macro::kTransformMapEntry:
        return to_map(loop);
      default:
        return to_list(loop);
    }
  }

  struct Loop {
    const Expr& expr;
    const Val& range;
    std::vector<Val> keys;
    std::size_t count;
    Val element;
  };

  /// Evaluates `step` with the iteration variables of round i.
  template <typename Body>
  Val round(Loop& loop, std::size_t i, Body body) {
    const bool two = loop.expr.variables.size() == 2;
    const auto add = [&](std::size_t variable, Val value) {
      locals_.emplace_back(loop.expr.variables[variable], std::move(value));
    };
    const std::size_t outer = locals_.size();
    if (loop.range.is<ListPtr>()) {
      if (two) add(0, static_cast<std::int64_t>(i));
      loop.element = loop.range.get<ListPtr>()->at(i);
      add(two ? 1 : 0, loop.element);
    } else {
      loop.element = loop.keys[i];
      add(0, loop.keys[i]);
      if (two) add(1, lookup(*loop.range.get<MapPtr>(), loop.keys[i]));
    }
    // The cost of the accumulator and of the loop condition.
    meter_.charge(2);
    Val result = body();
    locals_.resize(outer);
    return result;
  }

  /// Evaluates all() and exists(). A decisive element absorbs the errors of other elements.
  Val quantifier(Loop& loop, bool decisive) {
    Val result = !decisive;
    for (std::size_t i = 0; i < loop.count; ++i) {
      Val found = round(loop, i, [&] { return eval(*loop.expr.arguments.back()); });
      if (found.is<bool>()) {
        if (found.get<bool>() == decisive) return found;
      } else if (!result.is_error()) {
        result = found.is_error() ? std::move(found) : no_overload();
      }
    }
    return result;
  }

  Val exactly_one(Loop& loop) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < loop.count; ++i) {
      Val found = round(loop, i, [&] { return eval(*loop.expr.arguments.back()); });
      if (found.is_error()) return found;
      if (!found.is<bool>()) return no_overload();
      if (found.get<bool>()) ++count;
    }
    return count == 1;
  }

  /// Returns whether the filter of a macro accepts the current element: true, false or an error.
  Val filtered(const Expr* filter) {
    if (filter == nullptr) return true;
    Val found = eval(*filter);
    if (!found.is_error() && !found.is<bool>()) return no_overload();
    return found;
  }

  Val to_list(Loop& loop) {
    const bool is_filter = loop.expr.macro == Macro::kFilter;
    const Expr& step = *loop.expr.arguments.back();
    const Expr* filter = is_filter ? &step : loop.expr.arguments.front().get();
    std::vector<Val> made;
    meter_.charge(kListCost);
    for (std::size_t i = 0; i < loop.count; ++i) {
      Val trouble = round(loop, i, [&] {
        Val taken = filtered(filter);
        if (taken.is_error() || !taken.is_true()) return taken;
        meter_.charge(kListCost + 1);
        Val value = is_filter ? loop.element : eval(step);
        if (!value.is_error()) made.push_back(value);
        return value;
      });
      if (trouble.is_error()) return trouble;
    }
    return Val::list(std::move(made));
  }

  Val to_map(Loop& loop) {
    const Expr& step = *loop.expr.arguments.back();
    auto made = std::make_shared<MapData>();
    meter_.charge(kMapCost);
    for (std::size_t i = 0; i < loop.count; ++i) {
      Val trouble = round(loop, i, [&] {
        Val taken = filtered(loop.expr.arguments.front().get());
        if (taken.is_error() || !taken.is_true()) return taken;
        Val value = eval(step);
        if (value.is_error()) return value;
        if (loop.expr.macro == Macro::kTransformMapEntry) return insert_all(*made, value);
        return insert(*made, locals_[locals_.size() - 2].second, value);
      });
      if (trouble.is_error()) return trouble;
    }
    return MapPtr{std::move(made)};
  }

  static Val insert(MapData& map, const Val& key, const Val& value) {
    if (!map.entries.emplace(key_text(key), std::pair{key, value}).second) {
      return Val::error("insert failed: key " +
                        (key.is<Text>() ? std::string{key.as_text()} : to_literal(key)) +
                        " already exists");
    }
    return true;
  }

  static Val insert_all(MapData& map, const Val& entries) {
    if (!entries.is<MapPtr>()) return no_overload();
    for (const Val& key : keys_of(*entries.get<MapPtr>())) {
      Val done = insert(map, key, lookup(*entries.get<MapPtr>(), key));
      if (done.is_error()) return done;
    }
    return true;
  }

  Val sort_by(Loop& loop) {
    std::vector<std::pair<Val, Val>> keyed;
    for (std::size_t i = 0; i < loop.count; ++i) {
      Val key = round(loop, i, [&] { return eval(*loop.expr.arguments.back()); });
      if (key.is_error()) return key;
      keyed.emplace_back(std::move(key), loop.element);
    }
    Val trouble = true;
    std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
      Val order = compare(a.first, b.first);
      if (!order.is_error()) return order.template get<std::int64_t>() < 0;
      trouble = std::move(order);
      return false;
    });
    if (trouble.is_error()) return trouble;
    std::vector<Val> sorted;
    for (auto& [key, element] : keyed) sorted.push_back(std::move(element));
    return Val::list(std::move(sorted));
  }

  Val optional_macro(const Expr& expr, const Val& range) {
    if (!range.is<Optional>()) return no_overload();
    const auto& content = range.get<Optional>().value;
    if (content == nullptr) return Val::none();
    locals_.emplace_back(expr.variables[0], *content);
    Val value = eval(*expr.arguments.back());
    locals_.pop_back();
    if (value.is_error() || expr.macro == Macro::kOptFlatMap) return value;
    return Val::some(std::move(value));
  }

  const Lookup& variables_;
  Meter& meter_;
  std::vector<std::pair<std::string, Val>> locals_;
};

}  // namespace

Val evaluate(const Expr& expression, const Lookup& variables, Meter& meter) {
  return Evaluator{variables, meter}.eval(expression);
}

}  // namespace kube::testkit::cel
