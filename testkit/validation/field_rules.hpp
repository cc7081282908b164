// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "testkit/validation/field_check.hpp"
#include "testkit/validation/name_rules.hpp"

/// Checks that many kinds share. Unless said otherwise, a field that is not set passes.
namespace kube::testkit::detail {

/// Whether it is set; an error if it is not, or is an empty text.
bool check_required(const Field& field, std::string_view detail = {});
void check_one_of(const Field& field, std::initializer_list<std::string_view> known);
void check_not_negative(const Field& field);
/// From `least` to `most`, with a text that names both.
void check_range(const Field& field, std::int64_t least, std::int64_t most);
/// A number from 1 to 65535. A missing one is 0.
void check_port(const Field& field);
/// The number or the name of a port.
void check_port_or_name(const Field& field);
/// An error per problem of its text, also of a missing one.
void check_text(const Field& field, Problems (*problems)(std::string_view));
/// The same unless it is empty.
void check_optional_text(const Field& field, Problems (*problems)(std::string_view));
/// Keys and values of a map of labels.
void check_labels(const Field& labels);
void check_label_selector(const Field& selector);
/// A count or a percentage.
void check_int_or_percent(const Field& field);
void check_not_above_100_percent(const Field& field);
/// `field is immutable` unless it equals `before`.
void check_same(const Field& field, const Value& before);

/// True for a count of 0 or for 0 %.
[[nodiscard]] bool is_zero(const Value& int_or_percent);
/// Whether a selector that check_label_selector accepts selects these labels. None selects nothing.
[[nodiscard]] bool selects(const Value& selector, const Value& labels);
/// True if it has neither labels nor expressions.
[[nodiscard]] bool selects_all(const Value& selector);

}  // namespace kube::testkit::detail
