// SPDX-License-Identifier: Apache-2.0
// Parses and formats the text form of a kubeconfig.
#include "document.hpp"
#include "files.hpp"

#include <kube/api/validation.hpp>
#include <kube/codec/base64.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/config/kubeconfig.hpp>

#include <array>

namespace kube {

namespace {

using detail::ObjectReader;

constexpr std::array<std::pair<std::string_view, ExecInteractiveMode>, 3> kInteractiveModes{{
    {"Never", ExecInteractiveMode::kNever},
    {"IfAvailable", ExecInteractiveMode::kIfAvailable},
    {"Always", ExecInteractiveMode::kAlways},
}};

/// Reads a list of named entries into a map. `read` reads the object under the key `body`.
template <typename T, typename Read>
std::map<std::string, T> read_named(const ObjectReader& parent, std::string_view list,
                                    std::string_view body, Read&& read) {
  std::map<std::string, T> entries;
  for (const ObjectReader& entry : parent.objects(list)) {
    const std::string name = entry.text("name");
    if (entries.contains(name)) {
      throw ConfigError(entry.path() + ": the name " + detail::quoted(name) + " is there twice");
    }
    entries.emplace(name, read(entry, body));
  }
  return entries;
}

std::map<std::string, Value> read_extensions(const ObjectReader& parent) {
  return read_named<Value>(
      parent, "extensions", "extension",
      [](const ObjectReader& entry, std::string_view body) { return entry.value(body); });
}

ExecConfig read_exec(const ObjectReader& from) {
  ExecConfig exec{.api_version = from.text("apiVersion"),
                  .command = from.text("command"),
                  .args = from.texts("args"),
                  .install_hint = from.text("installHint"),
                  .provide_cluster_info = from.flag("provideClusterInfo")};
  for (const ObjectReader& variable : from.objects("env")) {
    exec.env.emplace_back(variable.text("name"), variable.text("value"));
  }
  const std::string mode = from.text("interactiveMode");
  if (!mode.empty()) exec.interactive_mode = ExecInteractiveMode::kUnknown;
  for (const auto& [name, value] : kInteractiveModes) {
    if (mode == name) exec.interactive_mode = value;
  }
  return exec;
}

KubeconfigCluster read_cluster(const ObjectReader& from, const std::string& origin) {
  return {.server = from.text("server"),
          .tls_server_name = from.text("tls-server-name"),
          .insecure_skip_tls_verify = from.flag("insecure-skip-tls-verify"),
          .certificate_authority = from.text("certificate-authority"),
          .certificate_authority_data = from.data("certificate-authority-data"),
          .proxy_url = from.text("proxy-url"),
          .disable_compression = from.flag("disable-compression"),
          .extensions = read_extensions(from),
          .origin = origin};
}

KubeconfigUser read_user(const ObjectReader& from, const std::string& origin) {
  KubeconfigUser user{.client_certificate = from.text("client-certificate"),
                      .client_certificate_data = from.data("client-certificate-data"),
                      .client_key = from.text("client-key"),
                      .client_key_data = from.data("client-key-data"),
                      .token = from.text("token"),
                      .token_file = from.text("tokenFile"),
                      .impersonate = {.user = from.text("as"),
                                      .uid = from.text("as-uid"),
                                      .groups = from.texts("as-groups")},
                      .username = from.text("username"),
                      .password = from.text("password"),
                      .extensions = read_extensions(from),
                      .origin = origin};
  const ObjectReader extra = from.object("as-user-extra");
  for (const std::string& key : extra.keys()) user.impersonate.extra[key] = extra.texts(key);
  if (from.has("auth-provider")) {
    const ObjectReader provider = from.object("auth-provider");
    const ObjectReader config = provider.object("config");
    user.auth_provider = KubeconfigAuthProvider{.name = provider.text("name")};
    for (const std::string& key : config.keys()) user.auth_provider->config[key] = config.text(key);
  }
  if (from.has("exec")) user.exec = read_exec(from.object("exec"));
  return user;
}

KubeconfigContext read_context(const ObjectReader& from, const std::string& origin) {
  return {.cluster = from.text("cluster"),
          .user = from.text("user"),
          .namespace_ = from.text("namespace"),
          .extensions = read_extensions(from),
          .origin = origin};
}

Kubeconfig read_document(const ObjectReader& from, const std::string& origin) {
  const std::string version = from.text("apiVersion");
  const std::string kind = from.text("kind");
  if ((!version.empty() && version != "v1") || (!kind.empty() && kind != "Config")) {
    throw ConfigError("expected kind Config of apiVersion v1, found kind " + detail::quoted(kind) +
                      " of apiVersion " + detail::quoted(version));
  }
  const auto entry_of = [&](auto read) {
    return [&origin, read](const ObjectReader& entry, std::string_view body) {
      return read(entry.object(body), origin);
    };
  };
  Kubeconfig kubeconfig{
      .clusters =
          read_named<KubeconfigCluster>(from, "clusters", "cluster", entry_of(read_cluster)),
      .users = read_named<KubeconfigUser>(from, "users", "user", entry_of(read_user)),
      .contexts =
          read_named<KubeconfigContext>(from, "contexts", "context", entry_of(read_context)),
      .current_context = from.text("current-context"),
      .extensions = read_extensions(from),
      .preferences = from.value("preferences")};
  if (!kubeconfig.current_context.empty()) kubeconfig.current_context_origin = origin;
  return kubeconfig;
}

void put(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}
void put(Value& object, std::string_view key, bool flag) {
  if (flag) object[key] = true;
}
void put(Value& object, std::string_view key, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) object[key].push_back(text);
}
void put_data(Value& object, std::string_view key, const std::string& data) {
  put(object, key, base64_encode(data));
}

template <typename T, typename Write>
Value written_named(const std::map<std::string, T>& entries, std::string_view body, Write&& write) {
  Value list = Value::array();
  for (const auto& [name, entry] : entries) {
    list.push_back(Value::object({{"name", name}, {body, write(entry)}}));
  }
  return list;
}

void put_extensions(Value& object, const std::map<std::string, Value>& extensions) {
  if (extensions.empty()) return;
  object["extensions"] =
      written_named(extensions, "extension", [](const Value& extension) { return extension; });
}

Value written(const KubeconfigCluster& cluster) {
  Value object = Value::object({{"server", cluster.server}});
  put(object, "tls-server-name", cluster.tls_server_name);
  put(object, "insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
  put(object, "certificate-authority", cluster.certificate_authority);
  put_data(object, "certificate-authority-data", cluster.certificate_authority_data);
  put(object, "proxy-url", cluster.proxy_url);
  put(object, "disable-compression", cluster.disable_compression);
  put_extensions(object, cluster.extensions);
  return object;
}

Value written(const ExecConfig& exec) {
  Value object = Value::object({{"apiVersion", exec.api_version}, {"command", exec.command}});
  put(object, "args", exec.args);
  for (const auto& [name, value] : exec.env) {
    object["env"].push_back(Value::object({{"name", name}, {"value", value}}));
  }
  put(object, "installHint", exec.install_hint);
  object["provideClusterInfo"] = exec.provide_cluster_info;
  for (const auto& [name, value] : kInteractiveModes) {
    if (exec.interactive_mode == value) object["interactiveMode"] = name;
  }
  return object;
}

Value written(const KubeconfigUser& user) {
  Value object = Value::object();
  put(object, "client-certificate", user.client_certificate);
  put_data(object, "client-certificate-data", user.client_certificate_data);
  put(object, "client-key", user.client_key);
  put_data(object, "client-key-data", user.client_key_data);
  put(object, "token", user.token);
  put(object, "tokenFile", user.token_file);
  put(object, "as", user.impersonate.user);
  put(object, "as-uid", user.impersonate.uid);
  put(object, "as-groups", user.impersonate.groups);
  for (const auto& [key, values] : user.impersonate.extra) {
    if (!values.empty()) put(object["as-user-extra"], key, values);
  }
  put(object, "username", user.username);
  put(object, "password", user.password);
  if (user.auth_provider) {
    Value& provider = object["auth-provider"];
    provider["name"] = user.auth_provider->name;
    for (const auto& [key, text] : user.auth_provider->config) provider["config"][key] = text;
  }
  if (user.exec) object["exec"] = written(*user.exec);
  put_extensions(object, user.extensions);
  return object;
}

Value written(const KubeconfigContext& context) {
  Value object = Value::object({{"cluster", context.cluster}, {"user", context.user}});
  put(object, "namespace", context.namespace_);
  put_extensions(object, context.extensions);
  return object;
}

}  // namespace

Kubeconfig parse_kubeconfig(std::string_view text, const std::string& origin) {
  const std::string place = origin.empty() ? "kubeconfig: " : "kubeconfig " + origin + ": ";
  if (text.size() > kMaxKubeconfigSize) {
    throw ConfigError(place + "it has more than " + std::to_string(kMaxKubeconfigSize) + " bytes");
  }
  try {
    const detail::WipedDocument document{detail::decode_document(text)};
    return document ? read_document({*document, ""}, origin) : Kubeconfig{};
  } catch (const Error& error) {
    throw ConfigError(place + error.what());
  }
}

Kubeconfig read_kubeconfig(const std::string& file) {
  return parse_kubeconfig(detail::read_file(file, kMaxKubeconfigSize), file);
}

std::string format_kubeconfig(const Kubeconfig& kubeconfig) {
  const auto write = [](const auto& entry) { return written(entry); };
  Value document =
      Value::object({{"apiVersion", "v1"},
                     {"kind", "Config"},
                     {"clusters", written_named(kubeconfig.clusters, "cluster", write)},
                     {"users", written_named(kubeconfig.users, "user", write)},
                     {"contexts", written_named(kubeconfig.contexts, "context", write)},
                     {"current-context", kubeconfig.current_context}});
  put_extensions(document, kubeconfig.extensions);
  if (!kubeconfig.preferences.is_absent()) document["preferences"] = kubeconfig.preferences;
  return yaml_from_json(document);
}

}  // namespace kube
