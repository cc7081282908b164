// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "testkit/validation/field_check.hpp"
#include "testkit/validation/name_rules.hpp"

/// Checks that many kinds share. Unless stated otherwise, an unset field passes.
namespace kube::testkit::detail {

/// Reports an error if the field is unset or an empty string. Returns whether it is set.
bool check_required(const Field& field, std::string_view detail = {});
void check_one_of(const Field& field, std::initializer_list<std::string_view> known);
void check_not_negative(const Field& field);
/// Checks that a number is from `least` to `most`; the message names both bounds.
void check_range(const Field& field, std::int64_t least, std::int64_t most);
/// Checks for a number from 1 to 65535. An unset field counts as 0.
void check_port(const Field& field);
/// Checks a port number or port name.
void check_port_or_name(const Field& field);
/// Reports each problem of the text. An unset field counts as an empty text.
void check_text(const Field& field, Problems (*problems)(std::string_view));
/// Like check_text(), unless the text is empty.
void check_optional_text(const Field& field, Problems (*problems)(std::string_view));
/// Checks the keys and values of a map of labels.
void check_labels(const Field& labels);
void check_label_selector(const Field& selector);
/// Checks a count or a percentage.
void check_int_or_percent(const Field& field);
void check_not_above_100_percent(const Field& field);
/// Reports `field is immutable` unless the value equals `before`.
void check_same(const Field& field, const Value& before);

/// Returns true for a count of 0 or for 0 %.
[[nodiscard]] bool is_zero(const Value& int_or_percent);
/// Returns whether a valid label selector matches these labels. A missing selector matches nothing.
[[nodiscard]] bool selects(const Value& selector, const Value& labels);
/// Returns true if the selector has neither labels nor expressions.
[[nodiscard]] bool selects_all(const Value& selector);

}  // namespace kube::testkit::detail
