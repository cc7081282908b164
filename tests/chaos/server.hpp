// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kube::chaos {

/// Something that goes wrong.
struct Fault {
  std::string name;
  std::function<void()> happen;
  int weight = 10;  ///< how likely it is, compared with others
};

/// The server that everybody talks to: that of the testkit, or a real control plane.
class Server {
 public:
  virtual ~Server() = default;
  /// For the administrator, by token.
  [[nodiscard]] virtual Config config() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// What can go wrong with this kind of server.
  [[nodiscard]] virtual std::vector<Fault> faults(std::mt19937_64& random) = 0;
  virtual void heal() {}
};

[[nodiscard]] std::unique_ptr<Server> in_process_server(std::uint64_t seed);
/// One that `cluster.sh start FOLDER` has started.
[[nodiscard]] std::unique_ptr<Server> real_server(const std::string& script,
                                                  const std::string& folder);

}  // namespace kube::chaos
