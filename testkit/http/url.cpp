// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/url.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

Query::Query(std::string_view encoded) {
  while (!encoded.empty()) {
    const std::string_view pair = encoded.substr(0, encoded.find('&'));
    encoded.remove_prefix(std::min(encoded.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = kube::detail::percent_decode(pair.substr(0, equals), true);
    auto value = kube::detail::percent_decode(
        equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1), true);
    if (name && value) values_.emplace_back(std::move(*name), std::move(*value));
  }
}

std::string_view Query::text(std::string_view name) const noexcept {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::has(std::string_view name) const noexcept {
  return std::ranges::any_of(values_, [&](const auto& pair) { return pair.first == name; });
}

bool Query::flag(std::string_view name) const noexcept {
  if (!has(name)) return false;
  const std::string_view value = text(name);
  return value != "0" && !kube::detail::equals_ignoring_case(value, "false");
}

std::optional<std::int64_t> Query::integer(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const std::string_view value = text(name);
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc{} || end != value.data() + value.size()) {
    throw bad_request(
        fmt::format("parameter {}: {} is not an integer", name, kube::detail::quoted(value)));
  }
  return number;
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

RequestUrl RequestUrl::parse(std::string_view target) {
  const std::size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  RequestUrl url;
  auto decoded = kube::detail::percent_decode(path, false);
  if (!decoded || path.empty() || path[0] != '/') throw bad_request("malformed request target");
  url.path = std::move(*decoded);
  for (std::string_view rest = path.substr(1); !rest.empty();) {
    const std::size_t slash = rest.find('/');
    url.segments.push_back(*kube::detail::percent_decode(rest.substr(0, slash), false));
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  if (question != std::string_view::npos) url.query = Query{target.substr(question + 1)};
  return url;
}

}  // namespace kube::testkit::detail
