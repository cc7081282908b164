// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request.hpp"

#include <kube/api/errors.hpp>
#include <kube/codec/format.hpp>
#include <kube/object/ref.hpp>
#include <kube/transport/transport.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Interpretation of server responses.
namespace kube::detail {

inline constexpr std::string_view kJsonMedia = "application/json";
inline constexpr std::string_view kProtobufMedia = "application/vnd.kubernetes.protobuf";

/// Cause in the Status of a watch that could not be decoded.
inline constexpr std::string_view kWatchDecodingCause = "ClientWatchDecoding";

/// Returns the format of a body with that Content-Type; nothing if it is neither JSON nor protobuf.
/// If it is empty, `assumed`.
[[nodiscard]] std::optional<Format> format_of(std::string_view content_type, Format assumed);

/// Decodes `body` as a Status; null if it is something else.
[[nodiscard]] Ref<meta::v1::Status> find_status(std::string_view body, Format format);
/// Returns whether a body that begins like this is a Status.
[[nodiscard]] bool begins_status(std::string_view body, Format format);

/// Returns the seconds of a Retry-After header; nothing if it is absent or a date.
[[nodiscard]] std::optional<int> retry_after_of(const Headers& headers);

/// Returns the error for a response that is not a success, whether or not its body is a Status.
/// `body` is the part of it that was read.
[[nodiscard]] ApiError error_of(const Request& request, const HttpResponseHead& head,
                                std::string_view body);
/// Returns the error for a successful response that cannot be used; `problem` describes the reason.
[[nodiscard]] ApiError unexpected_answer(const Request& request, const HttpResponseHead& head,
                                         std::string_view problem);
/// Returns the Status of WA-9.
[[nodiscard]] Ref<meta::v1::Status> watch_decoding_status(std::string_view problem);
/// Returns the Status of a watch that ended for a reason on the client's side.
[[nodiscard]] Ref<meta::v1::Status> watch_failure_status(std::string_view problem);

}  // namespace kube::detail
