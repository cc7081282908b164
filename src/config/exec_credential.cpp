// SPDX-License-Identifier: Apache-2.0
#include "exec_credential.hpp"

#include "document.hpp"
#include "files.hpp"

#include "config/pem.hpp"
#include <kube/api/time_text.hpp>
#include <kube/api/validation.hpp>
#include <kube/codec/base64.hpp>
#include <kube/codec/json.hpp>

namespace kube::detail {

namespace {

ExecCredential read_status(const ObjectReader& status) {
  ExecCredential credential{.token = status.text("token"),
                            .certificate = status.text("clientCertificateData"),
                            .key = status.text("clientKeyData")};
  if (credential.token.empty() && credential.certificate.empty() && credential.key.empty()) {
    throw ConfigError("it has neither a token nor a certificate and key");
  }
  if (credential.certificate.empty() != credential.key.empty()) {
    throw ConfigError(credential.key.empty() ? "it has a certificate, but no key"
                                             : "it has a key, but no certificate");
  }
  if (!credential.certificate.empty()) {
    check_pair(credential.certificate, credential.key, "status");
  }
  if (!is_header_value(credential.token)) {
    throw ConfigError("its token has control characters");
  }
  const std::string expires = status.text("expirationTimestamp");
  if (expires.empty()) return credential;
  const std::optional<std::int64_t> micros = time_text::parse_micros(expires);
  if (!micros) throw ConfigError("status.expirationTimestamp: expected a time of RFC 3339");
  credential.expires = time_text::time_point_from_micros(*micros);
  return credential;
}

}  // namespace

ExecCredential parse_exec_credential(std::string_view output, const std::string& api_version) {
  const WipedDocument document{[&] {
    try {
      return decode_document(output);
    } catch (const Error&) {
      throw ConfigError("it printed neither JSON nor YAML");  // the output may be secret
    }
  }()};
  if (!document) throw ConfigError("it printed nothing");
  const ObjectReader answer{*document, ""};
  if (answer.text("kind") != "ExecCredential") {
    throw ConfigError("it did not print an ExecCredential");
  }
  const std::string version = answer.text("apiVersion");
  if (version != api_version) {
    throw ConfigError("it is configured for apiVersion " + quoted(api_version) +
                      ", but answered with " + quoted(version));
  }
  if (!answer.has("status")) throw ConfigError("its answer has no status");
  return read_status(answer.object("status"));
}

std::string exec_cluster(const Config& config) {
  Value cluster = Value::object({{"server", config.host}});
  const auto put = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) cluster[key] = text;
  };
  put("tls-server-name", config.tls.server_name);
  if (config.tls.insecure_skip_verify) cluster["insecure-skip-tls-verify"] = true;
  put("certificate-authority-data",
      base64_encode(config.tls.ca_data.empty() && !config.tls.ca_file.empty()
                        ? read_file(config.tls.ca_file)
                        : config.tls.ca_data));
  put("proxy-url", config.proxy_url);
  if (config.disable_compression) cluster["disable-compression"] = true;
  if (config.exec && !config.exec->cluster_config.empty()) {
    try {
      cluster["config"] = *decode_json<Value>(config.exec->cluster_config);
    } catch (const Error&) {
      throw ConfigError("exec plugin: the cluster's configuration for it is not JSON");
    }
  }
  return encode_json(cluster);
}

std::string exec_info(const std::string& api_version, bool is_interactive,
                      const std::string& cluster) {
  Value spec = Value::object({{"interactive", is_interactive}});
  if (!cluster.empty()) spec["cluster"] = *decode_json<Value>(cluster);
  return encode_json(Value::object(
      {{"kind", "ExecCredential"}, {"apiVersion", api_version}, {"spec", std::move(spec)}}));
}

}  // namespace kube::detail
