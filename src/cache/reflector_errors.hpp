// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

/// What the errors of a source mean for a reflector.
namespace kube::detail {

/// The version asked for is too old: only a new list helps.
[[nodiscard]] bool is_expired(const std::exception& error) noexcept;
/// The version asked for is not there yet: another server may be ahead of this one.
[[nodiscard]] bool is_too_large_version(const std::exception& error) noexcept;
/// Nobody listens, or the server has too much to do: the same request again, later.
[[nodiscard]] bool is_refused(const std::exception& error) noexcept;
[[nodiscard]] bool is_throttled(const std::exception& error) noexcept;
[[nodiscard]] bool is_internal(const std::exception& error) noexcept;
/// The connection was lost or timed out, which is how watches end.
[[nodiscard]] bool is_end_of_stream(const std::exception& error) noexcept;

}  // namespace kube::detail
