// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/client/client.hpp>

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

struct DiscoveredSubresource {
  std::string name = {};  ///< "status"
  GroupVersionKind kind = {};
  std::vector<std::string> verbs = {};
};

/// How a server serves a kind.
struct DiscoveredResource {
  GroupVersionResource resource = {};
  GroupVersionKind kind = {};
  std::string singular = {};
  bool namespaced = false;
  std::vector<std::string> verbs = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<DiscoveredSubresource> subresources = {};
};

struct DiscoveredVersion {
  std::string version = {};
  std::vector<DiscoveredResource> resources = {};
};

struct DiscoveredGroup {
  std::string name = {};  ///< empty for the core group
  /// The one that the server prefers comes first.
  std::vector<DiscoveredVersion> versions = {};
};

/// What a server serves, as far as it could tell.
struct DiscoveredApi {
  struct Failure {
    GroupVersion group_version;
    std::string problem;
  };

  std::vector<DiscoveredGroup> groups = {};
  /// Group versions that it has but cannot describe now; often an extension server that is down.
  std::vector<Failure> failures = {};

  /// "metrics.k8s.io/v1beta1: the server is not ready"; empty if all is well.
  [[nodiscard]] std::string failure_text() const;
};

struct ServerVersion {
  std::string major = {};
  std::string minor = {};
  std::string git_version = {};  ///< "v1.36.4"
  std::string git_commit = {};
  std::string build_date = {};
  std::string go_version = {};
  std::string platform = {};
};

struct ServerHealth {
  bool ok = false;
  /// What the server says, a line for each check; or why it said nothing.
  std::string text = {};
};

/// Asks a server what it is. Throws as Resource does; nothing is kept (RestMapper does).
///
/// Thread safety: all methods may be called from any thread.
class Discovery {
 public:
  explicit Discovery(Client client) : client_(std::move(client)) {}

  /// All groups, versions and resources. If a part cannot be had, all is asked once more; what is missing then
  /// is in `failures`.
  [[nodiscard]] DiscoveredApi fetch(std::stop_token stop = {}) const;
  [[nodiscard]] ServerVersion server_version(std::stop_token stop = {}) const;
  /// "/readyz", "/livez", or one check of those: "/readyz/etcd". An unhealthy server is an answer, not an error.
  [[nodiscard]] ServerHealth health(std::string_view path = "/readyz",
                                    std::stop_token stop = {}) const;

 private:
  [[nodiscard]] DiscoveredApi sweep(std::stop_token stop) const;

  Client client_;
};

}  // namespace kube
