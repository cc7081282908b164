// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace kube::bench {

using core::v1::Pod;

/// The server of a measured process.
struct Server {
  std::string url;
  std::string ca = {};  ///< PEM, if it speaks TLS
  bool json = false;    ///< request JSON
  /// The kubeconfig of a real cluster, used instead of `url` and `ca`.
  std::string kubeconfig = {};

  /// Returns whether this is the replaying server, which has protobuf only, apart from stamped events.
  [[nodiscard]] bool replays() const noexcept { return !json && kubeconfig.empty(); }

  /// Creates a client. `path` is a prefix of all paths that selects the recording of a replaying
  /// server.
  [[nodiscard]] Client client(std::string_view path = {}) const;
};

/// An informer of all pods, set up like in a program; it runs during the lifetime of this object.
class Rig {
 public:
  /// Notifications that the handler has received.
  struct Counts {
    std::atomic<std::size_t> added = 0;
    std::atomic<std::size_t> updated = 0;
    std::atomic<std::size_t> deleted = 0;
    std::atomic<int> listed = 0;  ///< number of complete lists
  };

  /// `watch_list` selects how to get the initial state. `handler` replaces the counting handler.
  Rig(const Client& client, bool watch_list, HandlerOptions options = {},
      EventHandler<Pod> handler = {}, std::string_view space = {});

  [[nodiscard]] const IndexerView<Pod>& pods() const { return informer_->indexer(); }
  [[nodiscard]] const Counts& counts() const noexcept { return *counts_; }
  [[nodiscard]] const HandlerRegistration& registration() const noexcept { return registration_; }
  /// Waits until the handler has received all pods. Throws std::runtime_error after two minutes.
  void wait_until_synced() const;
  /// Waits until the initial state was received that many times.
  void wait_until_listed(int times) const;
  /// Waits until the bookmark at the end of a storm has arrived, and the handler is idle.
  void wait_until_quiet() const;

 private:
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::unique_ptr<SharedIndexInformer<Pod>> informer_;
  HandlerRegistration registration_;
  std::jthread thread_;
};

void rest(double seconds);

}  // namespace kube::bench
