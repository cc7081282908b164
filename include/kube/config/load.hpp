// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>
#include <kube/config/kubeconfig.hpp>

#include <optional>
#include <string>

namespace kube {

/// Values that take precedence over the files, field by field. An empty (or false) field overrides
/// nothing.
struct ConfigOverrides {
  /// The context to use. It must exist.
  std::string context_name = {};
  /// Replaces the cluster and the user that the context names, which must exist, and its namespace.
  KubeconfigContext context = {};
  KubeconfigCluster cluster = {};
  KubeconfigUser user = {};
  /// Used only for fields that the files leave empty.
  KubeconfigCluster cluster_defaults = {};
  /// In the syntax of parse_timeout().
  std::string timeout = {};
};

/// Options of load_config(). Every field is optional.
struct ConfigOptions {
  /// The files to read.
  KubeconfigSources sources = {};
  /// The context to use unless an override names one; if empty, the file's current-context.
  std::string context_name = {};
  /// Values that take precedence over the files, such as those of command-line flags.
  ConfigOverrides overrides = {};
  /// A configuration equal to this one counts as empty, so that a pod uses its own cluster.
  std::optional<Config> declared_default = std::nullopt;
};

/// Loads the configuration from the usual places: the explicit file; else KUBECONFIG; else
/// ~/.kube/config; if these are empty, the pod that the program runs in. Throws ConfigError, or
/// EmptyConfigError if no source names a server.
[[nodiscard]] Config load_config(const ConfigOptions& options = {});

/// Returns the configuration that a context of `kubeconfig` describes. Reads the files that entries
/// refer to, but not `options.sources`. Throws ConfigError, or EmptyConfigError if there is no
/// server.
[[nodiscard]] Config config_from_kubeconfig(const Kubeconfig& kubeconfig,
                                            const ConfigOptions& options = {});

/// Returns the configuration of the service account of the pod that the program runs in. Throws
/// NotInClusterError outside a pod, and ConfigError if the token cannot be read.
[[nodiscard]] Config in_cluster_config(const Environment& environment = {},
                                       const Logger& log = stderr_logger());
/// Returns whether the program seems to run in a pod, so that in_cluster_config() can succeed.
[[nodiscard]] bool in_cluster_possible(const Environment& environment = {});

/// Loads the file of the flag --kubeconfig, with the flag --master as its server if not empty. If
/// both are empty, uses the pod's own cluster. Ignores KUBECONFIG and the home folder.
[[nodiscard]] Config build_config_from_flags(const std::string& master,
                                             const std::string& kubeconfig,
                                             const Environment& environment = {},
                                             const Logger& log = stderr_logger());

/// Loads the configuration of a controller: the file of the flag --kubeconfig; else, unless
/// KUBECONFIG is set, the pod's own cluster; else the usual places. Disables the client-side rate
/// limit unless the configuration sets one.
[[nodiscard]] Config controller_config(const std::string& kubeconfig = {},
                                       const std::string& context_name = {},
                                       const Environment& environment = {},
                                       const Logger& log = stderr_logger());

}  // namespace kube
