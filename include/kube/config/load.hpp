// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>
#include <kube/config/kubeconfig.hpp>

#include <optional>
#include <string>

namespace kube {

/// What beats the files, field by field: an empty field (or false) leaves what the file says.
struct ConfigOverrides {
  /// The context to use; it must exist.
  std::string context_name = {};
  /// Other entries for the context to name, which must exist, and another namespace.
  KubeconfigContext context = {};
  KubeconfigCluster cluster = {};
  KubeconfigUser user = {};
  /// Beaten by the files.
  KubeconfigCluster cluster_defaults = {};
  /// As parse_timeout() reads it.
  std::string timeout = {};
};

/// How load_config() finds its way. Any field may be left out.
struct ConfigOptions {
  KubeconfigSources sources = {};
  /// The context to use unless an override names one; empty is the file's current-context.
  std::string context_name = {};
  ConfigOverrides overrides = {};
  /// A configuration equal to this one counts as empty, so that a pod uses its own cluster.
  std::optional<Config> declared_default = std::nullopt;
};

/// The configuration of the usual places: the explicit file; else KUBECONFIG; else ~/.kube/config; and if they say
/// nothing, that of the pod that the program runs in. Throws ConfigError, or EmptyConfigError if nobody knows
/// of a server.
[[nodiscard]] Config load_config(const ConfigOptions& options = {});

/// The configuration that a context of `kubeconfig` describes; looks at the files that it names, but not at
/// `options.sources`. Throws ConfigError, or EmptyConfigError if there is no server.
[[nodiscard]] Config config_from_kubeconfig(const Kubeconfig& kubeconfig,
                                            const ConfigOptions& options = {});

/// The configuration of the service account of the pod that the program runs in. Throws NotInClusterError
/// outside of one, and ConfigError if its token cannot be read.
[[nodiscard]] Config in_cluster_config(const Environment& environment = {},
                                       const Logger& log = stderr_logger());
/// Whether in_cluster_config() has a chance.
[[nodiscard]] bool in_cluster_possible(const Environment& environment = {});

/// For programs with the flags --master and --kubeconfig: that file, with `master` as its server if not
/// empty. With neither, the pod's own cluster. Looks neither at KUBECONFIG nor at the home folder.
[[nodiscard]] Config build_config_from_flags(const std::string& master,
                                             const std::string& kubeconfig,
                                             const Environment& environment = {},
                                             const Logger& log = stderr_logger());

/// For controllers: the file of the flag --kubeconfig; else, unless KUBECONFIG is set, the pod's own cluster;
/// else the usual places. Requests are not limited on this side unless the configuration says so.
[[nodiscard]] Config controller_config(const std::string& kubeconfig = {},
                                       const std::string& context_name = {},
                                       const Environment& environment = {},
                                       const Logger& log = stderr_logger());

}  // namespace kube
