// SPDX-License-Identifier: Apache-2.0
#include "exec_versions.hpp"
#include "files.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include <kube/api/validation.hpp>
#include <kube/config/kubeconfig.hpp>

#include <fmt/format.h>

namespace kube {

namespace {

/// Collects problems; each begins with file and entry.
class Problems {
 public:
  Problems(std::string_view kind, const std::string& name, const std::string& origin)
      : place_(origin.empty() ? "" : "kubeconfig " + origin + ": ") {
    place_ += kind;
    if (!name.empty()) place_ += ' ' + detail::quoted(name);
    place_ += ' ';
  }

  void add(std::string_view problem) { problems_.push_back(place_ + std::string{problem}); }
  void check_readable(std::string_view key, const std::string& file) {
    if (file.empty()) return;
    try {
      static_cast<void>(detail::read_file(file));
    } catch (const ConfigError& error) {
      add(fmt::format("has a {} that is not usable: {}", key, error.what()));
    }
  }
  void check_not_both(std::string_view key, const std::string& file, const std::string& data) {
    if (file.empty() || data.empty()) return;
    add(fmt::format("has both {} and {}-data; only one is allowed", key, key));
  }
  std::vector<std::string> take() { return std::move(problems_); }

 private:
  std::string place_;
  std::vector<std::string> problems_;
};

void check_exec(Problems& problems, const ExecConfig& exec) {
  if (exec.command.empty()) problems.add("has an exec plugin without command");
  if (exec.api_version.empty()) problems.add("has an exec plugin without apiVersion");
  const ExecInteractiveMode mode = detail::interactive_mode(exec);
  if (mode == ExecInteractiveMode::kUnset) {
    problems.add("has an exec plugin without interactiveMode");
  } else if (mode == ExecInteractiveMode::kUnknown) {
    problems.add("has an exec plugin whose interactiveMode is not Never, IfAvailable or Always");
  }
  for (const auto& [name, value] : exec.env) {
    if (name.empty()) problems.add("has an exec plugin with a variable in env that has no name");
  }
}

std::vector<std::string> validate(const Kubeconfig& kubeconfig, const KubeconfigContext& context,
                                  const std::string& name) {
  Problems problems{"context", name, context.origin};
  if (name.empty()) problems.add("has no name");
  if (context.cluster.empty()) {
    problems.add("names no cluster");
  } else if (!kubeconfig.clusters.contains(context.cluster)) {
    problems.add("names unknown cluster " + detail::quoted(context.cluster));
  }
  if (context.user.empty()) {
    problems.add("names no user");
  } else if (!kubeconfig.users.contains(context.user)) {
    problems.add("names unknown user " + detail::quoted(context.user));
  }
  if (context.namespace_.empty()) return problems.take();
  const std::string_view spelling = validation::dns1123_label_problem(context.namespace_);
  if (!spelling.empty()) {
    problems.add(
        fmt::format("has namespace {}, which {}", detail::quoted(context.namespace_), spelling));
  }
  return problems.take();
}

}  // namespace

std::vector<std::string> validate(const KubeconfigCluster& cluster, const std::string& name) {
  Problems problems{"cluster", name, cluster.origin};
  if (cluster.server.empty()) problems.add("has no server");
  if (!cluster.proxy_url.empty()) {
    const std::string scheme =
        detail::lower_case(detail::split_url(cluster.proxy_url).scheme.value_or(""));
    if (scheme != "http" && scheme != "https" && scheme != "socks5") {
      problems.add(fmt::format("has proxy-url {}, which is not http, https or socks5",
                               detail::quoted(detail::redacted_url(cluster.proxy_url))));
    }
  }
  problems.check_not_both("certificate-authority", cluster.certificate_authority,
                          cluster.certificate_authority_data);
  problems.check_readable("certificate-authority", cluster.certificate_authority);
  return problems.take();
}

std::vector<std::string> validate(const KubeconfigUser& user, const std::string& name) {
  Problems problems{"user", name, user.origin};
  const auto is_set = [](const std::string& file, const std::string& data) {
    return !file.empty() || !data.empty();
  };
  if (is_set(user.client_certificate, user.client_certificate_data)) {
    problems.check_not_both("client-certificate", user.client_certificate,
                            user.client_certificate_data);
    problems.check_not_both("client-key", user.client_key, user.client_key_data);
    if (!is_set(user.client_key, user.client_key_data)) {
      problems.add("has a client certificate but no client-key");
    }
    problems.check_readable("client-certificate", user.client_certificate);
    problems.check_readable("client-key", user.client_key);
  }
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    problems.add("has both a token and a username or password; only one is allowed");
  }
  if (user.impersonate.user.empty() && user.impersonate != Impersonation{}) {
    problems.add("has as-uid, as-groups or as-user-extra, but no as");
  }
  if (user.exec) check_exec(problems, *user.exec);
  if (user.exec && user.auth_provider) {
    problems.add("has both an exec plugin and an auth-provider; only one is allowed");
  }
  return problems.take();
}

std::vector<std::string> validate(const Kubeconfig& kubeconfig) {
  std::vector<std::string> problems;
  const auto add = [&](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(problems));
  };
  if (!kubeconfig.current_context.empty() &&
      !kubeconfig.contexts.contains(kubeconfig.current_context)) {
    Problems dangling{"current-context", "", kubeconfig.current_context_origin};
    dangling.add("names unknown context " + detail::quoted(kubeconfig.current_context));
    add(dangling.take());
  }
  for (const auto& [name, context] : kubeconfig.contexts) add(validate(kubeconfig, context, name));
  const auto check_named = [&](std::string_view kind, const auto& entries) {
    for (const auto& [name, entry] : entries) {
      if (name.empty()) {
        Problems nameless{kind, "", entry.origin};
        nameless.add("has no name");
        add(nameless.take());
      }
      add(validate(entry, name));
    }
  };
  check_named("user", kubeconfig.users);
  check_named("cluster", kubeconfig.clusters);
  return problems;
}

}  // namespace kube
