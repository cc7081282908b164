// SPDX-License-Identifier: Apache-2.0
#include <kube/config/load.hpp>

#include "exec_versions.hpp"
#include "files.hpp"

#include "base/ip_address.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "config/pem.hpp"
#include <kube/api/validation.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

namespace kube {

namespace {

/// Returns a server URL without query and fragment, if its path is longer than "/"; else unchanged.
std::string without_query(std::string_view server) {
  const detail::UrlParts parts = detail::split_url(server);
  if (!parts.scheme || parts.path.size() < 2) return std::string{server};
  return std::string{server.substr(
      0, static_cast<std::size_t>(parts.path.data() + parts.path.size() - server.data()))};
}

bool is_https(std::string_view server) {
  return detail::equals_ignoring_case(detail::split_url(server).scheme.value_or(""), "https");
}

template <typename T>
void override_field(T& field, const T& value) {
  if (value != T{}) field = value;
}

void override_with(KubeconfigCluster& cluster, const KubeconfigCluster& over) {
  if (over.insecure_skip_tls_verify || !over.certificate_authority.empty() ||
      !over.certificate_authority_data.empty()) {
    // Trust is configured in one of three ways; an override of one replaces all of them.
    cluster.insecure_skip_tls_verify = over.insecure_skip_tls_verify;
    cluster.certificate_authority = over.certificate_authority;
    cluster.certificate_authority_data = over.certificate_authority_data;
  }
  if (!over.server.empty() || !over.tls_server_name.empty()) {
    cluster.tls_server_name = over.tls_server_name;  // another server has another name
  }
  override_field(cluster.server, over.server);
  override_field(cluster.proxy_url, over.proxy_url);
  override_field(cluster.disable_compression, over.disable_compression);
  override_field(cluster.extensions, over.extensions);
}

void override_pair(std::string& file, std::string& data, const std::string& over_file,
                   const std::string& over_data) {
  if (over_file.empty() && over_data.empty()) return;
  file = over_file;
  data = over_data;
}

void override_with(KubeconfigUser& user, const KubeconfigUser& over) {
  override_pair(user.client_certificate, user.client_certificate_data, over.client_certificate,
                over.client_certificate_data);
  override_pair(user.client_key, user.client_key_data, over.client_key, over.client_key_data);
  override_field(user.token, over.token);
  override_field(user.token_file, over.token_file);
  override_field(user.impersonate.user, over.impersonate.user);
  override_field(user.impersonate.uid, over.impersonate.uid);
  override_field(user.impersonate.groups, over.impersonate.groups);
  override_field(user.impersonate.extra, over.impersonate.extra);
  override_field(user.username, over.username);
  override_field(user.password, over.password);
  override_field(user.auth_provider, over.auth_provider);
  override_field(user.exec, over.exec);
}

/// Returns the entry with that name, or an empty one if there is none. Throws if an override names
/// an entry that does not exist.
template <typename T>
T find_entry(const std::map<std::string, T>& entries, const std::string& name,
             std::string_view kind, bool is_override) {
  const auto found = entries.find(name);
  if (found != entries.end()) return found->second;
  if (is_override)
    throw ConfigError(fmt::format("{} {} does not exist", kind, detail::quoted(name)));
  return {};
}

KubeconfigContext selected_context(const Kubeconfig& kubeconfig, const ConfigOptions& options) {
  const ConfigOverrides& over = options.overrides;
  KubeconfigContext context;
  if (!over.context_name.empty()) {
    context = find_entry(kubeconfig.contexts, over.context_name, "context", true);
  } else if (!options.context_name.empty()) {
    context = find_entry(kubeconfig.contexts, options.context_name, "context", true);
  } else if (!kubeconfig.current_context.empty()) {
    const auto found = kubeconfig.contexts.find(kubeconfig.current_context);
    if (found == kubeconfig.contexts.end()) {
      const std::string& origin = kubeconfig.current_context_origin;
      throw ConfigError(fmt::format("{}current-context names unknown context {}",
                                    origin.empty() ? "" : "kubeconfig " + origin + ": ",
                                    detail::quoted(kubeconfig.current_context)));
    }
    context = found->second;
  }
  override_field(context.cluster, over.context.cluster);
  override_field(context.user, over.context.user);
  override_field(context.namespace_, over.context.namespace_);
  return context;
}

void add_user(Config& config, const KubeconfigUser& user, const KubeconfigCluster& cluster,
              const std::string& name) {
  config.bearer_token = user.token;
  config.bearer_token_file = user.token_file;
  if (config.bearer_token.empty() && !config.bearer_token_file.empty()) {
    try {
      config.bearer_token = detail::read_token(config.bearer_token_file);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}user {} has a tokenFile that is not usable: {}",
                                    user.origin.empty() ? "" : "kubeconfig " + user.origin + ": ",
                                    detail::quoted(name), error.what()));
    }
  }
  config.username = user.username;
  config.password = user.password;
  config.tls.certificate_file = user.client_certificate;
  config.tls.certificate_data = user.client_certificate_data;
  config.tls.key_file = user.client_key;
  config.tls.key_data = user.client_key_data;
  if (user.auth_provider) config.auth_provider = user.auth_provider->name;
  if (!user.exec) return;
  config.exec = user.exec;
  const auto extension = cluster.extensions.find(detail::kExecExtension);
  if (extension != cluster.extensions.end()) {
    config.exec->cluster_config = encode_json(extension->second);
  }
}

}  // namespace

Config config_from_kubeconfig(const Kubeconfig& kubeconfig, const ConfigOptions& options) {
  const ConfigOverrides& over = options.overrides;
  const KubeconfigContext context = selected_context(kubeconfig, options);
  KubeconfigUser user =
      find_entry(kubeconfig.users, context.user, "user", !over.context.user.empty());
  override_with(user, over.user);
  KubeconfigCluster cluster = over.cluster_defaults;
  const KubeconfigCluster of_file =
      find_entry(kubeconfig.clusters, context.cluster, "cluster", !over.context.cluster.empty());
  override_with(cluster, of_file);
  cluster.origin = of_file.origin;
  override_with(cluster, over.cluster);

  std::vector<std::string> problems = validate(user, context.user);
  const bool is_user_valid = problems.empty();
  const std::vector<std::string> of_cluster = validate(cluster, context.cluster);
  problems.insert(problems.end(), of_cluster.begin(), of_cluster.end());
  if (is_user_valid && problems.size() == 1 && cluster.server.empty()) {
    throw EmptyConfigError("the configuration is empty: it names no server (" + problems.front() +
                           "); set KUBECONFIG to a file that does, or put one at ~/.kube/config");
  }
  if (!problems.empty()) throw ConfigError(problems);

  Config config{.host = without_query(cluster.server),
                .impersonate = user.impersonate,
                .proxy_url = cluster.proxy_url,
                .disable_compression = cluster.disable_compression,
                .namespace_overridden = !over.context.namespace_.empty()};
  override_field(config.default_namespace, context.namespace_);
  if (!over.timeout.empty()) config.timeout = parse_timeout(over.timeout);
  if (!is_https(cluster.server)) return config;  // no credentials without TLS
  add_user(config, user, cluster, context.user);
  config.tls.insecure_skip_verify = cluster.insecure_skip_tls_verify;
  config.tls.server_name = cluster.tls_server_name;
  config.tls.ca_file = cluster.certificate_authority;
  config.tls.ca_data = cluster.certificate_authority_data;
  return config;
}

Config load_config(const ConfigOptions& options) {
  const KubeconfigSources& sources = options.sources;
  const ConfigOverrides& over = options.overrides;
  std::optional<Config> config;
  const LoadedKubeconfig loaded = load_kubeconfig(sources);
  try {
    config = config_from_kubeconfig(loaded.or_throw(), options);
    if (config != options.declared_default) return *config;
  } catch (const EmptyConfigError&) {
    const bool has_pod = in_cluster_possible(sources.environment);
    if (!has_pod && loaded.missing.empty()) throw;
    if (!has_pod) {
      throw EmptyConfigError(
          "the configuration is empty: " + detail::missing_files_text(loaded.missing) +
          "; correct the variable, or unset it to use ~/.kube/config");
    }
  }
  if (config && !in_cluster_possible(sources.environment)) return *config;
  Config pod = in_cluster_config(sources.environment, sources.log);
  override_field(pod.host, over.cluster.server);
  override_field(pod.tls.ca_file, over.cluster.certificate_authority);
  if (!over.user.token.empty() || !over.user.token_file.empty()) {
    pod.bearer_token = over.user.token;
    pod.bearer_token_file = over.user.token_file;
  }
  if (!over.timeout.empty()) pod.timeout = parse_timeout(over.timeout);
  override_field(pod.default_namespace, over.context.namespace_);
  pod.namespace_overridden = !over.context.namespace_.empty();
  return pod;
}

bool in_cluster_possible(const Environment& environment) {
  if (environment.variable("KUBERNETES_SERVICE_HOST").empty() ||
      environment.variable("KUBERNETES_SERVICE_PORT").empty()) {
    return false;
  }
  try {
    static_cast<void>(detail::read_file(environment.service_account_folder + "/token"));
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

Config in_cluster_config(const Environment& environment, const Logger& log) {
  const std::string host = environment.variable("KUBERNETES_SERVICE_HOST");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    throw NotInClusterError(
        "this program does not run in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
        "must be set");
  }
  const std::string& folder = environment.service_account_folder;
  Config config{.bearer_token = detail::read_token(folder + "/token"),
                .bearer_token_file = folder + "/token"};
  config.host = fmt::format("https://{}:{}", detail::bracketed(host), port);
  const std::string ca = folder + "/ca.crt";
  try {
    detail::check_ca(detail::read_file(ca), ca);
    config.tls.ca_file = ca;
  } catch (const ConfigError& error) {
    log.error("cannot use the cluster's own CA, the roots of the system are trusted instead: {}",
              error.what());
  }
  config.default_namespace = environment.variable("POD_NAMESPACE");
  if (!config.default_namespace.empty()) return config;
  try {
    config.default_namespace = detail::trimmed(detail::read_file(folder + "/namespace"));
  } catch (const ConfigError&) {  // optional in a pod
  }
  if (config.default_namespace.empty()) config.default_namespace = "default";
  return config;
}

Config build_config_from_flags(const std::string& master, const std::string& kubeconfig,
                               const Environment& environment, const Logger& log) {
  if (master.empty() && kubeconfig.empty()) {
    log.warning("neither a kubeconfig nor the address of a server was given; trying the pod's own");
    try {
      return in_cluster_config(environment, log);
    } catch (const ConfigError& error) {
      log.warning("the pod's own configuration cannot be used: {}", error.what());
    }
  }
  return load_config({.sources = {.explicit_file = kubeconfig,
                                  .files = std::vector<std::string>{},
                                  .environment = environment,
                                  .log = log},
                      .overrides = {.cluster = {.server = master}}});
}

Config controller_config(const std::string& kubeconfig, const std::string& context_name,
                         const Environment& environment, const Logger& log) {
  const auto find = [&] {
    std::string problem;
    if (kubeconfig.empty() && environment.variable("KUBECONFIG").empty()) {
      try {
        return in_cluster_config(environment, log);
      } catch (const ConfigError& error) {
        problem = error.what();
      }
    }
    try {
      return load_config(
          {.sources = {.explicit_file = kubeconfig, .environment = environment, .log = log},
           .overrides = {.context_name = context_name}});
    } catch (const ConfigError&) {
      if (!problem.empty()) log.error("the pod's own configuration cannot be used: {}", problem);
      throw;
    }
  };
  Config config = find();
  if (config.qps == 0) config.qps = -1;
  return config;
}

}  // namespace kube
