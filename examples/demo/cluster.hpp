// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client.hpp>
#include <kube/testkit/api_server.hpp>

#include <memory>
#include <stop_token>
#include <string>

namespace demo {

/// Where the demo plays: a namespace on a server that knows Foos.
class Cluster {
 public:
  virtual ~Cluster() = default;

  [[nodiscard]] virtual kube::Config config() const = 0;
  [[nodiscard]] virtual std::string namespace_() const = 0;
  /// For people: "an API server in this process".
  [[nodiscard]] virtual std::string where() const = 0;
  /// The server, if it is ours to break.
  [[nodiscard]] virtual kube::testkit::ApiServer* server() { return nullptr; }
  /// Deletes what the demo has made, and says so. Call it when nobody makes anything any more.
  [[nodiscard]] virtual std::string clean_up() = 0;
};

/// An API server in this process that plays a cluster.
[[nodiscard]] std::unique_ptr<Cluster> make_simulated_cluster();

/// What the demo would create on a real cluster, for somebody who has to agree first.
[[nodiscard]] std::string announcement(const kube::Config& config);
/// A namespace of its own on a real cluster. Throws kube::Error if the cluster does not let us, with nothing left
/// behind.
[[nodiscard]] std::unique_ptr<Cluster> make_real_cluster(const kube::Config& config,
                                                         const std::stop_token& stop);

}  // namespace demo
