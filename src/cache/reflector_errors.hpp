// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

/// Classifies the errors of a source for the reflector.
namespace kube::detail {

/// The requested version is too old (410 Gone): a new list is needed.
[[nodiscard]] bool is_expired(const std::exception& error) noexcept;
/// The requested version is in the future: another server may be ahead of this one.
[[nodiscard]] bool is_too_large_version(const std::exception& error) noexcept;
/// Connection refused, or the server is overloaded: repeat the same request later.
[[nodiscard]] bool is_refused(const std::exception& error) noexcept;
[[nodiscard]] bool is_throttled(const std::exception& error) noexcept;
[[nodiscard]] bool is_internal(const std::exception& error) noexcept;
/// The connection was lost or timed out, which is how watches end normally.
[[nodiscard]] bool is_end_of_stream(const std::exception& error) noexcept;

}  // namespace kube::detail
