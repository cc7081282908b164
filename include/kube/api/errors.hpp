// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/base/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// An answer of the API server that is not success, with the Status it sent.
///
/// Ask the predicates below what it means; they are client-go's and look at the reason first, and at the
/// HTTP code where a server (or a proxy in front of it) gave no reason that Kubernetes knows.
class ApiError : public Error {
 public:
  explicit ApiError(meta::v1::Status status);
  /// For an answer without a Status: `code` and what there was to read.
  ApiError(int code, std::string_view message);

  [[nodiscard]] int code() const noexcept { return status_.code; }
  /// One of meta::v1::status_reason, or anything else that a server says.
  [[nodiscard]] std::string_view reason() const noexcept { return status_.reason.view(); }
  [[nodiscard]] const meta::v1::Status& status() const noexcept { return status_; }
  /// How long the server asks to wait before the next try.
  [[nodiscard]] std::optional<std::chrono::seconds> retry_after() const noexcept;

 private:
  meta::v1::Status status_;
};

struct GroupResource;
/// The error of an API server that does not have an object: `pods "web-0" not found`.
[[nodiscard]] ApiError not_found_error(const GroupResource& resource, std::string_view name);

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
/// The request may or may not have been carried out.
[[nodiscard]] bool is_timeout(const ApiError& error) noexcept;
/// The server could not do it in time and says that trying again is safe.
[[nodiscard]] bool is_server_timeout(const ApiError& error) noexcept;
[[nodiscard]] bool is_internal_error(const ApiError& error) noexcept;
[[nodiscard]] bool is_too_many_requests(const ApiError& error) noexcept;
[[nodiscard]] bool is_request_entity_too_large(const ApiError& error) noexcept;
/// The answer did not come from an API server, or not in its form.
[[nodiscard]] bool is_unexpected_server_error(const ApiError& error) noexcept;
/// The resourceVersion asked for lies in the server's future.
[[nodiscard]] bool is_too_large_resource_version(const ApiError& error) noexcept;
[[nodiscard]] bool has_cause(const ApiError& error, std::string_view cause) noexcept;

}  // namespace kube
