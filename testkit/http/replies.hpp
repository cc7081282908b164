// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/handler.hpp"
#include "server/message.hpp"

#include <string>
#include <string_view>

/// Responses of the HTTP front itself.
namespace kube::testkit::detail {

using server::BodySource;
using server::Reply;

/// Compresses `bytes` as one gzip member, level 1.
[[nodiscard]] std::string gzip(std::string_view bytes);
/// Creates a plain-text response; the connection is closed after it.
[[nodiscard]] Reply text_reply(int status, std::string body);
/// Creates a response with a Status object; the connection is closed after it.
[[nodiscard]] Reply status_reply(int status, std::string_view reason, std::string_view message);
/// Creates the response to a request that the server refuses (RQ-7, RQ-12).
[[nodiscard]] Reply refusal_reply(server::Refusal why, const server::Limits& limits);

}  // namespace kube::testkit::detail
