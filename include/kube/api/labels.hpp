// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube::detail {

/// The result type of a map's find(): contextually false, or a pointer-like to a text that is not a
/// temporary.
template <typename T>
concept PointsToText = requires(T found) {
  static_cast<bool>(found);
  { *found } -> std::convertible_to<std::string_view>;
  requires std::is_lvalue_reference_v<decltype(*std::declval<T>())> ||
      std::same_as<std::remove_cvref_t<decltype(*found)>, std::string_view>;
};

/// Returns the text of `key`, or nullopt. Works with maps whose find() returns a pointer to the
/// text or null, and with the maps of the standard library; the latter copy the key unless they
/// compare transparently.
template <typename Map>
std::optional<std::string_view> find_text(const Map& map, std::string_view key) {
  if constexpr (requires {
                  { map.find(key) } -> PointsToText;
                }) {
    if (const auto found = map.find(key)) return std::string_view(*found);
  } else if constexpr (requires { map.find(key)->second; }) {
    if (const auto found = map.find(key); found != map.end()) return found->second;
  } else {
    if (const auto found = map.find(std::string(key)); found != map.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace kube::detail

/// Label selectors restrict a list, a watch or a controller to objects with certain labels.
namespace kube::labels {

/// Compares a label with the values of a requirement.
enum class Operator : std::uint8_t {
  kIn,            ///< the label has one of the values
  kNotIn,         ///< the label has none of the values, or is absent
  kEquals,        ///< the label has the value
  kDoubleEquals,  ///< the same, written "=="
  kNotEquals,     ///< the label has another value, or is absent
  kExists,        ///< the label is present, with any value
  kDoesNotExist,  ///< the label is absent
  kGreaterThan,   ///< the label is an integer above the value
  kLessThan,      ///< the label is an integer below the value
};

/// Returns the operator in selector syntax: "in", "notin", "=", "==", "!=", ">", "<"; "!" for
/// kDoesNotExist, and an empty text for kExists.
[[nodiscard]] std::string_view symbol(Operator op) noexcept;

/// One condition on one label.
struct Requirement {
  std::string key;
  Operator op = Operator::kExists;
  /// Empty for kExists and kDoesNotExist, one or more for kIn and kNotIn, otherwise exactly one.
  std::vector<std::string> values;

  /// True if an object whose label `key` has this value, or is absent (nullopt), satisfies the
  /// condition.
  [[nodiscard]] bool matches(std::optional<std::string_view> value) const noexcept;

  bool operator==(const Requirement&) const = default;
};

/// Throws std::invalid_argument if the number of values does not match the operator, the key is not
/// a qualified name, a value is not a valid label value, or the value of kGreaterThan or kLessThan
/// is not an integer.
void validate(const Requirement& requirement);

/// Returns the requirement in selector syntax, with sorted values: "tier in (back,front)".
[[nodiscard]] std::string to_string(const Requirement& requirement);

/// A conjunction of requirements, or the selector that matches nothing.
///
/// A value type: cheap to move and comparable. Without requirements it matches everything. The
/// requirements are sorted by key.
///
/// Thread safety: like a standard container; const members from any number of threads.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Requires all of `requirements`. Throws like validate().
  explicit Selector(std::vector<Requirement> requirements);

  /// Matches everything.
  [[nodiscard]] static Selector everything() { return {}; }
  /// Matches nothing.
  [[nodiscard]] static Selector nothing();

  /// Parses the syntax of kubectl and the API: requirements joined by ',', each of one of the forms
  ///   key   !key   key=value   key==value   key!=value   key>1   key<1
  ///   key in (a,b)   key notin (a,b)
  /// White space is allowed between the parts. A value may be empty: "key=" and "key in (a,)" allow
  /// it, and "()" is the set that contains only the empty value. The empty text matches everything.
  /// Throws std::invalid_argument with the offset of the error, in bytes from 0.
  [[nodiscard]] static Selector parse(std::string_view text);

  /// Requires each label of `set`, a range of pairs of key and value, to have its value. The empty
  /// set matches everything. Throws like validate().
  template <typename Set>
  [[nodiscard]] static Selector from_set(const Set& set) {
    return Selector(equalities(set));
  }

  /// As from_set(), without validation, for labels that were received from a server.
  template <typename Set>
  [[nodiscard]] static Selector from_valid_set(const Set& set) {
    return Selector(equalities(set), Unchecked{});
  }

  /// Returns this selector with an additional requirement. Throws like validate().
  [[nodiscard]] Selector with(Requirement requirement) const;

  /// True if an object with these labels is selected. `labels` is any map that detail::find_text()
  /// supports.
  template <typename Labels>
  [[nodiscard]] bool matches(const Labels& labels) const {
    if (nothing_) return false;
    return std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
      return requirement.matches(detail::find_text(labels, requirement.key));
    });
  }

  /// True if the selector does not restrict anything.
  [[nodiscard]] bool matches_everything() const noexcept {
    return !nothing_ && requirements_.empty();
  }
  /// True for nothing(). Contradicting requirements are not detected.
  [[nodiscard]] bool matches_nothing() const noexcept { return nothing_; }

  /// Sorted by key; empty for everything() and for nothing().
  [[nodiscard]] const std::vector<Requirement>& requirements() const noexcept {
    return requirements_;
  }

  /// Returns the only value that `key` may have, if the first requirement on it determines one.
  /// Allows a look-up in an index instead of matching every object.
  [[nodiscard]] std::optional<std::string> requires_exact(std::string_view key) const;

  /// Returns the selector in the syntax of parse(), the same text for every order of the
  /// requirements. nothing() has no such form: it returns the empty text, which a server reads as
  /// everything. Check matches_nothing() before sending it.
  [[nodiscard]] std::string to_string() const;

  bool operator==(const Selector&) const = default;

 private:
  struct Unchecked {};
  Selector(std::vector<Requirement> requirements, Unchecked unchecked);

  template <typename Set>
  static std::vector<Requirement> equalities(const Set& set) {
    std::vector<Requirement> requirements;
    for (const auto& [key, value] : set) {
      requirements.push_back({std::string(std::string_view(key)),
                              Operator::kEquals,
                              {std::string(std::string_view(value))}});
    }
    return requirements;
  }

  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

}  // namespace kube::labels
