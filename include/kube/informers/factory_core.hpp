// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/cache/shared_informer_core.hpp>
#include <kube/client/client.hpp>
#include <kube/codec/projection.hpp>
#include <kube/informers/cache_sync.hpp>
#include <kube/informers/options.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kube::detail {

/// Identifies an informer of a factory. A factory may have several informers of one resource: as
/// different types, or for different namespaces.
struct InformerKey {
  const Type* type = nullptr;
  GroupVersionResource resource = {};
  std::string namespace_ = {};  ///< set only if there is one informer per namespace

  friend bool operator==(const InformerKey&, const InformerKey&) = default;
  friend bool operator<(const InformerKey& a, const InformerKey& b) {
    if (const auto order = a.resource <=> b.resource; order != 0) return order < 0;
    if (a.namespace_ != b.namespace_) return a.namespace_ < b.namespace_;
    return std::compare_three_way{}(a.type, b.type) < 0;
  }
};

/// How to make an informer, without its type.
struct InformerPlan {
  InformerKey key;
  const ObjectAccess* access;
  ResourceCore resource;
  std::optional<Clock::Duration> resync = std::nullopt;
  std::function<void(ListOptions&)> tweak_list_options = nullptr;
  Projection projection = {};
  IndexerOptions indexer = {};
  std::optional<QueueKind> queue_kind = std::nullopt;
};

/// The informers of a factory, without their types.
///
/// Thread safety: any method from any thread.
class FactoryCore {
 public:
  using Informer = std::shared_ptr<SharedInformerCore>;
  using Make = std::function<Informer()>;
  /// How wait_for_cache_sync() treats informers that have not been started.
  enum class Unstarted { kReport, kIgnore };

  /// Throws std::invalid_argument if there is a metrics registry, and the name is empty or already
  /// in use.
  FactoryCore(Client client, FactoryOptions options);
  FactoryCore(const FactoryCore&) = delete;
  FactoryCore& operator=(const FactoryCore&) = delete;
  ~FactoryCore();

  [[nodiscard]] const Client& client() const noexcept;
  [[nodiscard]] const FactoryOptions& options() const noexcept;

  /// Returns the informer for that key. The first call makes it, with the function given to
  /// configure(), else with `make`. This function may request other informers from the factory, but
  /// must not wait for another thread that does.
  [[nodiscard]] Informer informer(const InformerKey& key, const Make& make);
  /// Sets the function that makes an informer. Throws std::logic_error if the informer exists
  /// already.
  void configure(const InformerKey& key, Make make);
  /// Makes an informer that is not yet part of the factory.
  [[nodiscard]] Informer make(const InformerPlan& plan);

  /// See InformerFactory::start(). Throws Error if an informer cannot be started, for lack of
  /// memory or threads; all others have started, and the next call tries again.
  void start(const std::stop_token& stop);
  /// See InformerFactory::shutdown(). Throws std::logic_error if called by a handler of an
  /// informer, which would deadlock, or by other code that must not block.
  void shutdown();
  /// shutdown() for destructors. If called by a handler, does not wait for that handler; `self`
  /// then keeps the factory alive until all informers have ended.
  static void end(const std::shared_ptr<FactoryCore>& self) noexcept;
  [[nodiscard]] CacheSync wait_for_cache_sync(std::stop_token stop,
                                              std::optional<Clock::Duration> timeout,
                                              Unstarted unstarted = Unstarted::kReport);
  DoneSignal stop_informer(const InformerKey& key);

 private:
  struct Entry;
  struct State;
  void begin(Entry& entry, const std::stop_token& stop) const;
  [[nodiscard]] bool runs_here();
  void request_stop() noexcept;
  void stop_and_wait() noexcept;
  /// Keeps `self` alive until all informers have ended. Throws std::bad_alloc.
  static void keep_until_ended(const std::shared_ptr<FactoryCore>& self);
  void wait_until_settled(const Entry& entry, Clock::TimePoint deadline,
                          const std::stop_token& stop) const;
  /// Returns the started entry with the next higher number; null if there is none. Iterating this
  /// way needs neither the lock in between nor memory.
  [[nodiscard]] std::shared_ptr<Entry> next_started(std::uint64_t number);
  [[nodiscard]] InformerMetrics metrics_of(const InformerKey& key);

  const std::unique_ptr<State> state_;
};

}  // namespace kube::detail
