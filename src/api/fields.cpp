// SPDX-License-Identifier: Apache-2.0
#include "kube/api/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "kube/api/validation.hpp"

namespace kube::field_selectors {
namespace {

constexpr std::string_view kSpecial = "\\,=";

/// Returns the end of the term that starts at `start`: the next unescaped ',', or the end of the
/// text.
std::size_t end_of_term(std::string_view text, std::size_t start) {
  for (std::size_t i = start; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // the escaped character is part of the term
    } else if (text[i] == ',') {
      return i;
    }
  }
  return text.size();
}

/// Unescapes a value into `out`. Returns the problem, or an empty view if there is none.
std::string_view unescape_to(std::string_view text, std::string& out) {
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') return "has a ',' or '=' without a '\\' before it";
    if (text[i] == '\\') {
      ++i;
      if (i == text.size()) return "ends with a '\\'";
      if (kSpecial.find(text[i]) == std::string_view::npos) {
        return "has a '\\' before something other than '\\', ',' and '='";
      }
    }
    out += text[i];
  }
  return {};
}

Requirement parse_term(std::string_view text, std::string_view term) {
  const auto fail = [&](std::string_view problem) {
    throw std::invalid_argument(fmt::format("field selector {}: at offset {}: the term {} {}",
                                            detail::quoted(text), term.data() - text.data(),
                                            detail::quoted(term), problem));
  };
  Requirement requirement;
  // Split at the first operator. A '!' that is not part of one belongs to the field's name.
  const std::size_t at = std::min(term.find("!="), term.find('='));
  if (at == std::string_view::npos) fail("has none of =, ==, !=");
  requirement.op = term[at] == '!' ? Operator::kNotEquals : Operator::kEquals;
  requirement.field = term.substr(0, at);
  std::string_view value = term.substr(at + 1);
  if (value.starts_with('=')) value.remove_prefix(1);  // the rest of "!=" or "=="
  const std::string_view problem = unescape_to(value, requirement.value);
  if (!problem.empty()) fail(fmt::format("has a value that {}", problem));
  return requirement;
}

}  // namespace

std::string escape(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (const char c : value) {
    if (kSpecial.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string unescape(std::string_view text) {
  std::string value;
  const std::string_view problem = unescape_to(text, value);
  if (!problem.empty()) {
    throw std::invalid_argument(
        fmt::format("field selector value {} {}", detail::quoted(text), problem));
  }
  return value;
}

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::erase_if(requirements_, [](const Requirement& requirement) {
    return requirement.field.empty() && requirement.value.empty();
  });
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::one_term_equal(std::string_view field, std::string_view value) {
  return Selector({{std::string(field), Operator::kEquals, std::string(value)}});
}

Selector Selector::one_term_not_equal(std::string_view field, std::string_view value) {
  return Selector({{std::string(field), Operator::kNotEquals, std::string(value)}});
}

Selector Selector::all_of(std::initializer_list<Selector> selectors) {
  Selector result;
  for (const Selector& selector : selectors) {
    if (selector.nothing_) return nothing();
    result.requirements_.insert(result.requirements_.end(), selector.requirements_.begin(),
                                selector.requirements_.end());
  }
  return result;
}

Selector Selector::parse(std::string_view text) {
  std::vector<std::string_view> terms;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = end_of_term(text, start);
    if (end > start) terms.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  std::ranges::sort(terms);
  std::vector<Requirement> requirements;
  requirements.reserve(terms.size());
  for (const std::string_view term : terms) requirements.push_back(parse_term(text, term));
  return Selector(std::move(requirements));
}

std::optional<std::string> Selector::requires_exact(std::string_view field) const {
  const auto found = std::ranges::find_if(requirements_, [&](const Requirement& requirement) {
    return requirement.op == Operator::kEquals && requirement.field == field;
  });
  if (found == requirements_.end()) return std::nullopt;
  return found->value;
}

std::string Selector::to_string() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.field;
    text += requirement.op == Operator::kEquals ? "=" : "!=";
    text += escape(requirement.value);
  }
  return text;
}

Selector Selector::sorted(std::vector<Requirement> requirements) {
  std::ranges::stable_sort(requirements, {}, &Requirement::field);
  return Selector(std::move(requirements));
}

}  // namespace kube::field_selectors
