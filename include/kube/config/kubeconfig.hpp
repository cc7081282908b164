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

/// The address of a server and how to verify it. Fields correspond to the keys of the file; data is
/// PEM, already base64-decoded.
struct KubeconfigCluster {
  std::string server = {};
  std::string tls_server_name = {};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority = {};
  std::string certificate_authority_data = {};
  std::string proxy_url = {};
  bool disable_compression = false;
  std::map<std::string, Value> extensions = {};
  /// The file that defines this entry; empty if it was made by hand. Not written to the file.
  std::string origin = {};

  bool operator==(const KubeconfigCluster&) const = default;
};

/// The legacy `auth-provider` entry of a user.
struct KubeconfigAuthProvider {
  std::string name = {};
  std::map<std::string, std::string> config = {};

  bool operator==(const KubeconfigAuthProvider&) const = default;
};

/// The credentials of a user.
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
  /// As in KubeconfigCluster.
  std::string origin = {};

  bool operator==(const KubeconfigUser&) const = default;
};

/// A named combination of cluster, user and namespace.
struct KubeconfigContext {
  std::string cluster = {};
  std::string user = {};
  std::string namespace_ = {};
  std::map<std::string, Value> extensions = {};
  /// As in KubeconfigCluster.
  std::string origin = {};

  bool operator==(const KubeconfigContext&) const = default;
};

/// The content of a kubeconfig file, or of several merged files.
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

/// Larger files are refused. The limit leaves room for some thousand clusters with their
/// certificates.
inline constexpr std::size_t kMaxKubeconfigSize = std::size_t{4} << 20;

/// Parses a kubeconfig in YAML or JSON. `origin` is the file name, for messages and relative paths.
/// Throws ConfigError.
[[nodiscard]] Kubeconfig parse_kubeconfig(std::string_view text, const std::string& origin = {});
/// Reads one file and leaves its paths unresolved. Throws ConfigError.
[[nodiscard]] Kubeconfig read_kubeconfig(const std::string& file);
/// Formats as YAML that parse_kubeconfig() reads back.
[[nodiscard]] std::string format_kubeconfig(const Kubeconfig& kubeconfig);

/// Adds to `first` the entries of `second` whose names are new, each as a whole, and fills scalars
/// that are empty.
void merge_kubeconfig(Kubeconfig& first, const Kubeconfig& second);
/// Makes relative paths absolute. They are relative to the folder of the file that contains them.
void resolve_paths(Kubeconfig& kubeconfig);

/// Returns all problems of all entries, with file and entry: `kubeconfig /home/u/.kube/config:
/// context "x" names unknown cluster "y"`. Checks the files that entries refer to.
[[nodiscard]] std::vector<std::string> validate(const Kubeconfig& kubeconfig);
/// Returns the problems of one entry.
[[nodiscard]] std::vector<std::string> validate(const KubeconfigCluster& cluster,
                                                const std::string& name);
[[nodiscard]] std::vector<std::string> validate(const KubeconfigUser& user,
                                                const std::string& name);

/// The files that make up the configuration.
struct KubeconfigSources {
  /// If not empty, the only file, which must exist.
  std::string explicit_file = {};
  /// Replaces the list in KUBECONFIG and, if that is empty, $HOME/.kube/config.
  std::optional<std::vector<std::string>> files = std::nullopt;
  /// False leaves paths as written in the files, for tools that edit them.
  bool resolve_paths = true;
  Environment environment = {};
  Logger log = stderr_logger();
};

/// The result of load_kubeconfig().
struct LoadedKubeconfig {
  Kubeconfig merged = {};
  /// Problems of files that exist but could not be read; the other files are merged nevertheless.
  std::vector<std::string> problems = {};
  /// Files that KUBECONFIG names but that do not exist.
  std::vector<std::string> missing = {};

  /// Returns `merged`. Throws ConfigError with all problems, if there are any.
  [[nodiscard]] const Kubeconfig& or_throw() const&;
  [[nodiscard]] Kubeconfig or_throw() &&;
};

/// Returns the files in order of precedence, whether they exist or not.
[[nodiscard]] std::vector<std::string> kubeconfig_files(const KubeconfigSources& sources = {});
/// Reads and merges the files. Throws ConfigError if the explicit file does not exist.
[[nodiscard]] LoadedKubeconfig load_kubeconfig(const KubeconfigSources& sources = {});

}  // namespace kube
