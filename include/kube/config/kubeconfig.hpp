// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>
#include <kube/base/secret_text.hpp>
#include <kube/config/config.hpp>
#include <kube/config/environment.hpp>
#include <kube/config/exec_config.hpp>
#include <kube/object/value.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Where a server is and how to trust it. Fields are the keys of the file; data is PEM, already decoded.
struct KubeconfigCluster {
  std::string server = {};
  std::string tls_server_name = {};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority = {};
  std::string certificate_authority_data = {};
  std::string proxy_url = {};
  bool disable_compression = false;
  std::map<std::string, Value> extensions = {};
  /// The file that this comes from; empty if it was made by hand. Not a part of the file.
  std::string origin = {};

  bool operator==(const KubeconfigCluster&) const = default;
};

struct KubeconfigAuthProvider {
  std::string name = {};
  std::map<std::string, std::string> config = {};

  bool operator==(const KubeconfigAuthProvider&) const = default;
};

/// Who somebody is.
struct KubeconfigUser {
  std::string client_certificate = {};
  std::string client_certificate_data = {};
  std::string client_key = {};
  SecretText client_key_data = {};
  SecretText token = {};
  std::string token_file = {};
  /// The keys `as`, `as-uid`, `as-groups` and `as-user-extra`.
  Impersonation impersonate = {};
  std::string username = {};
  SecretText password = {};
  std::optional<KubeconfigAuthProvider> auth_provider = std::nullopt;
  std::optional<ExecConfig> exec = std::nullopt;
  std::map<std::string, Value> extensions = {};
  std::string origin = {};

  bool operator==(const KubeconfigUser&) const = default;
};

/// A user at a cluster.
struct KubeconfigContext {
  std::string cluster = {};
  std::string user = {};
  std::string namespace_ = {};
  std::map<std::string, Value> extensions = {};
  std::string origin = {};

  bool operator==(const KubeconfigContext&) const = default;
};

/// A kubeconfig file, or several that were merged.
struct Kubeconfig {
  std::map<std::string, KubeconfigCluster> clusters = {};
  std::map<std::string, KubeconfigUser> users = {};
  std::map<std::string, KubeconfigContext> contexts = {};
  std::string current_context = {};
  std::string current_context_origin = {};
  std::map<std::string, Value> extensions = {};
  /// Deprecated and unused; kept for tools that write the file back.
  Value preferences = {};

  bool operator==(const Kubeconfig&) const = default;
};

/// Larger files are refused: some thousand clusters, each with its certificates, fit.
inline constexpr std::size_t kMaxKubeconfigSize = std::size_t{4} << 20;

/// A kubeconfig in YAML or JSON. `origin` is the file it comes from, for messages and for paths. Throws
/// ConfigError.
[[nodiscard]] Kubeconfig parse_kubeconfig(std::string_view text, const std::string& origin = {});
/// One file, paths as they stand there. Throws ConfigError.
[[nodiscard]] Kubeconfig read_kubeconfig(const std::string& file);
/// YAML that parse_kubeconfig() reads back.
[[nodiscard]] std::string format_kubeconfig(const Kubeconfig& kubeconfig);

/// Adds to `first` what only `second` has: entries whose name is new, as a whole, and scalars that are empty.
void merge_kubeconfig(Kubeconfig& first, const Kubeconfig& second);
/// Makes relative paths absolute: they start in the folder of the file that has them.
void resolve_paths(Kubeconfig& kubeconfig);

/// Every problem of every entry, naming file and entry:
/// `kubeconfig /home/u/.kube/config: context "x" names unknown cluster "y"`. Looks at the files that are named.
[[nodiscard]] std::vector<std::string> validate(const Kubeconfig& kubeconfig);
[[nodiscard]] std::vector<std::string> validate(const KubeconfigCluster& cluster,
                                                const std::string& name);
[[nodiscard]] std::vector<std::string> validate(const KubeconfigUser& user,
                                                const std::string& name);

/// Which files make up the configuration.
struct KubeconfigSources {
  /// Used alone, and must exist, if it is not empty.
  std::string explicit_file = {};
  /// Instead of the list in KUBECONFIG and, if that is empty, $HOME/.kube/config.
  std::optional<std::vector<std::string>> files = std::nullopt;
  /// False leaves paths as they stand in the files, for tools that edit them.
  bool resolve_paths = true;
  Environment environment = {};
  Logger log = stderr_logger();
};

struct LoadedKubeconfig {
  Kubeconfig merged = {};
  /// Of files that exist but could not be read; the others are merged all the same.
  std::vector<std::string> problems = {};
  /// Files that KUBECONFIG names and that do not exist.
  std::vector<std::string> missing = {};

  /// Throws ConfigError with all problems, if there are any.
  [[nodiscard]] const Kubeconfig& or_throw() const&;
  [[nodiscard]] Kubeconfig or_throw() &&;
};

/// The files in the order in which they count, whether they exist or not.
[[nodiscard]] std::vector<std::string> kubeconfig_files(const KubeconfigSources& sources = {});
/// Reads and merges them. Throws ConfigError if the explicit file does not exist.
[[nodiscard]] LoadedKubeconfig load_kubeconfig(const KubeconfigSources& sources = {});

}  // namespace kube
