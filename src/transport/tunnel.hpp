// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "origin.hpp"

namespace kube::detail {

/// What is said to a proxy until it passes bytes on, without the connection: bytes go in and come out. The server
/// never speaks first, so whatever the proxy sends beyond its answers is refused, and so is more than a few
/// kilobytes.
class Tunnel {
 public:
  Tunnel() = default;
  virtual ~Tunnel() = default;
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// What is to be sent next.
  [[nodiscard]] std::string_view output() const noexcept { return output_; }
  void sent(std::size_t bytes) { output_.erase(0, bytes); }
  /// Takes what the proxy says; returns true once the way is free. Throws TransportError (kProxy).
  [[nodiscard]] virtual bool receive(std::string_view bytes) = 0;

 protected:
  std::string output_;
};

/// For the proxy of the origin, which must outlive it.
[[nodiscard]] std::unique_ptr<Tunnel> make_tunnel(const Origin& origin);

}  // namespace kube::detail
