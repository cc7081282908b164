// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// A time zone of the system's database: the UTC offset at any time.
class TimeZone {
 public:
  /// Constructs UTC.
  TimeZone() = default;
  /// Reads a zone such as "Europe/Berlin". Returns UTC if the database does not have it.
  static TimeZone load(std::string_view name);
  /// Parses a file of the database (RFC 9636). Returns UTC if it is malformed.
  static TimeZone parse(std::string_view file);

  /// Returns the offset from UTC at that time.
  [[nodiscard]] std::chrono::seconds offset(std::chrono::sys_seconds time) const;

 private:
  struct Transition {
    std::int64_t at;
    std::int32_t offset;
  };
  std::int32_t first_offset_ = 0;
  std::vector<Transition> transitions_;  ///< sorted by time
};

}  // namespace kube::testkit::detail
