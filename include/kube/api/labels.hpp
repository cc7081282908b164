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

/// What find() of a map may answer with: something that is false, or points to a text that stays
/// where it is.
template <typename T>
concept PointsToText = requires(T found) {
  static_cast<bool>(found);
  { *found } -> std::convertible_to<std::string_view>;
  requires std::is_lvalue_reference_v<decltype(*std::declval<T>())> ||
      std::same_as<std::remove_cvref_t<decltype(*found)>, std::string_view>;
};

/// The text under `key`, or nothing. Works on maps whose find() answers with a pointer to the text
/// or null, and on the maps of the standard library; the latter cost a copy of the key unless they
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

/// Label selectors: which objects a list, a watch or a controller is about, by their labels.
namespace kube::labels {

enum class Operator : std::uint8_t {
  kIn,            ///< the label has one of the values
  kNotIn,         ///< the label has none of the values, or is absent
  kEquals,        ///< the label has the value
  kDoubleEquals,  ///< the same, written "=="
  kNotEquals,     ///< the label has another value, or is absent
  kExists,        ///< the label is there, with any value
  kDoesNotExist,  ///< the label is absent
  kGreaterThan,   ///< the label is an integer above the value
  kLessThan,      ///< the label is an integer below the value
};

/// The operator as selectors write it: "in", "notin", "=", "==", "!=", ">", "<"; "!" for
/// kDoesNotExist, and nothing for kExists.
[[nodiscard]] std::string_view symbol(Operator op) noexcept;

/// One condition on one label.
struct Requirement {
  std::string key;
  Operator op = Operator::kExists;
  /// None for kExists and kDoesNotExist, one or more for kIn and kNotIn, otherwise exactly one.
  std::vector<std::string> values;

  /// True if an object fulfils the condition whose label `key` has this value, or is absent.
  [[nodiscard]] bool matches(std::optional<std::string_view> value) const noexcept;

  bool operator==(const Requirement&) const = default;
};

/// Throws std::invalid_argument if the number of values does not suit the operator, the key is not
/// a qualified name, a value is not a label value, or kGreaterThan or kLessThan has no integer.
void validate(const Requirement& requirement);

/// The requirement in selector notation, with its values sorted: "tier in (back,front)".
[[nodiscard]] std::string to_string(const Requirement& requirement);

/// A conjunction of requirements, or the selector that matches nothing.
///
/// A value: cheap to move, comparable, and without requirements it matches everything. The
/// requirements are kept in the order of their keys.
///
/// Thread safety: like a standard container; const members from any number of threads.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Requires all of `requirements`. Throws like validate().
  explicit Selector(std::vector<Requirement> requirements);

  [[nodiscard]] static Selector everything() { return {}; }
  [[nodiscard]] static Selector nothing();

  /// Reads the notation of kubectl and the API: requirements joined by ',', each one of
  ///   key   !key   key=value   key==value   key!=value   key>1   key<1
  ///   key in (a,b)   key notin (a,b)
  /// White space may stand between the parts. A value may be empty: "key=" and "key in (a,)" allow
  /// it, and "()" is the set of just the empty value. The empty text matches everything. Throws
  /// std::invalid_argument with the offset, in bytes from 0, at which the text goes wrong.
  [[nodiscard]] static Selector parse(std::string_view text);

  /// Requires each label of `set`, a range of key and value pairs, with its value. The empty set
  /// matches everything. Throws like validate().
  template <typename Set>
  [[nodiscard]] static Selector from_set(const Set& set) {
    return Selector(equalities(set));
  }

  /// from_set() without the checks, for labels that were read from a server.
  template <typename Set>
  [[nodiscard]] static Selector from_valid_set(const Set& set) {
    return Selector(equalities(set), Unchecked{});
  }

  /// This selector with one requirement more. Throws like validate().
  [[nodiscard]] Selector with(Requirement requirement) const;

  /// True if an object with these labels is selected; see detail::find_text() for what `labels` may
  /// be.
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
  /// True for nothing(). A selector of contradicting requirements is not recognised.
  [[nodiscard]] bool matches_nothing() const noexcept { return nothing_; }

  /// In the order of their keys; none for everything() and for nothing().
  [[nodiscard]] const std::vector<Requirement>& requirements() const noexcept {
    return requirements_;
  }

  /// The one value that `key` must have to be selected, if the first requirement on it says so.
  /// Allows to look in an index instead of matching every object.
  [[nodiscard]] std::optional<std::string> requires_exact(std::string_view key) const;

  /// The selector in the notation of parse(), the same text for every order of the requirements.
  /// Notation has no word for nothing(): it gives the empty text, which a server takes for
  /// everything. Ask matches_nothing() before sending it.
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
