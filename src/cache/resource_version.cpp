// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/resource_version.hpp>

#include <algorithm>

namespace kube {
namespace {

bool is_number(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_zeros(std::string_view number) noexcept {
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

std::partial_ordering compare_resource_versions(std::string_view a, std::string_view b) noexcept {
  if (a == b) return std::partial_ordering::equivalent;
  if (!is_number(a) || !is_number(b)) return std::partial_ordering::unordered;
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::optional<double> resource_version_gauge(std::string_view version) noexcept {
  if (version.empty()) return 0;
  if (!is_number(version)) return std::nullopt;
  constexpr std::size_t kDigits = 15;
  if (version.size() > kDigits) version.remove_prefix(version.size() - kDigits);
  double value = 0;
  for (const char digit : version) value = value * 10 + (digit - '0');
  return value;
}

}  // namespace kube
