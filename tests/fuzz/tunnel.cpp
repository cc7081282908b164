// SPDX-License-Identifier: Apache-2.0
// Input: the answer of a proxy, in chunks. Must yield a tunnel, or an error without the password.
#include <array>
#include <vector>

#include "../../src/transport/tunnel.hpp"
#include "exchanges.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kube;
  if (size == 0) return 0;
  static const auto origins = [] {
    std::vector<detail::Origin> made;
    for (const char* proxy :
         {"http://proxy", "http://me:secret@proxy", "socks5://proxy", "socks5://me:secret@proxy"}) {
      made.push_back(detail::parse_origin({.base_url = "https://api.example", .proxy_url = proxy}));
    }
    return made;
  }();
  // If the proxy's own answer contains the password, the error may, too.
  const bool proxy_says_it = fuzz::text_of(data, size).find("secret") != std::string_view::npos;
  const auto tunnel = detail::make_tunnel(origins[data[0] % origins.size()]);
  bool free = false;
  try {
    fuzz::in_chunks(fuzz::text_of(data + 1, size - 1), data[0], [&](std::string_view chunk) {
      if (free) return;
      tunnel->sent(tunnel->output().size());
      free = tunnel->receive(chunk);
      fuzz::require(tunnel->output().size() < 1000, "what is said is bounded");
    });
  } catch (const TransportError& error) {
    fuzz::require(error.kind() == TransportError::Kind::kProxy, "the proxy is to blame");
    const bool shown = std::string_view{error.what()}.find("secret") != std::string_view::npos;
    fuzz::require(proxy_says_it || !shown, "the password is not shown");
    fuzz::require_printable(error.what());
  }
  return 0;
}
