// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/failures.hpp"

#include "codec/utf8.hpp"
#include <kube/api/meta/v1.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::testkit::detail {

namespace {

using kube::detail::is_utf8;

/// The details of most errors have `resource` under `kind` (ER-2).
ApiError about(int code, std::string_view reason, std::string_view message,
               const GroupResource& resource, std::string_view name) {
  meta::v1::Status status = failure_status(code, reason, message);
  meta::v1::StatusDetails& details = status.details.emplace();
  details.name = name;
  details.group = resource.group;
  details.kind = resource.resource;
  return ApiError{std::move(status)};
}

ApiError plain(int code, std::string_view reason, std::string_view message) {
  return ApiError{failure_status(code, reason, message)};
}

ApiError with_empty_details(int code, std::string_view reason, std::string_view message) {
  meta::v1::Status status = failure_status(code, reason, message);
  status.details.emplace();
  return ApiError{std::move(status)};
}

std::string readable(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  std::string out;
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < kLongest && size < text.size() && !is_utf8(text.substr(0, size))) ++size;
    if (is_utf8(text.substr(0, size))) {
      out += text.substr(0, size);
      text.remove_prefix(size);
    } else {
      out += "\uFFFD";
      text.remove_prefix(1);
    }
  }
  return out;
}

void make_readable(String& text) {
  if (!is_utf8(text.view())) text = readable(text.view());
}

}  // namespace

meta::v1::Status readable(meta::v1::Status status) {
  make_readable(status.message);
  if (!status.details) return status;
  for (String* text : {&status.details->name, &status.details->group, &status.details->kind}) {
    make_readable(*text);
  }
  for (meta::v1::StatusCause& cause : status.details->causes) {
    make_readable(cause.message);
    make_readable(cause.field);
  }
  return status;
}

ApiError bad_request(std::string_view message) { return plain(400, "BadRequest", message); }

ApiError not_found(const GroupResource& resource, std::string_view name) {
  return about(404, "NotFound", fmt::format("{} \"{}\" not found", qualified(resource), name),
               resource, name);
}

ApiError unknown_resource() {
  return with_empty_details(404, "NotFound", "the server could not find the requested resource");
}

ApiError method_not_allowed() {
  return with_empty_details(405, "MethodNotAllowed",
                            "the server does not allow this method on the requested resource");
}

ApiError method_not_supported(const GroupResource& resource, std::string_view verb) {
  return about(
      405, "MethodNotAllowed",
      fmt::format("{} is not supported on resources of kind \"{}\"", verb, qualified(resource)),
      resource, "");
}

ApiError already_exists(const GroupResource& resource, std::string_view name, bool being_deleted) {
  return about(
      409, "AlreadyExists",
      fmt::format("{}{} \"{}\" already exists", being_deleted ? "object is being deleted: " : "",
                  qualified(resource), name),
      resource, name);
}

ApiError conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  return about(
      409, "Conflict",
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, why),
      resource, name);
}

ApiError modified_meanwhile(const GroupResource& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

ApiError forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  const std::string subject =
      name.empty() ? qualified(resource) : fmt::format("{} \"{}\"", qualified(resource), name);
  return about(403, "Forbidden", fmt::format("{} is forbidden: {}", subject, why), resource, name);
}

ApiError invalid(const GroupKind& kind, std::string_view name, std::span<const FieldError> errors) {
  return ApiError{invalid_status(kind.group, kind.kind, name, errors)};
}

ApiError invalid(const GroupKind& kind, std::string_view name, const FieldError& error) {
  return invalid(kind, name, {&error, 1});
}

ApiError not_acceptable(std::string_view accepted, bool by_type) {
  return (by_type ? with_empty_details : plain)(
      406, "NotAcceptable",
      fmt::format("only the following media types are accepted: {}", accepted));
}

ApiError unsupported_media_type(std::string_view accepted) {
  return plain(415, "UnsupportedMediaType",
               fmt::format("the body of the request was in an unknown format - accepted media "
                           "types include: {}",
                           accepted));
}

ApiError unsupported_patch_type() {
  return with_empty_details(415, "UnsupportedMediaType", "415: Unsupported Media Type");
}

ApiError unauthorized() { return plain(401, "Unauthorized", "Unauthorized"); }

ApiError too_many_requests(std::string_view message, int retry_after_seconds) {
  meta::v1::Status status = failure_status(429, "TooManyRequests", message);
  status.details.emplace().retry_after_seconds = retry_after_seconds;
  return ApiError{std::move(status)};
}

ApiError plain_failure(std::string_view message) { return plain(500, "", message); }

ApiError internal_error(std::string_view message) {
  meta::v1::Status status =
      failure_status(500, "InternalError", fmt::format("Internal error occurred: {}", message));
  meta::v1::StatusCause cause;
  cause.message = message;
  status.details.emplace().causes.push_back(std::move(cause));
  return ApiError{std::move(status)};
}

ApiError malformed_version(std::string_view text) {
  return plain_failure(
      invalid_value("resourceVersion", text, "must be an unsigned decimal number of 64 bits")
          .text());
}

ApiError too_large_version(std::uint64_t wanted, std::uint64_t current) {
  meta::v1::Status status = failure_status(
      504, "Timeout",
      fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current));
  meta::v1::StatusDetails& details = status.details.emplace();
  meta::v1::StatusCause cause;
  cause.reason = "ResourceVersionTooLarge";
  cause.message = "Too large resource version";
  details.causes.push_back(std::move(cause));
  details.retry_after_seconds = 1;
  return ApiError{std::move(status)};
}

ApiError expired(std::string_view message) { return plain(410, "Expired", message); }

}  // namespace kube::testkit::detail
