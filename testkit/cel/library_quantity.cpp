// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"

#include <kube/api/quantity_text.hpp>

#include <stdexcept>

namespace kube::testkit::cel {

namespace {

constexpr const char* kNoQuantity =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

struct QuantityValue final : Opaque {
  explicit QuantityValue(std::string given) : text(std::move(given)) {}
  [[nodiscard]] TypePtr type() const override { return opaque_type("kubernetes.Quantity"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    return quantity::compare(text, static_cast<const QuantityValue&>(other).text) == 0;
  }
  std::string text;
};

/// Rejects text without a digit, which other parsers of quantities accept as zero.
bool is_quantity_text(std::string_view text) {
  return text.size() <= 1024 && text.find_first_of("0123456789") != std::string_view::npos &&
         quantity::valid(text);
}

const std::string& text_of(Arguments a, std::size_t i = 0) {
  return static_cast<const QuantityValue&>(*a[i].get<OpaquePtr>()).text;
}

Val make(std::string text) { return OpaquePtr{std::make_shared<QuantityValue>(std::move(text))}; }

/// Returns an error for sums whose exponents are too far apart to be represented.
template <typename Operation>
Val computed(Operation operation) {
  try {
    return make(operation());
  } catch (const std::overflow_error& error) {
    return Val::error(error.what());
  }
}

Val parse(Meter&, Arguments a) {
  if (!is_quantity_text(a[0].as_text())) return Val::error(kNoQuantity);
  return make(std::string{a[0].as_text()});
}
Val is_quantity(Meter&, Arguments a) { return is_quantity_text(a[0].as_text()); }
Val sign(Meter&, Arguments a) { return std::int64_t{quantity::sign(text_of(a))}; }

bool is_whole(const std::string& text) {
  return quantity::compare(text, quantity::from_value(quantity::value(text))) == 0;
}
Val is_integer(Meter&, Arguments a) { return is_whole(text_of(a)); }
Val as_integer(Meter&, Arguments a) {
  if (!is_whole(text_of(a))) return Val::error("cannot convert value to integer");
  return quantity::value(text_of(a));
}
Val as_float(Meter&, Arguments a) { return quantity::as_double(text_of(a)); }

Val add(Meter&, Arguments a) {
  return computed([&] { return quantity::add(text_of(a), text_of(a, 1)); });
}
Val subtract(Meter&, Arguments a) {
  return computed([&] { return quantity::subtract(text_of(a), text_of(a, 1)); });
}
std::string number_text(Arguments a) { return quantity::from_value(a[1].get<std::int64_t>()); }
Val add_int(Meter&, Arguments a) {
  return computed([&] { return quantity::add(text_of(a), number_text(a)); });
}
Val subtract_int(Meter&, Arguments a) {
  return computed([&] { return quantity::subtract(text_of(a), number_text(a)); });
}

int order(Arguments a) { return quantity::compare(text_of(a), text_of(a, 1)); }
Val is_less(Meter&, Arguments a) { return order(a) < 0; }
Val is_greater(Meter&, Arguments a) { return order(a) > 0; }
Val compare_to(Meter&, Arguments a) { return std::int64_t{order(a)}; }

}  // namespace

std::span<const Declaration> quantity_library() {
  static constexpr Declaration kLibrary[] = {
      {"quantity(string): Quantity", parse, Cost::kFirst},
      {"isQuantity(string): bool", is_quantity, Cost::kFirst},
      {"sign(Quantity): int", sign},
      {"Quantity->isGreaterThan(Quantity): bool", is_greater},
      {"Quantity->isLessThan(Quantity): bool", is_less},
      {"Quantity->compareTo(Quantity): int", compare_to},
      {"Quantity->asApproximateFloat(): double", as_float},
      {"Quantity->asInteger(): int", as_integer},
      {"Quantity->isInteger(): bool", is_integer},
      {"Quantity->add(Quantity): Quantity", add},
      {"Quantity->add(int): Quantity", add_int},
      {"Quantity->sub(Quantity): Quantity", subtract},
      {"Quantity->sub(int): Quantity", subtract_int},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
