// SPDX-License-Identifier: Apache-2.0
#include "url.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace kube::detail {

namespace {

constexpr std::string_view kSeparator = "://";

}  // namespace

std::string url_scheme(std::string_view url) {
  const std::size_t end = url.find(kSeparator);
  if (end == std::string_view::npos) return {};
  return lower_case(url.substr(0, end));
}

std::string server_url(std::string_view url) {
  const std::size_t separator = url.find(kSeparator);
  if (separator == std::string_view::npos) return std::string{url};
  const std::size_t path = url.find_first_of("/?#", separator + kSeparator.size());
  const std::size_t end = std::min(url.find_first_of("?#", path), url.size());
  if (path == std::string_view::npos || end < path + 2) return std::string{url};
  return std::string{url.substr(0, end)};
}

std::string redacted_url(std::string_view url) {
  const std::size_t separator = url.find(kSeparator);
  const std::size_t begin = separator == std::string_view::npos ? 0 : separator + kSeparator.size();
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string{url};
  std::string text{url.substr(0, begin)};
  text += authority.substr(0, std::min(authority.find(':'), at));
  text += ":[redacted]";
  text += url.substr(begin + at);
  return text;
}

}  // namespace kube::detail
