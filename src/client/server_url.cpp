// SPDX-License-Identifier: Apache-2.0
#include "server_url.hpp"

#include <kube/api/validation.hpp>

#include <string>

namespace kube::detail {

namespace {

[[noreturn]] void fail(const std::string& host, const char* problem) {
  // The part before an @ may contain a password.
  const std::size_t at = host.rfind('@');
  const std::string shown = at == std::string::npos ? host : "[redacted]" + host.substr(at);
  throw ConfigError("server address " + quoted(shown) + ": " + problem +
                    "; expected something like https://10.0.0.1:6443");
}

bool has_tls(const TlsConfig& tls) {
  return tls.insecure_skip_verify || !tls.ca_file.empty() || !tls.ca_data.empty() ||
         !tls.certificate_file.empty() || !tls.certificate_data.empty();
}

}  // namespace

Url parse_server_url(const Config& config) {
  const std::string host = config.host.empty() ? "localhost" : config.host;
  const UrlParts parts = split_url(host);
  if (parts.user_info) {
    throw ConfigError("the server address has a user name in it; put credentials elsewhere");
  }
  if (!parts.scheme && !parts.path.empty()) fail(host, "a host without a scheme has no path");
  Url url;
  try {
    url = parse_url(host, has_tls(config.tls) ? "https" : "http");
  } catch (const UrlError& error) {
    fail(host, error.what());
  }
  if (url.scheme != "http" && url.scheme != "https") fail(host, "the scheme is not http or https");
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

}  // namespace kube::detail
