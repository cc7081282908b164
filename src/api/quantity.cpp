// SPDX-License-Identifier: Apache-2.0
#include <kube/api/quantity.hpp>

#include "api/protobuf_leaf.hpp"
#include "codec/leaf.hpp"
#include <kube/api/quantity_text.hpp>
#include <kube/codec/json_writer.hpp>

#include <protozero/pbf_writer.hpp>

#include <algorithm>

namespace kube {

namespace {

using detail::Pending;
using Input = LeafOperations::Input;
using Token = LeafOperations::Token;

const Quantity& quantity_at(const std::byte* value) {
  return *reinterpret_cast<const Quantity*>(value);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

Pending read(Input& input, std::string_view text) {
  if (!quantity::valid(text)) {
    input.problem = "expected quantity";
    return {};
  }
  return input.assembler.text(text, input.sibling);
}

}  // namespace

constinit const LeafOperations detail::kQuantityOperations{
    .from_json = [](Input& input, Token,
                    std::string_view text) { return read(input, trimmed(text)); },
    .from_protobuf =
        [](Input& input, std::string_view message) {
          const std::string_view text = detail::only_text_field(input, message);
          return input.problem == nullptr ? read(input, text) : Pending{};
        },
    .to_json = [](const std::byte* value,
                  detail::JsonWriter& out) { out.text(quantity_at(value).text()); },
    .to_protobuf =
        [](const std::byte* value, std::string& out) {
          const std::string_view text = quantity_at(value).text();
          protozero::pbf_writer{out}.add_string(1, text.data(), text.size());
        },
};

Quantity::Quantity(std::string_view text) : text_(text) {
  // canonical() throws an error with the reason.
  if (!quantity::valid(text)) static_cast<void>(quantity::canonical(text));
}

Quantity Quantity::canonical() const { return Quantity{quantity::canonical(text())}; }
std::int64_t Quantity::value() const { return quantity::value(text()); }
std::int64_t Quantity::milli_value() const { return quantity::milli_value(text()); }
double Quantity::as_double() const { return quantity::as_double(text()); }

Quantity operator+(const Quantity& a, const Quantity& b) {
  return Quantity{quantity::add(a.text(), b.text())};
}
Quantity operator-(const Quantity& a, const Quantity& b) {
  return Quantity{quantity::subtract(a.text(), b.text())};
}
Quantity Quantity::operator-() const { return Quantity{quantity::negate(text())}; }

bool operator==(const Quantity& a, const Quantity& b) {
  return a.text() == b.text() || quantity::compare(a.text(), b.text()) == 0;
}
std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  return quantity::compare(a.text(), b.text()) <=> 0;
}

}  // namespace kube
