// SPDX-License-Identifier: Apache-2.0
#include "server_url.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>

#include <algorithm>

#include <arpa/inet.h>

namespace kube::detail {

namespace {

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

[[noreturn]] void fail(const std::string& host, const char* problem) {
  // The part before an @ may contain a password.
  const std::size_t at = host.rfind('@');
  const std::string shown = at == std::string::npos ? host : "[redacted]" + host.substr(at);
  throw ConfigError("server address " + quoted(shown) + ": " + problem +
                    "; expected something like https://10.0.0.1:6443");
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_plain(c) || kept.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

bool ServerUrl::is_loopback() const {
  const std::size_t end = authority.starts_with('[')
                              ? std::min(authority.find(']') + 1, authority.size())
                              : std::min(authority.find(':'), authority.size());
  const std::string host = lower_case(std::string_view{authority}.substr(0, end));
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

ServerUrl parse_server_url(const Config& config) {
  const std::string host = config.host.empty() ? "localhost" : config.host;
  const TlsConfig& tls = config.tls;
  const bool has_tls = tls.insecure_skip_verify || !tls.ca_file.empty() || !tls.ca_data.empty() ||
                       !tls.certificate_file.empty() || !tls.certificate_data.empty();
  ServerUrl url;
  std::string_view rest = host;
  if (const std::size_t colon = host.find("://"); colon != std::string::npos) {
    url.scheme = lower_case(std::string_view{host}.substr(0, colon));
    if (url.scheme != "http" && url.scheme != "https")
      fail(host, "the scheme is not http or https");
    rest.remove_prefix(colon + 3);
  } else {
    url.scheme = has_tls ? "https" : "http";
    if (rest.find('/') != std::string_view::npos) {
      fail(host, "a host without a scheme has no path");
    }
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.authority = rest.substr(0, slash);
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (url.authority.empty()) fail(host, "there is no host in it");
  if (url.authority.find('@') != std::string::npos) {
    throw ConfigError("the server address has a user name in it; put credentials elsewhere");
  }
  if (std::any_of(host.begin(), host.end(), [](char c) { return c <= ' ' || c == '\x7f'; })) {
    fail(host, "it has white space or control characters in it");
  }
  return url;
}

}  // namespace kube::detail
