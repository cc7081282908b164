// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client.hpp>
#include <kube/testkit/api_server.hpp>

#include <memory>
#include <stop_token>
#include <string>

namespace demo {

/// The cluster of the demo: a namespace on a server that has the resource Foo.
class Cluster {
 public:
  virtual ~Cluster() = default;

  [[nodiscard]] virtual kube::Config config() const = 0;
  [[nodiscard]] virtual std::string namespace_() const = 0;
  /// A description for display: "an API server in this process".
  [[nodiscard]] virtual std::string where() const = 0;
  /// The server, if the demo may inject faults into it; else null.
  [[nodiscard]] virtual kube::testkit::ApiServer* server() { return nullptr; }
  /// Deletes the objects of the demo and returns a summary. Call it after all writers have stopped.
  [[nodiscard]] virtual std::string clean_up() = 0;
};

/// Starts an in-process API server with a simulated cluster.
[[nodiscard]] std::unique_ptr<Cluster> make_simulated_cluster();

/// Describes the objects that the demo would create on a real cluster, for the user's consent.
[[nodiscard]] std::string announcement(const kube::Config& config);
/// Creates a namespace on a real cluster. Throws kube::Error if permissions are missing; nothing
/// remains then.
[[nodiscard]] std::unique_ptr<Cluster> make_real_cluster(const kube::Config& config,
                                                         const std::stop_token& stop);

}  // namespace demo
