// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "origin.hpp"

namespace kube::detail {

/// The handshake with a proxy, independent of the connection: consumes and produces bytes. The
/// server never sends first, so anything the proxy sends beyond its replies is refused, as is a
/// reply of more than a few kilobytes.
class Tunnel {
 public:
  Tunnel() = default;
  virtual ~Tunnel() = default;
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// The bytes to send next.
  [[nodiscard]] std::string_view output() const noexcept { return output_; }
  void sent(std::size_t bytes) { output_.erase(0, bytes); }
  /// Consumes input from the proxy. Returns true once the tunnel is open. Throws TransportError
  /// (kProxy).
  [[nodiscard]] virtual bool receive(std::string_view bytes) = 0;

 protected:
  std::string output_;
};

/// Makes the tunnel for the proxy of the origin, which must outlive it.
[[nodiscard]] std::unique_ptr<Tunnel> make_tunnel(const Origin& origin);

}  // namespace kube::detail
