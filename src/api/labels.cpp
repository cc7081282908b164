// SPDX-License-Identifier: Apache-2.0
#include "kube/api/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <system_error>

#include "kube/api/validation.hpp"

namespace kube::labels {
namespace {

/// Parses the whole of `text` as an integer with an optional sign.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// Returns the problem of a value, or an empty view.
std::string_view value_problem(Operator op, std::string_view value) noexcept {
  if ((op == Operator::kGreaterThan || op == Operator::kLessThan) && !parse_integer(value)) {
    return "must be an integer";
  }
  return validation::label_value_problem(value);
}

/// Returns the problem of the number of values, or an empty view.
std::string_view count_problem(Operator op, std::size_t count) noexcept {
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      return count == 0 ? "needs at least one value" : "";
    case Operator::kExists:
    case Operator::kDoesNotExist:
      return count != 0 ? "takes no values" : "";
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      return count != 1 ? "needs exactly one value" : "";
  }
  return "has an unknown operator";
}

void sort_by_key(std::vector<Requirement>& requirements) {
  std::ranges::stable_sort(requirements, {}, &Requirement::key);
}

// ---- Parsing ------------------------------------------------------------------------------------

struct Token {
  enum class Kind : std::uint8_t { kEnd, kWord, kSymbol };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] bool is(std::string_view symbol) const {
    return kind == Kind::kSymbol && text == symbol;
  }
  [[nodiscard]] bool is_word() const { return kind == Kind::kWord; }
  [[nodiscard]] bool is_end() const { return kind == Kind::kEnd; }
};

/// Recursive descent parser of a selector, with one token of look-ahead.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  std::vector<Requirement> parse() {
    std::vector<Requirement> requirements;
    if (token_.is_end()) return requirements;
    while (true) {
      requirements.push_back(parse_requirement());
      if (token_.is_end()) return requirements;
      if (!token_.is(",")) fail_expecting("',' or the end");
      advance();
    }
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  static bool is_symbol(char c) {
    return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
  }

  void advance() {
    while (offset_ < text_.size() && is_space(text_[offset_])) ++offset_;
    const std::size_t start = offset_;
    auto kind = Token::Kind::kEnd;
    if (offset_ < text_.size() && is_symbol(text_[offset_])) {
      kind = Token::Kind::kSymbol;
      const std::string_view two = text_.substr(offset_, 2);
      offset_ += two == "==" || two == "!=" ? 2U : 1U;
    } else if (offset_ < text_.size()) {
      kind = Token::Kind::kWord;
      while (offset_ < text_.size() && !is_space(text_[offset_]) && !is_symbol(text_[offset_])) {
        ++offset_;
      }
    }
    token_ = {kind, text_.substr(start, offset_ - start), start};
  }

  Requirement parse_requirement() {
    Requirement requirement;
    const bool negated = token_.is("!");
    if (negated) advance();
    if (!token_.is_word()) fail_expecting(negated ? "a label key" : "a label key or '!'");
    if (const auto problem = validation::qualified_name_problem(token_.text); !problem.empty()) {
      fail(fmt::format("the label key {} {}", detail::quoted(token_.text), problem));
    }
    requirement.key = token_.text;
    advance();
    if (negated) {
      requirement.op = Operator::kDoesNotExist;
    } else if (!token_.is_end() && !token_.is(",")) {
      requirement.op = parse_operator();
      if (requirement.op == Operator::kIn || requirement.op == Operator::kNotIn) {
        requirement.values = parse_set(requirement.op);
      } else {
        requirement.values = {parse_value(requirement.op)};
      }
    }
    return requirement;
  }

  Operator parse_operator() {
    for (const Operator op :
         {Operator::kEquals, Operator::kDoubleEquals, Operator::kNotEquals, Operator::kGreaterThan,
          Operator::kLessThan, Operator::kIn, Operator::kNotIn}) {
      if (!token_.is_end() && token_.text == symbol(op)) {
        advance();
        return op;
      }
    }
    fail_expecting("one of =, ==, !=, <, >, in, notin, or ','");
  }

  /// Parses the value after an operator; empty if the requirement ends here.
  std::string parse_value(Operator op) {
    std::string_view value;
    if (!token_.is_word() && !token_.is_end() && !token_.is(",")) fail_expecting("a value");
    if (token_.is_word()) value = token_.text;
    check_value(op, value);
    if (token_.is_word()) advance();
    return std::string(value);
  }

  /// Parses a list in parentheses; sorts it and removes duplicates. A missing value is the empty
  /// value.
  std::vector<std::string> parse_set(Operator op) {
    if (!token_.is("(")) fail_expecting("'('");
    advance();
    std::vector<std::string> values;
    while (true) {
      if (token_.is_word()) {
        check_value(op, token_.text);
        values.emplace_back(token_.text);
        advance();
      } else if (token_.is(",") || token_.is(")")) {
        values.emplace_back();
      } else {
        fail_expecting("a value, ',' or ')'");
      }
      if (token_.is(")")) break;
      if (!token_.is(",")) fail_expecting("',' or ')'");
      advance();
    }
    advance();
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  void check_value(Operator op, std::string_view value) const {
    const std::string_view problem = value_problem(op, value);
    if (!problem.empty()) fail(fmt::format("the value {} {}", detail::quoted(value), problem));
  }

  [[noreturn]] void fail_expecting(std::string_view expected) const {
    fail(fmt::format("expected {}, found {}", expected,
                     token_.is_end() ? "the end" : detail::quoted(token_.text)));
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw std::invalid_argument(fmt::format("label selector {}: at offset {}: {}",
                                            detail::quoted(text_), token_.offset, problem));
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  Token token_;
};

}  // namespace

std::string_view symbol(Operator op) noexcept {
  switch (op) {
    case Operator::kIn:
      return "in";
    case Operator::kNotIn:
      return "notin";
    case Operator::kEquals:
      return "=";
    case Operator::kDoubleEquals:
      return "==";
    case Operator::kNotEquals:
      return "!=";
    case Operator::kExists:
      return "";
    case Operator::kDoesNotExist:
      return "!";
    case Operator::kGreaterThan:
      return ">";
    case Operator::kLessThan:
      return "<";
  }
  return "";
}

bool Requirement::matches(std::optional<std::string_view> value) const noexcept {
  const auto is_listed = [&] { return std::ranges::find(values, *value) != values.end(); };
  switch (op) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return value && is_listed();
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !value || !is_listed();
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value.has_value();
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  if (!value || values.size() != 1) return false;
  const std::optional<std::int64_t> actual = parse_integer(*value);
  const std::optional<std::int64_t> bound = parse_integer(values.front());
  if (!actual || !bound) return false;
  return op == Operator::kGreaterThan ? *actual > *bound : *actual < *bound;
}

void validate(const Requirement& requirement) {
  const auto fail = [&](std::string_view problem) {
    throw std::invalid_argument(
        fmt::format("label requirement on {}: {}", detail::quoted(requirement.key), problem));
  };
  if (const auto problem = validation::qualified_name_problem(requirement.key); !problem.empty()) {
    fail(fmt::format("the key {}", problem));
  }
  if (const auto problem = count_problem(requirement.op, requirement.values.size());
      !problem.empty()) {
    const std::string_view name =
        requirement.op == Operator::kExists ? "exists" : symbol(requirement.op);
    fail(fmt::format("the operator '{}' {}", name, problem));
  }
  for (const std::string& value : requirement.values) {
    if (const auto problem = value_problem(requirement.op, value); !problem.empty()) {
      fail(fmt::format("the value {} {}", detail::quoted(value), problem));
    }
  }
}

std::string to_string(const Requirement& requirement) {
  const std::string_view sign = symbol(requirement.op);
  if (requirement.op == Operator::kExists) return requirement.key;
  if (requirement.op == Operator::kDoesNotExist) return fmt::format("{}{}", sign, requirement.key);
  std::vector<std::string_view> values(requirement.values.begin(), requirement.values.end());
  std::ranges::sort(values);
  const std::string joined = fmt::format("{}", fmt::join(values, ","));
  if (requirement.op == Operator::kIn || requirement.op == Operator::kNotIn) {
    return fmt::format("{} {} ({})", requirement.key, sign, joined);
  }
  return fmt::format("{}{}{}", requirement.key, sign, joined);
}

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::ranges::for_each(requirements_, validate);
  sort_by_key(requirements_);
}

Selector::Selector(std::vector<Requirement> requirements, Unchecked /*unchecked*/)
    : requirements_(std::move(requirements)) {
  sort_by_key(requirements_);
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::parse(std::string_view text) {
  return Selector(Parser(text).parse(), Unchecked{});
}

Selector Selector::with(Requirement requirement) const {
  validate(requirement);
  Selector result = *this;
  if (result.nothing_) return result;
  // Inserted after those with the same key, because requires_exact() uses the first one.
  const auto place =
      std::ranges::upper_bound(result.requirements_, requirement.key, {}, &Requirement::key);
  result.requirements_.insert(place, std::move(requirement));
  return result;
}

std::optional<std::string> Selector::requires_exact(std::string_view key) const {
  const auto found = std::ranges::find(requirements_, key, &Requirement::key);
  if (found == requirements_.end()) return std::nullopt;
  const bool equality = found->op == Operator::kEquals || found->op == Operator::kDoubleEquals ||
                        found->op == Operator::kIn;
  if (!equality || found->values.size() != 1) return std::nullopt;
  return found->values.front();
}

std::string Selector::to_string() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += labels::to_string(requirement);
  }
  return text;
}

}  // namespace kube::labels
