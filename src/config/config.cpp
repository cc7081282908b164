// SPDX-License-Identifier: Apache-2.0
#include <kube/config/config.hpp>

#include "files.hpp"

#include "base/url.hpp"
#include <kube/api/time_text.hpp>
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

namespace kube {

namespace {

constexpr std::size_t kShownOfCertificate = 32;

std::string secret(std::string_view value) { return value.empty() ? "\"\"" : "[redacted]"; }

std::string shortened(std::string_view certificate) {
  if (certificate.size() <= kShownOfCertificate) return fmt::format("{:?}", certificate);
  return fmt::format("{:?}... ({} bytes)", certificate.substr(0, kShownOfCertificate),
                     certificate.size());
}

std::string to_string(const ExecConfig& exec) {
  std::string args;
  for (const std::string& arg : exec.args)
    args += fmt::format("{}{:?}", args.empty() ? "" : " ", arg);
  std::string env;
  for (const auto& [name, value] : exec.env) {
    env += fmt::format("{}{}={}", env.empty() ? "" : " ", name, secret(value));
  }
  return fmt::format(
      "{{api_version: {:?}, command: {:?}, args: [{}], env: [{}], provide_cluster_info: {}, "
      "cluster_config: {}}}",
      exec.api_version, exec.command, args, env, exec.provide_cluster_info,
      secret(exec.cluster_config));
}

std::string to_string(const Impersonation& who) {
  std::vector<std::string> extra;
  for (const auto& [key, values] : who.extra) {
    extra.push_back(fmt::format("{}={}", key, fmt::join(values, "|")));
  }
  return fmt::format("{{user: {:?}, uid: {:?}, groups: [{}], extra: [{}]}}", who.user, who.uid,
                     fmt::join(who.groups, " "), fmt::join(extra, " "));
}

/// The characters of RFC 7230, except '%', which starts an escape here.
bool is_plain_in_header_name(char c) {
  constexpr std::string_view kMarks = "!#$&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

std::string escaped_header_key(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (is_plain_in_header_name(c)) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace

ConfigError::ConfigError(const std::string& problem) : ConfigError(std::vector{problem}) {}
ConfigError::ConfigError(std::vector<std::string> problems)
    : Error(fmt::format("{}", fmt::join(problems, "; "))), problems_(std::move(problems)) {}

std::string to_string(const Config& config) {
  const TlsConfig& tls = config.tls;
  return fmt::format(
      "{{host: {:?}, tls: {{insecure_skip_verify: {}, server_name: {:?}, ca_file: {:?}, ca_data: "
      "{}, "
      "certificate_file: {:?}, certificate_data: {}, key_file: {:?}, key_data: {}}}, "
      "bearer_token: {}, bearer_token_file: {:?}, username: {:?}, password: {}, impersonate: {}, "
      "exec: {}, auth_provider: {:?}, proxy_url: {:?}, disable_compression: {}, "
      "default_namespace: {:?}, user_agent: {:?}, qps: {}, burst: {}, timeout: {}ms, "
      "content_type: {:?}, accept: {:?}}}",
      detail::redacted_url(config.host), tls.insecure_skip_verify, tls.server_name, tls.ca_file,
      shortened(tls.ca_data), tls.certificate_file, shortened(tls.certificate_data), tls.key_file,
      secret(tls.key_data), secret(config.bearer_token), config.bearer_token_file, config.username,
      secret(config.password), to_string(config.impersonate),
      config.exec ? to_string(*config.exec) : "none", config.auth_provider,
      detail::redacted_url(config.proxy_url), config.disable_compression, config.default_namespace,
      config.user_agent, config.qps, config.burst, config.timeout.count(), config.content_type,
      config.accept);
}

std::ostream& operator<<(std::ostream& out, const Config& config) {
  return out << to_string(config);
}

std::vector<std::pair<std::string, std::string>> impersonation_headers(const Impersonation& who) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (who.user.empty()) {
    if (who == Impersonation{}) return headers;
    throw ConfigError("impersonation of a uid, groups or extra fields needs a user");
  }
  const auto add = [&headers](std::string name, const std::string& value) {
    if (!detail::is_header_value(value)) {
      throw ConfigError("impersonation: " + name + " has a value with control characters");
    }
    headers.emplace_back(std::move(name), value);
  };
  add("Impersonate-User", who.user);
  if (!who.uid.empty()) add("Impersonate-Uid", who.uid);
  for (const std::string& group : who.groups) add("Impersonate-Group", group);
  for (const auto& [key, values] : who.extra) {
    for (const std::string& value : values) {
      add("Impersonate-Extra-" + escaped_header_key(key), value);
    }
  }
  return headers;
}

std::chrono::milliseconds parse_timeout(std::string_view text) {
  constexpr std::int64_t kMaxSeconds = INT64_MAX / 1'000'000'000;
  std::int64_t seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code == std::errc{} && end == text.data() + text.size() && seconds >= 0 &&
      seconds <= kMaxSeconds) {
    return std::chrono::seconds{seconds};
  }
  const std::optional<std::int64_t> nanoseconds = time_text::parse_duration(text);
  if (!nanoseconds || *nanoseconds < 0) {
    throw ConfigError("invalid timeout " + detail::quoted(text) +
                      ": expected whole seconds (30) or a duration (30s, 2m, 1h30m)");
  }
  // Rounded up: zero would disable the timeout.
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds{*nanoseconds});
}

}  // namespace kube
