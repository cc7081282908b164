// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include "engine/scheduler.hpp"
#include <kube/engine/runtime.hpp>

#include <utility>

#include "dial.hpp"
#include "resolver.hpp"
#include "tls_context.hpp"

namespace kube::detail {

namespace {

Resolver::Threads resolver_threads(const TransportOptions& options) {
  const bool none =
      options.runtime != nullptr && Inside::core(*options.runtime)->is_without_threads();
  return none ? Resolver::Threads::kNone : Resolver::Threads::kAllowed;
}

/// Returns the peer of the sockets: the proxy, if there is one.
const Url& first_hop(const Origin& origin) {
  return origin.proxy ? *origin.proxy : origin.server;
}

class SocketNetwork final : public Network {
 public:
  SocketNetwork(const Origin& origin, const TransportOptions& options,
                std::shared_ptr<Mailbox> mailbox, const SocketWatcher& watcher)
      : origin_(origin),
        options_(options),
        watcher_(watcher),
        resolver_(first_hop(origin).host, first_hop(origin).port, std::move(mailbox), options.log,
                  resolver_threads(options)) {}

  [[nodiscard]] std::unique_ptr<Dial> dial(std::shared_ptr<const TlsMaterial> material) override {
    const bool secure = origin_.secure() || (origin_.proxy && origin_.proxy->scheme == "https");
    if (secure && (tls_ == nullptr || material != tls_material_)) {
      tls_ = make_tls_context(*material, origin_.name);
      tls_material_ = material;
    }
    return std::make_unique<SocketDial>(origin_, options_, std::move(material), tls_, resolver_,
                                        watcher_);
  }

  void renew_tls() noexcept override { tls_ = nullptr; }

  [[nodiscard]] const Clock& clock() const noexcept override { return system_clock(); }

 private:
  const Origin& origin_;
  const TransportOptions& options_;
  const SocketWatcher& watcher_;
  Resolver resolver_;
  /// Made from tls_material_ on first use.
  std::shared_ptr<SSL_CTX> tls_;
  std::shared_ptr<const TlsMaterial> tls_material_;
};

}  // namespace

std::unique_ptr<Network> make_socket_network(const Origin& origin, const TransportOptions& options,
                                             std::shared_ptr<Mailbox> mailbox,
                                             const SocketWatcher& watcher) {
  return std::make_unique<SocketNetwork>(origin, options, std::move(mailbox), watcher);
}

}  // namespace kube::detail
