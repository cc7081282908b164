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

/// What the factories of typed, dynamic and metadata informers have in common: they keep one informer per
/// resource, shared by all who ask, and run them.
///
/// Thread safety: any method from any thread. shutdown() and the destructor wait for handlers, so no handler may call
/// them: shutdown() throws std::logic_error there; the destructor logs an error, stops the informers and returns while
/// they still end. A handler that wants an end requests it from the stop token of start(), or calls
/// stop_informer().
class InformerFactory {
 public:
  InformerFactory(Client client, FactoryOptions options);
  InformerFactory(const InformerFactory&) = delete;
  InformerFactory& operator=(const InformerFactory&) = delete;
  /// As shutdown(), but throws nothing.
  ~InformerFactory();

  /// Starts each informer that somebody asked for and that does not run yet, on the Runtime of the client, and returns
  /// at once. Call it again after asking for more. `stop` is for those that this call starts. Does nothing
  /// after shutdown(). Throws Error if an informer cannot begin; all others have started then, and another
  /// call tries again.
  void start(const std::stop_token& stop = {}) { core_->start(stop); }
  /// Stops all informers and waits until they have ended. Caches can still be read. Throws std::logic_error
  /// in a handler.
  void shutdown() { core_->shutdown(); }
  /// Waits until the first list is in the cache of each informer that somebody asked for. The answer tells of each
  /// one whether that is so and, if not (because of a stop, or after `timeout`), why. Does not wait if one of them
  /// has not been started: the answer says so at once.
  [[nodiscard]] CacheSync wait_for_cache_sync(
      std::stop_token stop = {}, std::optional<Clock::Duration> timeout = std::nullopt);

  [[nodiscard]] const Client& client() const noexcept { return core_->client(); }
  [[nodiscard]] const FactoryOptions& options() const noexcept { return core_->options(); }

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::FactoryCore> core_;
};

}  // namespace kube
