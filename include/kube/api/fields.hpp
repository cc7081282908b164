// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/api/labels.hpp"

/// Field selectors restrict a list or a watch by the few fields that a server can select on, such
/// as metadata.name or spec.nodeName.
namespace kube::field_selectors {

/// Compares a field with a value.
enum class Operator : std::uint8_t { kEquals, kNotEquals };

/// One condition on one field. An absent field counts as empty.
struct Requirement {
  std::string field;
  Operator op = Operator::kEquals;
  std::string value;

  /// True if an object whose `field` has this value satisfies the condition.
  [[nodiscard]] bool matches(std::string_view actual) const noexcept {
    return (actual == value) == (op == Operator::kEquals);
  }

  bool operator==(const Requirement&) const = default;
};

/// Escapes `value` for a field selector: '\', ',' and '=' are preceded by '\'.
[[nodiscard]] std::string escape(std::string_view value);

/// Inverse of escape(). Throws std::invalid_argument if `text` has a bare ',' or '=', or a '\'
/// before any other character than those three.
[[nodiscard]] std::string unescape(std::string_view text);

/// A conjunction of requirements, or the selector that matches nothing.
///
/// A value type: cheap to move and comparable. Without requirements it matches everything. Fields
/// are not validated: only the server knows which fields it can select on.
///
/// Thread safety: like a standard container; const members from any number of threads.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Requires all of `requirements`, in this order. Omits one that has neither field nor value.
  explicit Selector(std::vector<Requirement> requirements);

  /// Matches everything.
  [[nodiscard]] static Selector everything() { return {}; }
  /// Matches nothing.
  [[nodiscard]] static Selector nothing();
  /// Requires `field` to have `value`.
  [[nodiscard]] static Selector one_term_equal(std::string_view field, std::string_view value);
  /// Requires `field` to have another value.
  [[nodiscard]] static Selector one_term_not_equal(std::string_view field, std::string_view value);
  /// Requires everything that `selectors` require, in their order.
  [[nodiscard]] static Selector all_of(std::initializer_list<Selector> selectors);

  /// Requires each field of `set`, a range of pairs of name and value, to have its value.
  template <typename Set>
  [[nodiscard]] static Selector from_set(const Set& set) {
    std::vector<Requirement> requirements;
    for (const auto& [field, value] : set) {
      requirements.push_back({std::string(std::string_view(field)), Operator::kEquals,
                              std::string(std::string_view(value))});
    }
    return sorted(std::move(requirements));
  }

  /// Parses the syntax of kubectl and the API: terms field=value, field==value or field!=value,
  /// joined by ','. White space is part of the texts. In a value, '\', ',' and '=' are preceded by
  /// '\'. Empty terms are skipped, and the empty text matches everything. The requirements are
  /// sorted by the text of their terms. Throws std::invalid_argument with the offset, in bytes from
  /// 0, of a malformed term.
  [[nodiscard]] static Selector parse(std::string_view text);

  /// True if an object with these fields is selected. `fields` is any map that detail::find_text()
  /// supports.
  template <typename Fields>
  [[nodiscard]] bool matches(const Fields& fields) const {
    if (nothing_) return false;
    for (const Requirement& requirement : requirements_) {
      const auto value = detail::find_text(fields, requirement.field);
      if (!requirement.matches(value.value_or(std::string_view{}))) return false;
    }
    return true;
  }

  /// True if the selector does not restrict anything.
  [[nodiscard]] bool matches_everything() const noexcept {
    return !nothing_ && requirements_.empty();
  }
  /// True for nothing(). Contradicting requirements are not detected.
  [[nodiscard]] bool matches_nothing() const noexcept { return nothing_; }

  /// Empty for everything() and for nothing().
  [[nodiscard]] const std::vector<Requirement>& requirements() const noexcept {
    return requirements_;
  }

  /// Returns the value that `field` must have, if the selector determines it by a term with '='
  /// (the first one counts). Allows a look-up in an index instead of matching every object.
  [[nodiscard]] std::optional<std::string> requires_exact(std::string_view field) const;

  /// Returns the selector in the syntax of parse(). nothing() has no such form: it returns the
  /// empty text, which a server reads as everything. Check matches_nothing() before sending it.
  [[nodiscard]] std::string to_string() const;

  bool operator==(const Selector&) const = default;

 private:
  static Selector sorted(std::vector<Requirement> requirements);

  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

}  // namespace kube::field_selectors
