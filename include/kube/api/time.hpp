// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube {

struct LeafOperations;

/// An instant with a precision of one second, RFC 3339 in JSON; or unset, which Kubernetes
/// represents by the zero time (the first second of year one).
class Time {
 public:
  constexpr Time() noexcept = default;
  Time(std::chrono::system_clock::time_point point) noexcept;  // NOLINT: implicit
  /// Throws std::invalid_argument with `text` if it is not RFC 3339.
  static Time parse(std::string_view text);
  /// Returns the instant that is `seconds` after 1970-01-01T00:00:00Z.
  static Time from_unix(std::int64_t seconds) noexcept;
  /// Returns the instant with this stored value: seconds since 0001-01-01T00:00:00Z, 0 for unset.
  static constexpr Time from_bits(std::int64_t seconds_since_year_one) noexcept {
    Time time;
    time.seconds_ = seconds_since_year_one;
    return time;
  }

  [[nodiscard]] constexpr bool is_set() const noexcept { return seconds_ != 0; }
  constexpr explicit operator bool() const noexcept { return is_set(); }
  [[nodiscard]] std::int64_t unix_seconds() const noexcept;
  [[nodiscard]] std::chrono::system_clock::time_point time_point() const noexcept;
  /// Returns "2026-01-31T12:00:00Z"; empty if unset.
  [[nodiscard]] std::string str() const;

  friend constexpr auto operator<=>(Time a, Time b) noexcept = default;

 private:
  std::int64_t seconds_ = 0;  // since 0001-01-01T00:00:00Z
};

/// An instant with a precision of one microsecond; or unset.
class MicroTime {
 public:
  constexpr MicroTime() noexcept = default;
  MicroTime(std::chrono::system_clock::time_point point) noexcept;  // NOLINT
  /// Throws std::invalid_argument with `text` if it is not RFC 3339.
  static MicroTime parse(std::string_view text);
  /// Returns the instant with this stored value: microseconds since 0001-01-01T00:00:00Z, 0 for
  /// unset.
  static constexpr MicroTime from_bits(std::int64_t micros_since_year_one) noexcept {
    MicroTime time;
    time.micros_ = micros_since_year_one;
    return time;
  }

  [[nodiscard]] constexpr bool is_set() const noexcept { return micros_ != 0; }
  constexpr explicit operator bool() const noexcept { return is_set(); }
  [[nodiscard]] std::chrono::system_clock::time_point time_point() const noexcept;
  /// Returns "2026-01-31T12:00:00.000000Z"; empty if unset.
  [[nodiscard]] std::string str() const;

  friend constexpr auto operator<=>(MicroTime a, MicroTime b) noexcept = default;

 private:
  std::int64_t micros_ = 0;  // since 0001-01-01T00:00:00Z
};

/// A length of time, "1h30m" in JSON.
class Duration {
 public:
  constexpr Duration() noexcept = default;
  constexpr Duration(std::chrono::nanoseconds length) noexcept  // NOLINT: implicit, like chrono
      : nanoseconds_(length.count()) {}
  /// Parses Go's syntax: "1h30m", "300ms". Throws std::invalid_argument with `text` if it is
  /// malformed or out of range.
  static Duration parse(std::string_view text);

  [[nodiscard]] constexpr std::chrono::nanoseconds length() const noexcept {
    return std::chrono::nanoseconds{nanoseconds_};
  }
  /// Returns the length in Go's syntax: "1h30m0s", "1.5ms", "0s".
  [[nodiscard]] std::string str() const;

  friend constexpr auto operator<=>(Duration a, Duration b) noexcept = default;

 private:
  std::int64_t nanoseconds_ = 0;
};

namespace detail {
extern const LeafOperations kTimeOperations;
extern const LeafOperations kMicroTimeOperations;
extern const LeafOperations kDurationOperations;
template <>
inline constexpr bool kStoredInline<Time> = true;
template <>
inline constexpr bool kStoredInline<MicroTime> = true;
template <>
inline constexpr bool kStoredInline<Duration> = true;

inline constexpr Type kTimeType{.kind = Kind::kLeaf,
                                .flags = Type::kVolatile,
                                .size = 8,
                                .name = "RFC 3339 time",
                                .element = &kScalarType<std::int64_t>,
                                .leaf = &kTimeOperations};
inline constexpr Type kMicroTimeType{.kind = Kind::kLeaf,
                                     .flags = Type::kVolatile,
                                     .size = 8,
                                     .name = "RFC 3339 time",
                                     .element = &kScalarType<std::int64_t>,
                                     .leaf = &kMicroTimeOperations};
inline constexpr Type kDurationType{.kind = Kind::kLeaf,
                                    .size = 8,
                                    .name = "duration",
                                    .element = &kScalarType<std::int64_t>,
                                    .leaf = &kDurationOperations};
}  // namespace detail

template <>
struct TypeOf<Time> {
  static constexpr const Type& value = detail::kTimeType;
};
template <>
struct TypeOf<MicroTime> {
  static constexpr const Type& value = detail::kMicroTimeType;
};
template <>
struct TypeOf<Duration> {
  static constexpr const Type& value = detail::kDurationType;
};

}  // namespace kube
