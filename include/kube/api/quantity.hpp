// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/string.hpp>
#include <kube/object/type.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

struct LeafOperations;

/// An amount such as "500m" or "1.5Gi", exact for any magnitude. Keeps its original text; unset
/// counts as zero.
class Quantity {
 public:
  Quantity() noexcept = default;
  /// Throws std::invalid_argument with `text` if it is not a quantity.
  Quantity(std::string_view text);  // NOLINT: `{"cpu", "500m"}` reads well
  Quantity(const char* text) : Quantity(std::string_view{text}) {}         // NOLINT
  Quantity(const std::string& text) : Quantity(std::string_view{text}) {}  // NOLINT

  [[nodiscard]] bool is_set() const noexcept { return text_.has_value(); }
  explicit operator bool() const noexcept { return is_set(); }
  /// The original text; "0" if unset.
  [[nodiscard]] std::string_view text() const noexcept { return text_.value_or("0"); }
  /// Returns the form that API servers store: no fraction digits, the largest suffix that allows
  /// this.
  [[nodiscard]] Quantity canonical() const;
  /// Return the amount as an integer, rounded up as in Kubernetes.
  [[nodiscard]] std::int64_t value() const;
  [[nodiscard]] std::int64_t milli_value() const;
  [[nodiscard]] double as_double() const;

  friend Quantity operator+(const Quantity& a, const Quantity& b);
  friend Quantity operator-(const Quantity& a, const Quantity& b);
  Quantity operator-() const;
  Quantity& operator+=(const Quantity& other) { return *this = *this + other; }
  Quantity& operator-=(const Quantity& other) { return *this = *this - other; }

  /// Compares amounts: "1" equals "1000m".
  friend bool operator==(const Quantity& a, const Quantity& b);
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);

 private:
  OptionalString text_;
};

namespace detail {
extern const LeafOperations kQuantityOperations;
template <>
inline constexpr bool kStoredInline<Quantity> = true;
inline constexpr Type kQuantityType{.kind = Kind::kLeaf,
                                    .size = 8,
                                    .name = "quantity",
                                    .element = &kOptionalStringType,
                                    .leaf = &kQuantityOperations};
}  // namespace detail

template <>
struct TypeOf<Quantity> {
  static constexpr const Type& value = detail::kQuantityType;
};

}  // namespace kube
