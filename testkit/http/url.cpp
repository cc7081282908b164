// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/url.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

std::optional<std::int64_t> integer_parameter(const Query& query, std::string_view name) {
  if (!query.has(name)) return std::nullopt;
  const std::string_view value = query.text(name);
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc{} || end != value.data() + value.size()) {
    throw bad_request(
        fmt::format("parameter {}: {} is not an integer", name, kube::detail::quoted(value)));
  }
  return number;
}

RequestUrl RequestUrl::parse(std::string_view target) {
  const std::size_t question = std::min(target.find('?'), target.size());
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
  if (question < target.size()) url.query = Query{target.substr(question + 1)};
  return url;
}

}  // namespace kube::testkit::detail
