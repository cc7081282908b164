// SPDX-License-Identifier: Apache-2.0
// Input: a request to the manager's endpoint, a query, and a listen address.
#include "fuzz.hpp"
#include "http_request.hpp"

#include <kube/base/error.hpp>

#include <algorithm>
#include <string>
#include <variant>

namespace {

using kube::fuzz::require;

void try_request(std::string_view text) {
  const auto parsed = kube::detail::parse_request(text);
  if (const auto* refusal = std::get_if<kube::detail::HttpRefusal>(&parsed)) {
    require(refusal->reply.status >= 400, "a refusal has the status of one");
    const std::string answer = kube::detail::encode_reply(refusal->reply, refusal->head_only);
    require(answer.starts_with("HTTP/1.1 "), "a refusal can be sent");
    return;
  }
  const auto& question = std::get<kube::detail::HttpQuestion>(parsed);
  require(question.path.starts_with('/'), "a path begins with a slash");
  require(question.path.find_first_of("? \r\n") == std::string_view::npos, "a path is one word");
  require(std::ranges::all_of(question.query, [](char c) { return c > ' ' && c <= '~'; }),
          "a query has no control characters");
  for (const auto& [name, value] : kube::detail::parse_query(question.query)) {
    require(name.size() + value.size() <= question.query.size(), "decoding makes nothing longer");
  }
}

void try_address(std::string_view text) {
  try {
    const auto address = kube::detail::parse_listen_address(std::string{text});
    require(!address.port.empty() && address.port.size() <= 20, "there is a port");
    require(std::stoull(address.port) <= 65535, "the port is one");
  } catch (const kube::Error& error) {
    const std::string_view message = error.what();
    require(std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; }),
            "nothing of the address reaches a terminal as it is");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kube::fuzz::text_of(data, size);
  try_request(text);
  static_cast<void>(kube::detail::parse_query(text));
  try_address(text.substr(0, 200));
  return 0;
}
