// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/informers/cache_sync.hpp>
#include <kube/informers/factory_core.hpp>
#include <kube/informers/options.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube {

/// Base of the factories of typed, dynamic and metadata informers. Keeps one shared informer per
/// resource and runs them.
///
/// Thread safety: any method from any thread. shutdown() and the destructor wait for handlers, so a
/// handler must not call them: shutdown() throws std::logic_error there; the destructor logs an
/// error, stops the informers and returns before they have ended. To stop from a handler, request a
/// stop through the token given to start(), or call stop_informer().
class InformerFactory {
 public:
  /// Throws std::invalid_argument if there is a metrics registry, and the name is empty or already
  /// in use.
  InformerFactory(Client client, FactoryOptions options);
  InformerFactory(const InformerFactory&) = delete;
  InformerFactory& operator=(const InformerFactory&) = delete;
  /// Like shutdown(), but does not throw.
  ~InformerFactory();

  /// Starts each requested informer that does not run yet, on the Runtime of the client, and
  /// returns at once. Call it again after requesting more informers. `stop` applies to the
  /// informers started by this call. No effect after shutdown(). Throws Error if an informer cannot
  /// be started; all others have started, and another call tries again.
  void start(const std::stop_token& stop = {}) { core_->start(stop); }
  /// Stops all informers and waits until they have ended. Caches remain readable. Throws
  /// std::logic_error in a handler.
  void shutdown() { core_->shutdown(); }
  /// Waits until the initial list of each requested informer is in its cache, a stop, or `timeout`.
  /// Returns the state of each informer and, if it has not synced, the reason. If an informer has
  /// not been started, returns at once and reports it.
  [[nodiscard]] CacheSync wait_for_cache_sync(
      std::stop_token stop = {}, std::optional<Clock::Duration> timeout = std::nullopt);

  /// The client of all informers.
  [[nodiscard]] const Client& client() const noexcept { return core_->client(); }
  /// The options that the factory was made with.
  [[nodiscard]] const FactoryOptions& options() const noexcept { return core_->options(); }

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::FactoryCore> core_;
};

}  // namespace kube
