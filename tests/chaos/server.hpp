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

/// A fault that can be injected.
struct Fault {
  std::string name;
  std::function<void()> happen;
  int weight = 10;  ///< relative likelihood
};

/// The API server: the in-process one, or a real control plane.
class Server {
 public:
  virtual ~Server() = default;
  /// The configuration of the administrator, with a token.
  [[nodiscard]] virtual Config config() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Returns the faults that this kind of server supports.
  [[nodiscard]] virtual std::vector<Fault> faults(std::mt19937_64& random) = 0;
  virtual void heal() {}
};

[[nodiscard]] std::unique_ptr<Server> in_process_server(std::uint64_t seed);
/// Connects to a control plane started by `cluster.sh start FOLDER`.
[[nodiscard]] std::unique_ptr<Server> real_server(const std::string& script,
                                                  const std::string& folder);

}  // namespace kube::chaos
