// SPDX-License-Identifier: Apache-2.0
#include "connect.hpp"

#include "answer.hpp"

#include <kube/api/validation.hpp>
#include <kube/transport/curl_transport.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

Config with_known_content_types(Config config) {
  for (std::string* text : {&config.content_type, &config.accept}) {
    replace_all(*text, "application/cbor", kJsonMedia);
  }
  if (!format_of(config.content_type, Format::kJson)) {
    throw ConfigError("content type " + quoted(config.content_type) +
                      " cannot be written; use application/json or "
                      "application/vnd.kubernetes.protobuf, or leave it out");
  }
  return config;
}

std::shared_ptr<Credentials> connect_credentials(const Config& config,
                                                 const ClientOptions& options) {
  if (!config.auth_provider.empty()) return make_credentials(config);  // says why that cannot be
  if ((!config.bearer_token.empty() || !config.bearer_token_file.empty()) &&
      !config.username.empty()) {
    throw ConfigError(
        "the user has both a token and a user name with password; remove one of them");
  }
  if (options.credentials) return options.credentials;
  return make_credentials(
      config, {.clock = options.clock, .log = options.log, .environment = options.environment});
}

std::shared_ptr<Transport> connect_transport(const Config& config, const ClientOptions& options,
                                             const ServerUrl& server,
                                             const std::shared_ptr<Credentials>& credentials) {
  if (options.transport) return options.transport;
  return make_curl_transport(with_environment({.base_url = server.str(),
                                               .credentials = credentials,
                                               .proxy_url = config.proxy_url,
                                               .disable_compression = config.disable_compression,
                                               .log = options.log}));
}

}  // namespace kube::detail
