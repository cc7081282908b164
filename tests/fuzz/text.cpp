// SPDX-License-Identifier: Apache-2.0
// Input: a selector, quantity, time, duration, path or base64 text.
#include "fuzz.hpp"

#include <kube/api/fields.hpp>
#include <kube/api/labels.hpp>
#include <kube/api/quantity_text.hpp>
#include <kube/api/time_text.hpp>
#include <kube/codec/base64.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kube::fuzz::require;

void try_labels(std::string_view text) {
  try {
    const auto selector = kube::labels::Selector::parse(text);
    require(kube::labels::Selector::parse(selector.to_string()).to_string() == selector.to_string(),
            "label selector reads back");
  } catch (const std::invalid_argument&) {
    return;
  }
}

/// Sorts the requirements: "a==" is sorted in its original form, but written as "a=".
std::vector<std::string> sorted(const kube::field_selectors::Selector& selector) {
  std::vector<std::string> terms;
  for (const auto& requirement : selector.requirements()) {
    const bool equals = requirement.op == kube::field_selectors::Operator::kEquals;
    terms.push_back(requirement.field + (equals ? " = " : " != ") + requirement.value);
  }
  std::sort(terms.begin(), terms.end());
  return terms;
}

void try_fields(std::string_view text) {
  try {
    const auto selector = kube::field_selectors::Selector::parse(text);
    require(
        sorted(kube::field_selectors::Selector::parse(selector.to_string())) == sorted(selector),
        "field selector reads back");
  } catch (const std::invalid_argument&) {
    return;
  }
}

void try_quantity(std::string_view text) {
  if (!kube::quantity::valid(text)) return;
  const std::string canonical = kube::quantity::canonical(text);
  require(kube::quantity::valid(canonical), "canonical quantity is a quantity");
  require(kube::quantity::compare(canonical, kube::quantity::canonical(canonical)) == 0,
          "canonical quantity stays the same amount");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kube::fuzz::text_of(data, size);
  try_labels(text);
  try_fields(text);
  try_quantity(text);
  if (const auto seconds = kube::time_text::parse_seconds(text)) {
    char buffer[kube::time_text::kSecondsTextSize];
    const std::size_t written = kube::time_text::format_seconds(*seconds, buffer);
    require(kube::time_text::parse_seconds({buffer, written}) == seconds, "time reads back");
  }
  if (const auto length = kube::time_text::parse_duration(text)) {
    require(kube::time_text::parse_duration(kube::time_text::format_duration(*length)) == length,
            "duration reads back");
  }
  if (const auto bytes = kube::base64_decode(text)) {
    require(kube::base64_decode(kube::base64_encode(*bytes)) == bytes, "base64 reads back");
  }
  try {
    static_cast<void>(kube::parse_path(text));
  } catch (const kube::ValueError&) {
    // An error is fine.
  }
  return 0;
}
