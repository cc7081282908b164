// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>
#include <kube/object/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

struct LeafOperations;

/// A number or a text, such as a port by number or name, or "25%" or 3. Unset counts as the number
/// 0.
class IntOrString {
 public:
  IntOrString() noexcept = default;
  IntOrString(std::int32_t number) : content_(number) {}    // NOLINT: implicit
  IntOrString(std::string_view text) : content_(text) {}    // NOLINT
  IntOrString(const char* text) : content_(text) {}         // NOLINT
  IntOrString(const std::string& text) : content_(text) {}  // NOLINT

  [[nodiscard]] bool is_set() const noexcept { return !content_.is_absent(); }
  explicit operator bool() const noexcept { return is_set(); }
  [[nodiscard]] bool is_string() const noexcept { return content_.is_string(); }
  /// The number; 0 if it is a text.
  [[nodiscard]] std::int32_t number() const noexcept;
  /// The text; empty if it is a number.
  [[nodiscard]] std::string_view text() const noexcept;
  /// Returns the number or the text as text.
  [[nodiscard]] std::string str() const;
  /// Returns the number, or the percentage of `total`, rounded up or down. Throws
  /// std::invalid_argument if the text is not a percentage.
  [[nodiscard]] std::int64_t scaled(std::int64_t total, bool round_up) const;

  friend bool operator==(const IntOrString& a, const IntOrString& b) noexcept {
    return a.is_string() == b.is_string() && a.number() == b.number() && a.text() == b.text();
  }

 private:
  Value content_;
};

namespace detail {
extern const LeafOperations kIntOrStringOperations;
template <>
inline constexpr bool kStoredInline<IntOrString> = true;
inline constexpr Type kIntOrStringType{.kind = Kind::kLeaf,
                                       .size = 8,
                                       .name = "integer or string",
                                       .element = &kValueType,
                                       .leaf = &kIntOrStringOperations};
}  // namespace detail

template <>
struct TypeOf<IntOrString> {
  static constexpr const Type& value = detail::kIntOrStringType;
};

}  // namespace kube
