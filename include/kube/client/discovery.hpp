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

/// A subresource that the server serves.
struct DiscoveredSubresource {
  std::string name = {};  ///< "status"
  GroupVersionKind kind = {};
  std::vector<std::string> verbs = {};
};

/// A resource that the server serves, and its kind.
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

/// A version of an API group, with its resources.
struct DiscoveredVersion {
  std::string version = {};
  std::vector<DiscoveredResource> resources = {};
};

/// An API group that the server serves.
struct DiscoveredGroup {
  std::string name = {};  ///< empty for the core group
  /// The server's preferred version is first.
  std::vector<DiscoveredVersion> versions = {};
};

/// The groups, versions and resources of a server, as far as it can describe them.
struct DiscoveredApi {
  /// A group version that could not be described.
  struct Failure {
    GroupVersion group_version;
    std::string problem;
  };

  std::vector<DiscoveredGroup> groups = {};
  /// Group versions that exist but cannot be described now; often their extension API server is
  /// down.
  std::vector<Failure> failures = {};

  /// "metrics.k8s.io/v1beta1: the server is not ready"; empty if there are no failures.
  [[nodiscard]] std::string failure_text() const;
};

/// The response of /version.
struct ServerVersion {
  std::string major = {};
  std::string minor = {};
  std::string git_version = {};  ///< "v1.36.4"
  std::string git_commit = {};
  std::string build_date = {};
  std::string go_version = {};
  std::string platform = {};
};

/// The response of a health endpoint.
struct ServerHealth {
  bool ok = false;
  /// The server's text, one line per check; or the reason why there is none.
  std::string text = {};
};

/// Fetches what a server serves, its version and its health. Throws like Resource. Caches nothing
/// (RestMapper does).
///
/// Thread safety: all methods may be called from any thread.
class Discovery {
 public:
  explicit Discovery(Client client) : client_(std::move(client)) {}

  /// Fetches all groups, versions and resources. If a part is not available, everything is fetched
  /// once more; parts that are still missing are listed in `failures`.
  [[nodiscard]] DiscoveredApi fetch(std::stop_token stop = {}) const;
  /// Fetches the version of the server.
  [[nodiscard]] ServerVersion server_version(std::stop_token stop = {}) const;
  /// Queries "/readyz", "/livez", or one of their checks: "/readyz/etcd". An unhealthy server is a
  /// result, not an error.
  [[nodiscard]] ServerHealth health(std::string_view path = "/readyz",
                                    std::stop_token stop = {}) const;

 private:
  [[nodiscard]] DiscoveredApi sweep(std::stop_token stop) const;

  Client client_;
};

}  // namespace kube
