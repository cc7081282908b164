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

/// Which server a measured process talks to.
struct Server {
  std::string url;
  std::string ca = {};  ///< PEM, if it speaks TLS
  bool json = false;    ///< ask for JSON
  /// Of a real cluster, instead of all of the above but `json`.
  std::string kubeconfig = {};

  /// The replaying server has protobuf only, apart from stamped events.
  [[nodiscard]] bool replays() const noexcept { return !json && kubeconfig.empty(); }

  /// `path` goes in front of all others: which recording a replaying server plays.
  [[nodiscard]] Client client(std::string_view path = {}) const;
};

/// An informer of all pods, set up as a program would do it, that runs as long as this lives.
class Rig {
 public:
  /// Pods that the handler was told of.
  struct Counts {
    std::atomic<std::size_t> added = 0;
    std::atomic<std::size_t> updated = 0;
    std::atomic<std::size_t> deleted = 0;
    std::atomic<int> listed = 0;  ///< how often the reflector had the whole state
  };

  /// `watch_list` says how to get the initial state. A `handler` replaces the one that counts.
  Rig(const Client& client, bool watch_list, HandlerOptions options = {},
      EventHandler<Pod> handler = {}, std::string_view space = {});

  [[nodiscard]] const IndexerView<Pod>& pods() const { return informer_->indexer(); }
  [[nodiscard]] const Counts& counts() const noexcept { return *counts_; }
  [[nodiscard]] const HandlerRegistration& registration() const noexcept { return registration_; }
  /// Until the handler was told of all pods. Throws std::runtime_error after two minutes.
  void wait_until_synced() const;
  /// Until the initial state was had so many times.
  void wait_until_listed(int times) const;
  /// Until the bookmark at the end of a storm has come, and the handler has nothing left to do.
  void wait_until_quiet() const;

 private:
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::unique_ptr<SharedIndexInformer<Pod>> informer_;
  HandlerRegistration registration_;
  std::jthread thread_;
};

void rest(double seconds);

}  // namespace kube::bench
