// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/field_error.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <set>

namespace kube::testkit::detail {

namespace {

namespace cause = meta::v1::cause_type;

FieldError make(std::string_view type, std::string_view field, std::string message,
                std::string_view detail) {
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  return {std::string{type}, std::string{field}, std::move(message)};
}

std::string shown(std::string_view what, const Value& value) {
  return fmt::format("{}: {}", what,
                     value.is_string() ? quoted_go(value.as_string()) : encode_json(value));
}

}  // namespace

std::string quoted_go(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\v':
        out += "\\v";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

FieldError invalid_value(std::string_view field, const Value& value, std::string_view detail) {
  return make(cause::kFieldValueInvalid, field, shown("Invalid value", value), detail);
}

FieldError type_invalid(std::string_view field, const Value& value, std::string_view detail) {
  return make(cause::kInvalid, field, shown("Invalid value", value), detail);
}

FieldError required_value(std::string_view field, std::string_view detail) {
  return make(cause::kFieldValueRequired, field, "Required value", detail);
}

FieldError duplicate_value(std::string_view field, const Value& value) {
  return make(cause::kFieldValueDuplicate, field, shown("Duplicate value", value), {});
}

FieldError value_not_found(std::string_view field, const Value& value) {
  return make(cause::kFieldValueNotFound, field, shown("Not found", value), {});
}

FieldError forbidden_value(std::string_view field, std::string_view detail) {
  return make(cause::kForbidden, field, "Forbidden", detail);
}

FieldError not_supported(std::string_view field, const Value& value,
                         std::span<const std::string> supported) {
  std::string detail;
  for (const std::string& text : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += quoted_go(text);
  }
  return make(cause::kFieldValueNotSupported, field, shown("Unsupported value", value), detail);
}

FieldError too_long(std::string_view field, std::size_t limit) {
  return make(cause::kTooLong, field, "Too long",
              fmt::format("may not be more than {} {}", limit, limit == 1 ? "byte" : "bytes"));
}

FieldError too_many(std::string_view field, std::size_t actual, std::size_t limit) {
  return make(cause::kTooMany, field, fmt::format("Too many: {}", actual),
              fmt::format("must have at most {} {}", limit, limit == 1 ? "item" : "items"));
}

meta::v1::Status invalid_status(std::string_view group, std::string_view kind,
                                std::string_view name, std::span<const FieldError> errors) {
  std::string all;
  std::set<std::string> seen;  // the message lists equal errors once; each has its own cause
  std::size_t shown = 0;
  for (const FieldError& error : errors) {
    std::string text = error.text();
    if (!seen.insert(text).second) continue;
    if (shown++ > 0) all += ", ";
    all += text;
  }
  if (shown > 1) all = '[' + all + ']';
  meta::v1::Status status =
      failure_status(422, meta::v1::status_reason::kInvalid,
                     fmt::format("{}{}{} {} is invalid: {}", kind, group.empty() ? "" : ".", group,
                                 quoted_go(name), all));
  auto& details = status.details.emplace();
  details.name = name;
  details.group = group;
  details.kind = kind;
  for (const FieldError& error : errors) {
    auto& entry = details.causes.emplace_back();
    entry.reason = error.type;
    entry.message = error.message;
    entry.field = error.field;
  }
  return status;
}

meta::v1::Status failure_status(int code, std::string_view reason, std::string_view message) {
  meta::v1::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = reason;
  status.message = message;
  return status;
}

}  // namespace kube::testkit::detail
