// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/group_version.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "testkit/validation/field_error.hpp"

/// The errors of an API server, with its texts (ER-1, ER-2). All are thrown as ApiError.
namespace kube::testkit::detail {

[[nodiscard]] ApiError bad_request(std::string_view message);
[[nodiscard]] ApiError not_found(const GroupResource& resource, std::string_view name);
/// `the server could not find the requested resource` (RQ-4).
[[nodiscard]] ApiError unknown_resource();
[[nodiscard]] ApiError method_not_allowed();
/// For custom resources; the message names the verb.
[[nodiscard]] ApiError method_not_supported(const GroupResource& resource, std::string_view verb);
[[nodiscard]] ApiError already_exists(const GroupResource& resource, std::string_view name,
                                      bool being_deleted);
[[nodiscard]] ApiError conflict(const GroupResource& resource, std::string_view name,
                                std::string_view why);
/// The object was modified after the resourceVersion in the request (UP-2).
[[nodiscard]] ApiError modified_meanwhile(const GroupResource& resource, std::string_view name);
[[nodiscard]] ApiError forbidden(const GroupResource& resource, std::string_view name,
                                 std::string_view why);
[[nodiscard]] ApiError invalid(const GroupKind& kind, std::string_view name,
                               std::span<const FieldError> errors);
[[nodiscard]] ApiError invalid(const GroupKind& kind, std::string_view name,
                               const FieldError& error);
/// `by_type`: none of the media types is known, which is detected before the requested kind is
/// considered.
[[nodiscard]] ApiError not_acceptable(std::string_view accepted, bool by_type = false);
[[nodiscard]] ApiError unsupported_media_type(std::string_view accepted);
[[nodiscard]] ApiError unsupported_patch_type();
[[nodiscard]] ApiError unauthorized();
[[nodiscard]] ApiError too_many_requests(std::string_view message, int retry_after_seconds);
/// 500 with an empty reason (ER-4).
[[nodiscard]] ApiError plain_failure(std::string_view message);
[[nodiscard]] ApiError internal_error(std::string_view message);
/// A resourceVersion that is not a number, where that results in a 500 (RV-7).
[[nodiscard]] ApiError malformed_version(std::string_view text);
/// A resourceVersion that is not reached in time (RV-8).
[[nodiscard]] ApiError too_large_version(std::uint64_t wanted, std::uint64_t current);
/// 410 Expired.
[[nodiscard]] ApiError expired(std::string_view message);

/// Replaces every invalid UTF-8 byte by U+FFFD: a Status may quote texts of a request, but a
/// response must be valid JSON.
[[nodiscard]] meta::v1::Status readable(meta::v1::Status status);

/// Returns "pods" or "deployments.apps".
[[nodiscard]] inline std::string qualified(const GroupResource& resource) {
  return to_string(resource);
}

}  // namespace kube::testkit::detail
