// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/value.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// An error in one field of an object, worded like a real API server (ER-2, ER-3).
struct FieldError {
  std::string type;     ///< the cause type: "FieldValueInvalid", see meta::v1::cause_type
  std::string field;    ///< "spec.containers[0].name"; "<nil>" if there is none
  std::string message;  ///< `Invalid value: "x": must be ...`, as in the cause

  /// Returns `spec.replicas: Invalid value: "x": must be ...`.
  [[nodiscard]] std::string text() const { return field + ": " + message; }
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

/// Returns `text` quoted like Go's %q.
[[nodiscard]] std::string quoted_go(std::string_view text);

/// Constructors for the common error types. `value` is shown as JSON; `detail` follows after a
/// colon unless it is empty.
[[nodiscard]] FieldError invalid_value(std::string_view field, const Value& value,
                                       std::string_view detail);
[[nodiscard]] FieldError type_invalid(std::string_view field, const Value& value,
                                      std::string_view detail);
[[nodiscard]] FieldError required_value(std::string_view field, std::string_view detail = {});
[[nodiscard]] FieldError duplicate_value(std::string_view field, const Value& value);
[[nodiscard]] FieldError value_not_found(std::string_view field, const Value& value);
[[nodiscard]] FieldError forbidden_value(std::string_view field, std::string_view detail);
[[nodiscard]] FieldError not_supported(std::string_view field, const Value& value,
                                       std::span<const std::string> supported);
/// Returns `Too long: may not be more than <limit> bytes`.
[[nodiscard]] FieldError too_long(std::string_view field, std::size_t limit);
/// Returns `Too many: <actual>: must have at most <limit> items`.
[[nodiscard]] FieldError too_many(std::string_view field, std::size_t actual, std::size_t limit);

/// Returns the 422 Status for these errors: `<Kind>[.<group>] "<name>" is invalid: ...`, one cause
/// each.
[[nodiscard]] meta::v1::Status invalid_status(std::string_view group, std::string_view kind,
                                              std::string_view name,
                                              std::span<const FieldError> errors);

/// Returns a Status `Failure` without details; `reason` may be empty (ER-4).
[[nodiscard]] meta::v1::Status failure_status(int code, std::string_view reason,
                                              std::string_view message);

}  // namespace kube::testkit::detail
