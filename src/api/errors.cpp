// SPDX-License-Identifier: Apache-2.0
#include <kube/api/errors.hpp>

#include <kube/api/group_version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kube {

namespace reason = meta::v1::status_reason;

namespace {

std::string describe(const meta::v1::Status& status) {
  if (!status.message.empty()) return status.message.str();
  std::string text = "the server answered with code " + std::to_string(status.code);
  if (!status.reason.empty()) text += " (" + status.reason.str() + ')';
  return text;
}

meta::v1::Status status_of(int code, std::string_view message) {
  return {.status = "Failure", .message = message, .code = code};
}

bool is_known(std::string_view text) noexcept {
  constexpr std::array kKnown{reason::kUnauthorized,
                              reason::kForbidden,
                              reason::kNotFound,
                              reason::kAlreadyExists,
                              reason::kConflict,
                              reason::kGone,
                              reason::kInvalid,
                              reason::kServerTimeout,
                              reason::kTimeout,
                              reason::kTooManyRequests,
                              reason::kBadRequest,
                              reason::kMethodNotAllowed,
                              reason::kNotAcceptable,
                              reason::kRequestEntityTooLarge,
                              reason::kUnsupportedMediaType,
                              reason::kInternalError,
                              reason::kExpired,
                              reason::kServiceUnavailable};
  return std::find(kKnown.begin(), kKnown.end(), text) != kKnown.end();
}

/// The reason decides; the code only counts if the reason is unknown.
bool matches(const ApiError& error, std::string_view wanted, int code) noexcept {
  return error.reason() == wanted || (error.code() == code && !is_known(error.reason()));
}

}  // namespace

ApiError::ApiError(meta::v1::Status status) : Error(describe(status)), status_(std::move(status)) {}

ApiError::ApiError(int code, std::string_view message) : ApiError(status_of(code, message)) {}

std::optional<std::chrono::seconds> ApiError::retry_after() const noexcept {
  if (!status_.details) return std::nullopt;
  const std::chrono::seconds wait{status_.details->retry_after_seconds};
  // A server timeout may be retried at once.
  if (wait.count() > 0 || reason() == reason::kServerTimeout) return wait;
  return std::nullopt;
}

bool is_not_found(const ApiError& error) noexcept { return matches(error, reason::kNotFound, 404); }
bool is_already_exists(const ApiError& error) noexcept {
  return error.reason() == reason::kAlreadyExists;
}
bool is_conflict(const ApiError& error) noexcept { return matches(error, reason::kConflict, 409); }
bool is_invalid(const ApiError& error) noexcept { return matches(error, reason::kInvalid, 422); }
bool is_gone(const ApiError& error) noexcept { return matches(error, reason::kGone, 410); }
bool is_resource_expired(const ApiError& error) noexcept {
  return error.reason() == reason::kExpired;
}
bool is_not_acceptable(const ApiError& error) noexcept {
  return matches(error, reason::kNotAcceptable, 406);
}
bool is_unsupported_media_type(const ApiError& error) noexcept {
  return matches(error, reason::kUnsupportedMediaType, 415);
}
bool is_method_not_supported(const ApiError& error) noexcept {
  return matches(error, reason::kMethodNotAllowed, 405);
}
bool is_service_unavailable(const ApiError& error) noexcept {
  return matches(error, reason::kServiceUnavailable, 503);
}
bool is_bad_request(const ApiError& error) noexcept {
  return matches(error, reason::kBadRequest, 400);
}
bool is_unauthorized(const ApiError& error) noexcept {
  return matches(error, reason::kUnauthorized, 401);
}
bool is_forbidden(const ApiError& error) noexcept {
  return matches(error, reason::kForbidden, 403);
}
bool is_timeout(const ApiError& error) noexcept { return matches(error, reason::kTimeout, 504); }
bool is_server_timeout(const ApiError& error) noexcept {
  return error.reason() == reason::kServerTimeout;
}
bool is_internal_error(const ApiError& error) noexcept {
  return matches(error, reason::kInternalError, 500);
}
bool is_too_many_requests(const ApiError& error) noexcept {
  return error.reason() == reason::kTooManyRequests || error.code() == 429;
}
bool is_request_entity_too_large(const ApiError& error) noexcept {
  return error.reason() == reason::kRequestEntityTooLarge || error.code() == 413;
}
bool is_unexpected_server_error(const ApiError& error) noexcept {
  return has_cause(error, meta::v1::cause_type::kUnexpectedServerResponse);
}
bool is_too_large_resource_version(const ApiError& error) noexcept {
  return error.code() == 504 && has_cause(error, meta::v1::cause_type::kResourceVersionTooLarge);
}

bool has_cause(const ApiError& error, std::string_view cause) noexcept {
  const auto& details = error.status().details;
  return details &&
         std::any_of(details->causes.begin(), details->causes.end(),
                     [&](const meta::v1::StatusCause& one) { return one.reason == cause; });
}

ApiError not_found_error(const GroupResource& resource, std::string_view name) {
  meta::v1::Status status;
  status.status = "Failure";
  status.code = 404;
  status.reason = meta::v1::status_reason::kNotFound;
  auto& details = status.details.emplace();
  details.group = resource.group;
  details.kind = resource.resource;
  details.name = name;
  status.message = fmt::format("{} \"{}\" not found", to_string(resource), name);
  return ApiError{std::move(status)};
}

}  // namespace kube
