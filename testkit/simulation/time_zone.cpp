// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/time_zone.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "testkit/validation/cron_schedule.hpp"

namespace kube::testkit::detail {
namespace {

constexpr std::size_t kHeader = 44;

std::int64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = (number << 8) | static_cast<unsigned char>(byte);
  if (bytes.size() < 8 && (number & (std::uint64_t{1} << (bytes.size() * 8 - 1))) != 0) {
    number -= std::uint64_t{1} << (bytes.size() * 8);
  }
  return static_cast<std::int64_t>(number);
}

/// The sizes in the header of a block.
struct Counts {
  std::size_t utc_flags;
  std::size_t standard_flags;
  std::size_t leaps;
  std::size_t transitions;
  std::size_t types;
  std::size_t characters;

  [[nodiscard]] std::size_t size(std::size_t time_size) const {
    return transitions * (time_size + 1) + types * 6 + characters + leaps * (time_size + 4) +
           standard_flags + utc_flags;
  }
};

std::optional<Counts> counts_of(std::string_view file) {
  if (file.size() < kHeader || !file.starts_with("TZif")) return std::nullopt;
  std::array<std::size_t, 6> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t number = big_endian(file.substr(20 + i * 4, 4));
    if (number < 0 || number > 1'000'000) return std::nullopt;
    numbers[i] = static_cast<std::size_t>(number);
  }
  return Counts{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

}  // namespace

TimeZone TimeZone::load(std::string_view name) {
  if (name.empty() || !is_known_time_zone(name)) return {};
  std::ifstream file{"/usr/share/zoneinfo/" + std::string{name}, std::ios::binary};
  return parse(std::string{std::istreambuf_iterator<char>{file}, {}});
}

TimeZone TimeZone::parse(std::string_view file) {
  // Version 2 repeats the data with 64-bit times after the block with 32-bit times.
  const auto old = counts_of(file);
  if (!old || file[4] < '2' || file.size() < kHeader + old->size(4)) return {};
  file.remove_prefix(kHeader + old->size(4));
  const auto counts = counts_of(file);
  if (!counts || counts->types == 0 || file.size() < kHeader + counts->size(8)) return {};
  const std::string_view times = file.substr(kHeader);
  const std::string_view indexes = times.substr(counts->transitions * 8);
  const std::string_view types = indexes.substr(counts->transitions);
  TimeZone zone;
  zone.first_offset_ = static_cast<std::int32_t>(big_endian(types.substr(0, 4)));
  for (std::size_t i = 0; i < counts->transitions; ++i) {
    const auto type = static_cast<std::size_t>(static_cast<unsigned char>(indexes[i]));
    if (type >= counts->types) return {};
    zone.transitions_.push_back({big_endian(times.substr(i * 8, 8)),
                                 static_cast<std::int32_t>(big_endian(types.substr(type * 6, 4)))});
  }
  return zone;
}

std::chrono::seconds TimeZone::offset(std::chrono::sys_seconds time) const {
  const std::int64_t at = time.time_since_epoch().count();
  const auto next = std::ranges::upper_bound(transitions_, at, {}, &Transition::at);
  return std::chrono::seconds{next == transitions_.begin() ? first_offset_
                                                           : std::prev(next)->offset};
}

}  // namespace kube::testkit::detail
