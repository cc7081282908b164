// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/base/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// An unsuccessful response of the API server, with the Status that it sent.
///
/// Use the predicates below to classify it. They are those of client-go (apierrors.IsNotFound,
/// ...): they check the reason first, and the HTTP code only if a server, or a proxy in front of
/// it, sent no reason that Kubernetes knows.
class ApiError : public Error {
 public:
  explicit ApiError(meta::v1::Status status);
  /// For a response without a Status: the HTTP code and the text of the body.
  ApiError(int code, std::string_view message);

  [[nodiscard]] int code() const noexcept { return status_.code; }
  /// One of meta::v1::status_reason, or any other text that a server sends.
  [[nodiscard]] std::string_view reason() const noexcept { return status_.reason.view(); }
  [[nodiscard]] const meta::v1::Status& status() const noexcept { return status_; }
  /// The delay that the server requests before the next attempt.
  [[nodiscard]] std::optional<std::chrono::seconds> retry_after() const noexcept;

 private:
  meta::v1::Status status_;
};

struct GroupResource;
/// Returns the error of an API server for a missing object: `pods "web-0" not found`.
[[nodiscard]] ApiError not_found_error(const GroupResource& resource, std::string_view name);

/// Predicates that classify an error by its reason; the HTTP code counts only if there is no known
/// reason.
[[nodiscard]] bool is_not_found(const ApiError& error) noexcept;
[[nodiscard]] bool is_already_exists(const ApiError& error) noexcept;
[[nodiscard]] bool is_conflict(const ApiError& error) noexcept;
[[nodiscard]] bool is_invalid(const ApiError& error) noexcept;
[[nodiscard]] bool is_gone(const ApiError& error) noexcept;
/// The resourceVersion or continue token is too old: list again.
[[nodiscard]] bool is_resource_expired(const ApiError& error) noexcept;
[[nodiscard]] bool is_not_acceptable(const ApiError& error) noexcept;
[[nodiscard]] bool is_unsupported_media_type(const ApiError& error) noexcept;
[[nodiscard]] bool is_method_not_supported(const ApiError& error) noexcept;
[[nodiscard]] bool is_service_unavailable(const ApiError& error) noexcept;
[[nodiscard]] bool is_bad_request(const ApiError& error) noexcept;
[[nodiscard]] bool is_unauthorized(const ApiError& error) noexcept;
[[nodiscard]] bool is_forbidden(const ApiError& error) noexcept;
/// The request may or may not have been executed.
[[nodiscard]] bool is_timeout(const ApiError& error) noexcept;
/// The server could not complete the request in time; a retry is safe.
[[nodiscard]] bool is_server_timeout(const ApiError& error) noexcept;
[[nodiscard]] bool is_internal_error(const ApiError& error) noexcept;
[[nodiscard]] bool is_too_many_requests(const ApiError& error) noexcept;
[[nodiscard]] bool is_request_entity_too_large(const ApiError& error) noexcept;
/// The response is not from an API server, or not in its format.
[[nodiscard]] bool is_unexpected_server_error(const ApiError& error) noexcept;
/// The requested resourceVersion is newer than the server's.
[[nodiscard]] bool is_too_large_resource_version(const ApiError& error) noexcept;
/// True if the details of the Status list a cause of this type, such as "FieldValueInvalid" or
/// "DisruptionBudget".
[[nodiscard]] bool has_cause(const ApiError& error, std::string_view cause) noexcept;

}  // namespace kube
