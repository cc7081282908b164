// SPDX-License-Identifier: Apache-2.0
#include "query.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace kube::server {

TargetParts split_target(std::string_view target) noexcept {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> found;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = one.find('=');
    if (one.empty()) continue;
    const auto decoded = [](std::string_view text) {
      if (auto sound = detail::percent_decode(text, true)) return *std::move(sound);
      std::string as_it_is{text};
      std::ranges::replace(as_it_is, '+', ' ');
      return as_it_is;
    };
    found.emplace_back(decoded(one.substr(0, equals)),
                       equals == std::string_view::npos ? "" : decoded(one.substr(equals + 1)));
  }
  return found;
}

}  // namespace kube::server
