// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/cost_estimate.hpp"

#include "testkit/cel/functions.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube::testkit::cel {

namespace {

constexpr std::uint64_t kUnbounded = UINT64_MAX;
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;
constexpr std::uint64_t kStructCost = 40;
/// The cost of a character of a text that is read, and of a regular expression.
constexpr double kPerCharacter = 0.1;
constexpr double kPerRegexCharacter = 0.25;
/// The cost of a call of `authorizer.check`.
constexpr std::uint64_t kCheckCost = 350'000;
constexpr double kFormatRegexSize = 128;

/// Multiplies and rounds up.
std::uint64_t scaled(std::uint64_t value, double factor) {
  const double product = std::ceil(static_cast<double>(value) * factor);
  return product >= 0x1p64 ? kUnbounded : static_cast<std::uint64_t>(product);
}

/// The possible sizes of a text, list or map.
struct Size {
  std::uint64_t min = 0;
  std::uint64_t max = kUnbounded;
};

constexpr Size exactly(std::uint64_t size) { return {size, size}; }
Size unite(const Size& a, const Size& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
Size multiply(const Size& a, const Size& b) {
  return {saturating_multiply(a.min, b.min), saturating_multiply(a.max, b.max)};
}
Size add(const Size& a, const Size& b) {
  return {saturating_add(a.min, b.min), saturating_add(a.max, b.max)};
}

/// The possible sizes of the keys and values of a list or map that an expression creates.
struct EntrySize {
  TypeKind container = TypeKind::kList;
  Size key;
  Size value;
};
using MaybeEntrySize = std::optional<EntrySize>;

MaybeEntrySize unite(const MaybeEntrySize& a, const MaybeEntrySize& b) {
  if (!a || !b) return std::nullopt;
  return EntrySize{a->container, unite(a->key, b->key), unite(a->value, b->value)};
}

/// The cost of a call without its arguments, and the size of its result.
struct CallCost {
  std::uint64_t cost = 1;
  std::optional<Size> result = std::nullopt;
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_scalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kUint:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
      return true;
    case TypeKind::kOptional:
      return is_scalar(*type.parameters[0]);
    default:
      return false;
  }
}

/// Returns the value of a literal that is an integer and not negative.
std::uint64_t literal_or(const Expr& expr, std::uint64_t otherwise) {
  if (expr.kind != Expr::Kind::kLiteral || !expr.literal.is<std::int64_t>()) return otherwise;
  const auto value = expr.literal.get<std::int64_t>();
  return value < 0 ? otherwise : static_cast<std::uint64_t>(value);
}

/// Follows the estimator of cel-go. It knows where a value comes from as a path from a variable
/// ("self", "spec", "@items"), which leads to its size in the schema.
class Estimator {
 public:
  explicit Estimator(const SchemaSizes& self) : self_(self) {}

  std::uint64_t cost(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        return 0;
      case Expr::Kind::kIdent: {
        const Local* local = find_local(expr.name);
        paths_[&expr] = local != nullptr ? local->path : Path{expr.name};
        return 1;
      }
      case Expr::Kind::kSelect:
        return select(expr);
      case Expr::Kind::kPresence:
        return cost(*expr.target);
      case Expr::Kind::kCall:
        return call(expr);
      case Expr::Kind::kList:
        return list(expr);
      case Expr::Kind::kMap:
        return map(expr);
      case Expr::Kind::kStruct:
        return saturating_add(cost_of(expr.arguments), kStructCost);
      case Expr::Kind::kComprehension:
        return comprehension(expr);
    }
    return 0;
  }

 private:
  using Path = std::vector<std::string>;
  struct Local {
    std::string name;
    Path path;
    std::optional<Size> size;
    MaybeEntrySize entry;
  };

  // Where values come from, and how large they are.

  [[nodiscard]] const Local* find_local(std::string_view name) const {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name == name) return &*local;
    }
    return nullptr;
  }
  [[nodiscard]] Path path_of(const Expr& expr) const {
    const auto found = paths_.find(&expr);
    return found == paths_.end() ? Path{} : found->second;
  }
  static Path below(Path path, std::string_view step) {
    path.emplace_back(step);
    return path;
  }

  /// Returns the size that the schema gives for a path, whose first step is the variable.
  [[nodiscard]] std::optional<Size> size_in_schema(const Path& path) const {
    if (path.empty()) return std::nullopt;
    const SchemaSizes* at = &self_;
    for (auto step = path.begin() + 1; step != path.end(); ++step) {
      if (*step == "@items" || *step == "@values") {
        at = at->element.get();
      } else if (*step == "@keys") {
        // Only maps have keys. They are texts without a known length, which counts as 0.
        return at->element == nullptr ? std::nullopt : std::optional{Size{0, 0}};
      } else {
        const auto field = at->fields.find(*step);
        at = field == at->fields.end() ? nullptr : field->second.get();
      }
      if (at == nullptr) return std::nullopt;
    }
    return Size{0, at->max_elements};
  }

  [[nodiscard]] static std::optional<Size> literal_size(const Expr& expr) {
    if (expr.kind == Expr::Kind::kList) return exactly(expr.arguments.size());
    if (expr.kind == Expr::Kind::kMap) return exactly(expr.arguments.size() / 2);
    if (expr.kind != Expr::Kind::kLiteral) return std::nullopt;
    return exactly(cel::size_of(expr.literal));
  }

  [[nodiscard]] std::optional<Size> find_size(const Expr& expr) const {
    if (const auto found = sizes_.find(&expr); found != sizes_.end()) return found->second;
    if (const auto size = literal_size(expr)) return size;
    if (const auto size = size_in_schema(path_of(expr))) return size;
    if (expr.type != nullptr && is_scalar(*expr.type)) return exactly(1);
    if (expr.kind == Expr::Kind::kIdent) {
      if (const Local* local = find_local(expr.name)) return local->size;
    }
    return std::nullopt;
  }
  [[nodiscard]] Size size_of(const Expr& expr) const { return find_size(expr).value_or(Size{}); }
  [[nodiscard]] MaybeEntrySize entry_of(const Expr& expr) const {
    if (const auto found = entries_.find(&expr); found != entries_.end()) return found->second;
    if (expr.kind == Expr::Kind::kIdent) {
      if (const Local* local = find_local(expr.name)) return local->entry;
    }
    return std::nullopt;
  }
  /// Returns the size of the elements of a list; nothing if it is no list.
  [[nodiscard]] std::optional<Size> element_size(const Expr& list) const {
    if (list.type->parameters.empty()) return std::nullopt;
    const Path path = path_of(list);
    if (path.empty()) return Size{};
    return size_in_schema(below(path, "@items")).value_or(Size{});
  }
  [[nodiscard]] static bool has_text_elements(const Expr& list) {
    if (list.type->parameters.empty()) return false;
    const TypeKind kind = list.type->parameters[0]->kind;
    return kind == TypeKind::kString || kind == TypeKind::kBytes;
  }

  // Expressions.

  std::uint64_t cost_of(const std::vector<ExprPtr>& parts) {
    std::uint64_t sum = 0;
    for (const ExprPtr& part : parts) sum = saturating_add(sum, cost(*part));
    return sum;
  }

  std::uint64_t select(const Expr& expr) {
    const std::uint64_t sum = cost(*expr.target);
    paths_[&expr] = below(path_of(*expr.target), expr.name);
    const TypeKind kind = expr.target->type->kind;
    const bool is_known = kind == TypeKind::kMap || kind == TypeKind::kObject;
    return is_known ? saturating_add(sum, 1) : sum;
  }

  std::uint64_t list(const Expr& expr) {
    const std::uint64_t sum = cost_of(expr.arguments);
    Size elements{expr.arguments.empty() ? 0 : kUnbounded, 0};
    for (const ExprPtr& element : expr.arguments) elements = unite(elements, size_of(*element));
    entries_[&expr] = {TypeKind::kList, exactly(1), elements};
    return saturating_add(sum, kListCost);
  }

  std::uint64_t map(const Expr& expr) {
    const std::uint64_t sum = cost_of(expr.arguments);
    const std::uint64_t least = expr.arguments.empty() ? 0 : kUnbounded;
    EntrySize entry{TypeKind::kMap, {least, 0}, {least, 0}};
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      entry.key = unite(entry.key, size_of(*expr.arguments[i]));
      entry.value = unite(entry.value, size_of(*expr.arguments[i + 1]));
    }
    entries_[&expr] = entry;
    return saturating_add(sum, kMapCost);
  }

  std::uint64_t call(const Expr& expr) {
    if (expr.name == "dyn" && expr.arguments.size() == 1) {
      const Expr& argument = *expr.arguments[0];
      const std::uint64_t inside = cost(argument);
      if (const auto size = find_size(argument)) sizes_[&expr] = *size;
      if (const auto entry = entry_of(argument)) entries_[&expr] = *entry;
      return saturating_add(inside, 1);
    }
    if (expr.name == "_?_:_") return conditional(expr);
    std::uint64_t arguments = cost_of(expr.arguments);
    if (expr.target != nullptr) arguments = saturating_add(arguments, cost(*expr.target));
    if (expr.name == "_&&_" || expr.name == "_||_") return arguments;

    std::uint64_t most = expr.overloads.empty() ? 1 : 0;
    std::optional<Size> result;
    for (const Overload* overload : expr.overloads) {
      const CallCost found = function(expr, *overload);
      most = std::max(most, found.cost);
      if (found.result) result = result ? unite(*result, *found.result) : *found.result;
      if (expr.name == "_[_]") {
        const bool is_list = overload->parameters[0]->kind == TypeKind::kList;
        const Expr& container = *expr.arguments[0];
        const MaybeEntrySize entry = entry_of(container);
        result = entry ? std::optional{entry->value} : std::nullopt;
        paths_[&expr] = below(path_of(container), is_list ? "@items" : "@values");
      }
      if (!result) result = find_size(expr);
    }
    if (result) sizes_[&expr] = *result;
    return saturating_add(arguments, most);
  }

  std::uint64_t conditional(const Expr& expr) {
    const Expr& yes = *expr.arguments[1];
    const Expr& no = *expr.arguments[2];
    const std::uint64_t condition = cost(*expr.arguments[0]);
    const std::uint64_t either = std::max(cost(yes), cost(no));
    sizes_[&expr] = unite(size_of(yes), size_of(no));
    if (const auto entry = unite(entry_of(yes), entry_of(no))) entries_[&expr] = *entry;
    return saturating_add(condition, either);
  }

  /// Returns the cost of one overload of a call without its arguments.
  CallCost function(const Expr& expr, const Overload& overload) {
    if (const auto cost = list_function(expr)) return *cost;
    if (const auto cost = text_function(expr, overload)) return *cost;
    if (const auto cost = address_function(expr, overload)) return *cost;
    return operation(expr, overload);
  }

  [[nodiscard]] std::optional<CallCost> list_function(const Expr& expr) const {
    const std::string_view name = expr.name;
    const auto allocating = [](double factor, Size size) {
      return CallCost{saturating_add(scaled(size.max, factor), 1 + kListCost), size};
    };
    if (name.starts_with("sets.") && expr.arguments.size() == 2) {
      const Size pairs = multiply(size_of(*expr.arguments[0]), size_of(*expr.arguments[1]));
      return CallCost{saturating_add(scaled(pairs.max, name == "sets.equivalent" ? 2 : 1), 1)};
    }
    if (name == "lists.range")
      return allocating(1, exactly(literal_or(*expr.arguments[0], kUnbounded)));
    if (expr.target == nullptr) return std::nullopt;
    const Expr& target = *expr.target;
    const Size size = size_of(target);
    if (is_one_of(name, {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"})) {
      const std::optional<Size> element = element_size(target);
      if (!element) return CallCost{scaled(size.max, kPerCharacter)};
      std::uint64_t each = 1;
      if (has_text_elements(target)) {
        each = saturating_add(each, scaled(element->max, kPerCharacter));
      }
      return CallCost{saturating_multiply(size.max, each)};
    }
    if (name == "slice" && expr.arguments.size() == 2) {
      const std::uint64_t start = literal_or(*expr.arguments[0], 0);
      const std::uint64_t end = literal_or(*expr.arguments[1], size.max);
      return allocating(1, exactly(end - start));
    }
    if (name == "reverse" && target.type->kind == TypeKind::kList) return allocating(1, size);
    if (name == "flatten") {
      const auto depth = expr.arguments.empty() ? 1 : literal_or(*expr.arguments[0], kUnbounded);
      return allocating(static_cast<double>(depth), size);
    }
    if (name == "distinct") return allocating(2, multiply(size, size));
    if (name == "sort") {
      return allocating(has_text_elements(target) ? 2 + kPerCharacter : 2, multiply(size, size));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<CallCost> text_function(const Expr& expr,
                                                      const Overload& overload) const {
    const std::string_view name = expr.name;
    const auto reading = [](Size size, double passes = 1) {
      return scaled(size.max, passes * kPerCharacter);
    };
    const auto argument = [&](std::size_t i) { return size_of(*expr.arguments[i]); };
    const auto takes = [&](TypeKind kind) {
      return !overload.parameters.empty() && overload.parameters[0]->kind == kind;
    };
    if (name == "url") return CallCost{reading(argument(0)), argument(0)};
    if (name == "bytes" && takes(TypeKind::kString)) {
      const Size size = argument(0);
      return CallCost{reading(size), Size{size.min, saturating_multiply(size.max, 4)}};
    }
    if (name == "string" && takes(TypeKind::kBytes)) {
      const Size size = argument(0);
      return CallCost{reading(size), Size{size.min / 4, size.max}};
    }
    if (name == "strings.quote") {
      const Size size = argument(0);
      const Size twice{size.min, saturating_multiply(size.max, 2)};
      return CallCost{reading(size), add(twice, exactly(2))};
    }
    if (is_one_of(name, {"quantity", "isQuantity", "semver", "isSemver"})) {
      return CallCost{reading(argument(0))};
    }
    if (expr.target == nullptr) return std::nullopt;
    const Size size = size_of(*expr.target);
    if (is_one_of(name, {"lowerAscii", "upperAscii", "substring", "trim"})) {
      return CallCost{reading(size), size};
    }
    if (name == "replace")
      return CallCost{reading(size, 2), replaced(size, argument(0), argument(1))};
    if (name == "split") {
      const std::uint64_t most =
          expr.arguments.size() > 1 ? literal_or(*expr.arguments[1], size.max) : size.max;
      return CallCost{reading(size, 2), Size{0, most}};
    }
    if (name == "join") {
      Size joined = multiply(size, element_size(*expr.target).value_or(Size{}));
      if (!expr.arguments.empty()) {
        const auto gaps = [](std::uint64_t count) { return count > 0 ? count - 1 : 0; };
        joined = add(joined, multiply(argument(0), {gaps(size.min), gaps(size.max)}));
      }
      return CallCost{reading(joined), joined};
    }
    // One is added so that an empty text does not hide the cost of the expression.
    const auto matching = [&](std::uint64_t pattern) {
      return saturating_multiply(reading(add(size, exactly(1))), pattern);
    };
    if (name == "find" || name == "findAll") {
      return CallCost{matching(scaled(argument(0).max, kPerRegexCharacter)), Size{0, size.max}};
    }
    if (name == "matches") return CallCost{matching(scaled(argument(0).max, kPerRegexCharacter))};
    if (name == "validate") {
      return CallCost{scaled(reading(argument(0)), kFormatRegexSize * kPerRegexCharacter)};
    }
    if (name == "contains" && takes(TypeKind::kString)) {
      return CallCost{saturating_multiply(reading(size), reading(argument(0)))};
    }
    if (name == "startsWith" || name == "endsWith") return CallCost{reading(argument(0))};
    if (name == "format") return CallCost{reading(size)};
    return std::nullopt;
  }

  /// Returns the size of a text in which `old` was replaced by `with`.
  static Size replaced(Size size, Size old, Size with) {
    Size count{0, 0};
    Size kept{0, 0};
    const auto divided = [](std::uint64_t a, std::uint64_t b) {
      return a / b + (a % b == 0 ? 0 : 1);  // rounded up
    };
    // The longest result. An empty text is found before each character and at the end.
    if (old.min == 0) {
      count.max = saturating_add(size.max, 1);
      kept.max = size.max;
    } else if (with.max <= old.min) {
      kept.max = size.max;
    } else {
      count.max = divided(size.max, old.min);
    }
    // The shortest result.
    if (old.max == 0) {
      count.min = saturating_add(size.min, 1);
      kept.min = size.min;
    } else if (old.max <= with.min) {
      kept.min = size.min;
    } else {
      count.min = divided(size.min, old.max);
    }
    return add(multiply(count, with), kept);
  }

  [[nodiscard]] std::optional<CallCost> address_function(const Expr& expr,
                                                         const Overload& overload) const {
    const std::string_view name = expr.name;
    const auto reading = [&](double passes) {
      return CallCost{scaled(size_of(*expr.arguments[0]).max, passes * kPerCharacter)};
    };
    if (name == "check") return CallCost{kCheckCost};
    if (is_one_of(name, {"cidr", "isIP", "isCIDR"})) return reading(1);
    if (name == "ip" && !overload.is_member) return reading(1);
    if (name == "ip.isCanonical") return reading(2);
    if (name != "containsIP" && name != "containsCIDR") return std::nullopt;
    // Up to 16 bytes of both addresses are compared; a network is masked first.
    std::uint64_t cost = scaled(32, kPerCharacter);
    if (name == "containsCIDR") cost += scaled(16, kPerCharacter) + 1;
    if (overload.parameters.back()->kind == TypeKind::kString) {
      cost = saturating_add(cost, reading(1).cost);
    }
    return CallCost{cost};
  }

  /// Returns the cost of an operator, or 1 for all other functions.
  CallCost operation(const Expr& expr, const Overload& overload) {
    const std::string_view name = expr.name;
    if (expr.arguments.size() != 2) return {};
    const Expr& left = *expr.arguments[0];
    const Expr& right = *expr.arguments[1];
    const TypeKind kind = overload.parameters[0]->kind;
    const bool is_text = kind == TypeKind::kString || kind == TypeKind::kBytes;
    if (name == "@in" && overload.parameters[1]->kind == TypeKind::kList) {
      return {size_of(right).max};
    }
    if (name == "_+_" && (is_text || kind == TypeKind::kList)) {
      const Size sum = add(size_of(left), size_of(right));
      if (const auto entry = unite(entry_of(left), entry_of(right))) entries_[&expr] = *entry;
      return {is_text ? scaled(sum.max, kPerCharacter) : 1, sum};
    }
    const bool is_equality = name == "_==_" || name == "_!=_";
    if (name == "_==_" && left.type->kind == TypeKind::kOpaque &&
        to_string(*left.type) == to_string(*right.type)) {
      // Values of these types are small, except for URLs, which are compared as texts.
      if (left.type->name != "kubernetes.URL") return {};
      return {scaled(find_size(right).value_or(exactly(1)).max, kPerCharacter)};
    }
    if (is_equality || (is_text && is_one_of(name, {"_<_", "_<=_", "_>_", "_>=_"}))) {
      return {scaled(std::min(size_of(left).max, size_of(right).max), kPerCharacter)};
    }
    return {};
  }

  // Macros, as the loops that they stand for. The numbers are the costs of reading and testing the
  // accumulator.

  void declare(const Expr& expr) {
    const Expr& range = *expr.target;
    const MaybeEntrySize entry = entry_of(range);
    const bool is_list = (entry ? entry->container : range.type->kind) == TypeKind::kList;
    const Path path = path_of(range);
    const auto add = [&](std::size_t i, std::string_view step, bool is_value) {
      std::optional<Size> size;
      if (entry) size = is_value ? entry->value : entry->key;
      locals_.push_back({expr.variables[i], below(path, step), size, std::nullopt});
    };
    if (expr.variables.size() == 2) {
      add(0, is_list ? "@indices" : "@keys", false);
      add(1, is_list ? "@items" : "@values", true);
    } else {
      add(0, is_list ? "@items" : "@keys", is_list);
    }
  }

  std::uint64_t comprehension(const Expr& expr) {
    if (expr.macro == Macro::kOptMap || expr.macro == Macro::kOptFlatMap) return optional(expr);
    if (expr.macro == Macro::kSortBy) return sort(expr);
    const std::uint64_t range = cost(*expr.target);
    const std::uint64_t loop = iterations(expr);
    const bool is_map =
        expr.macro == Macro::kTransformMap || expr.macro == Macro::kTransformMapEntry;
    const bool is_list = expr.macro == Macro::kMap || expr.macro == Macro::kFilter ||
                         expr.macro == Macro::kTransformList;
    const std::uint64_t start = is_map ? kMapCost : is_list ? kListCost : 0;
    const std::uint64_t result = expr.macro == Macro::kExistsOne ? 2 : 1;
    sizes_[&expr] = is_map || is_list ? size_of(*expr.target) : exactly(1);
    return saturating_add(saturating_add(range, start + result), loop);
  }

  std::uint64_t iterations(const Expr& expr) {
    const std::size_t outer = locals_.size();
    declare(expr);
    const Expr& step = *expr.arguments.back();
    const Expr* filter = expr.arguments.size() > 1 ? expr.arguments.front().get() : nullptr;
    const std::uint64_t inside = cost(step);
    std::uint64_t each = 0;
    Size element;
    switch (expr.macro) {
      case Macro::kAll:
        each = saturating_add(inside, 3);
        break;
      case Macro::kExists:
        each = saturating_add(inside, 4);
        break;
      case Macro::kExistsOne:
        each = saturating_add(inside, 2);
        break;
      case Macro::kFilter: {
        // The element is added to the result as it is.
        each = saturating_add(inside, kListCost + 3);
        const Local& variable = locals_.back();
        element = size_in_schema(variable.path).value_or(variable.size.value_or(Size{}));
        break;
      }
      case Macro::kTransformMap:
        each = saturating_add(inside, 3);
        break;
      case Macro::kTransformMapEntry:
        each = saturating_add(inside, 2);
        break;
      default:
        each = saturating_add(inside, kListCost + 2);
        element = size_of(step);
        break;
    }
    if (filter != nullptr) each = saturating_add(each, cost(*filter));
    if (expr.macro == Macro::kMap || expr.macro == Macro::kFilter ||
        expr.macro == Macro::kTransformList) {
      entries_[&expr] = {TypeKind::kList, exactly(1), {0, element.max}};
    }
    locals_.resize(outer);
    return saturating_multiply(size_of(*expr.target).max, each);
  }

  /// Binds the value of an optional to a variable.
  std::uint64_t optional(const Expr& expr) {
    const std::uint64_t target = cost(*expr.target);
    const std::size_t outer = locals_.size();
    locals_.push_back({expr.variables[0], {}, std::nullopt, std::nullopt});
    const std::uint64_t inside = cost(*expr.arguments.back());
    locals_.resize(outer);
    // hasValue(), value() and, in an empty loop, the result.
    const std::uint64_t wrap = expr.macro == Macro::kOptMap ? 1 : 0;
    const std::uint64_t bound =
        saturating_add(saturating_add(target, inside), kListCost + 1 + wrap);
    return saturating_add(saturating_add(target, 1), bound);
  }

  /// Sorts a list by a list of keys.
  std::uint64_t sort(const Expr& expr) {
    const std::uint64_t target = cost(*expr.target);
    const std::size_t outer = locals_.size();
    declare(expr);
    const Expr& key = *expr.arguments.back();
    const std::uint64_t each = saturating_add(cost(key), kListCost + 2);
    locals_.resize(outer);
    const Size size = size_of(*expr.target);
    const std::uint64_t keys = saturating_add(saturating_multiply(size.max, each), kListCost + 2);
    const bool is_text = key.type->kind == TypeKind::kString || key.type->kind == TypeKind::kBytes;
    const std::uint64_t compared =
        scaled(saturating_multiply(size.max, size.max), is_text ? 2 + kPerCharacter : 2);
    sizes_[&expr] = multiply(size, size);
    // The binding, the variable and the call.
    const std::uint64_t fixed = kListCost + 1 + 1 + kListCost;
    return saturating_add(saturating_add(target, keys), saturating_add(compared, fixed));
  }

  const SchemaSizes& self_;
  std::vector<Local> locals_;
  std::unordered_map<const Expr*, Path> paths_;
  std::unordered_map<const Expr*, Size> sizes_;
  std::unordered_map<const Expr*, EntrySize> entries_;
};

}  // namespace

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  return a > kUnbounded - b ? kUnbounded : a + b;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}

std::uint64_t estimate_cost(const Expr& expression, const SchemaSizes& self) {
  return Estimator{self}.cost(expression);
}

}  // namespace kube::testkit::cel
