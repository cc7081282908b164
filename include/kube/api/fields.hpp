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

/// Field selectors: which objects a list or a watch is about, by the few fields that a server knows
/// how to select on, such as metadata.name or spec.nodeName.
namespace kube::field_selectors {

enum class Operator : std::uint8_t { kEquals, kNotEquals };

/// One condition on one field. A field that is absent counts as empty.
struct Requirement {
  std::string field;
  Operator op = Operator::kEquals;
  std::string value;

  /// True if an object fulfils the condition whose `field` has this value.
  [[nodiscard]] bool matches(std::string_view actual) const noexcept {
    return (actual == value) == (op == Operator::kEquals);
  }

  bool operator==(const Requirement&) const = default;
};

/// `value` as it may stand in a field selector: '\', ',' and '=' are preceded by '\'.
[[nodiscard]] std::string escape(std::string_view value);

/// The inverse of escape(). Throws std::invalid_argument if `text` has a bare ',' or '=', or a '\'
/// before anything but those three.
[[nodiscard]] std::string unescape(std::string_view text);

/// A conjunction of requirements, or the selector that matches nothing.
///
/// A value: cheap to move, comparable, and without requirements it matches everything. Fields are
/// not checked: only the server knows which of them it can select on.
///
/// Thread safety: like a standard container; const members from any number of threads.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Requires all of `requirements`, in this order. One with neither field nor value is left out.
  explicit Selector(std::vector<Requirement> requirements);

  [[nodiscard]] static Selector everything() { return {}; }
  [[nodiscard]] static Selector nothing();
  /// Requires `field` to have `value`.
  [[nodiscard]] static Selector one_term_equal(std::string_view field, std::string_view value);
  /// Requires `field` to have another value.
  [[nodiscard]] static Selector one_term_not_equal(std::string_view field, std::string_view value);
  /// Requires everything that `selectors` require, in their order.
  [[nodiscard]] static Selector all_of(std::initializer_list<Selector> selectors);

  /// Requires each field of `set`, a range of name and value pairs, with its value.
  template <typename Set>
  [[nodiscard]] static Selector from_set(const Set& set) {
    std::vector<Requirement> requirements;
    for (const auto& [field, value] : set) {
      requirements.push_back({std::string(std::string_view(field)), Operator::kEquals,
                              std::string(std::string_view(value))});
    }
    return sorted(std::move(requirements));
  }

  /// Reads the notation of kubectl and the API: terms field=value, field==value or field!=value,
  /// joined by ','. White space counts as part of the texts. In a value, '\', ',' and '=' are
  /// preceded by '\'. Empty terms are passed over, and the empty text matches everything. The
  /// requirements come in the order of the terms as texts. Throws std::invalid_argument with the
  /// offset, in bytes from 0, of the term that cannot be understood.
  [[nodiscard]] static Selector parse(std::string_view text);

  /// True if an object with these fields is selected; see detail::find_text() for what `fields` may
  /// be.
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
  /// True for nothing(). A selector of contradicting requirements is not recognised.
  [[nodiscard]] bool matches_nothing() const noexcept { return nothing_; }

  /// None for everything() and for nothing().
  [[nodiscard]] const std::vector<Requirement>& requirements() const noexcept {
    return requirements_;
  }

  /// The value that `field` must have to be selected, if there is one: that of the first term with
  /// '='. Allows to look in an index instead of matching every object.
  [[nodiscard]] std::optional<std::string> requires_exact(std::string_view field) const;

  /// The selector in the notation of parse(). Notation has no word for nothing(): it gives the
  /// empty text, which a server takes for everything. Ask matches_nothing() before sending it.
  [[nodiscard]] std::string to_string() const;

  bool operator==(const Selector&) const = default;

 private:
  static Selector sorted(std::vector<Requirement> requirements);

  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

}  // namespace kube::field_selectors
