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

/// What an answer of a server means.
namespace kube::detail {

inline constexpr std::string_view kJsonMedia = "application/json";
inline constexpr std::string_view kProtobufMedia = "application/vnd.kubernetes.protobuf";

/// The cause in the Status of a watch that could not be decoded.
inline constexpr std::string_view kWatchDecodingCause = "ClientWatchDecoding";

/// How the body of that Content-Type is read; nothing if it is neither JSON nor protobuf. An empty one
/// means `assumed`.
[[nodiscard]] std::optional<Format> format_of(std::string_view content_type, Format assumed);

/// The Status that `body` is; null if it is something else.
[[nodiscard]] Ref<meta::v1::Status> find_status(std::string_view body, Format format);
/// Whether a body that begins like this is a Status.
[[nodiscard]] bool begins_status(std::string_view body, Format format);

/// The seconds of a Retry-After header; nothing if there is none, or a date.
[[nodiscard]] std::optional<int> retry_after_of(const Headers& headers);

/// The error that an answer without success stands for, whether or not its body is a Status. `body` is as
/// much of it as was read.
[[nodiscard]] ApiError error_of(const Request& request, const HttpResponseHead& head,
                                std::string_view body);
/// The error of a success that cannot be used: `problem` tells what is wrong with it.
[[nodiscard]] ApiError unexpected_answer(const Request& request, const HttpResponseHead& head,
                                         std::string_view problem);
/// The Status of WA-9.
[[nodiscard]] Ref<meta::v1::Status> watch_decoding_status(std::string_view problem);
/// The Status of a watch that ended for a reason on this side.
[[nodiscard]] Ref<meta::v1::Status> watch_failure_status(std::string_view problem);

}  // namespace kube::detail
