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

/// What an informer of a factory is about: two of them may show the same resource as different types, or
/// different namespaces of it.
struct InformerKey {
  const Type* type = nullptr;
  GroupVersionResource resource = {};
  std::string namespace_ = {};  ///< set only where there may be one informer for each

  friend bool operator==(const InformerKey&, const InformerKey&) = default;
  friend bool operator<(const InformerKey& a, const InformerKey& b) {
    if (const auto order = a.resource <=> b.resource; order != 0) return order < 0;
    if (a.namespace_ != b.namespace_) return a.namespace_ < b.namespace_;
    return std::compare_three_way{}(a.type, b.type) < 0;
  }
};

/// How to make one, as far as types do not matter.
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

/// The informers of a factory.
///
/// Thread safety: any method from any thread.
class FactoryCore {
 public:
  using Informer = std::shared_ptr<SharedInformerCore>;
  using Make = std::function<Informer()>;
  /// How a wait treats informers that have not been started.
  enum class Unstarted { kReport, kIgnore };

  /// Throws std::invalid_argument if there is a metrics registry and no name, or one that is taken.
  FactoryCore(Client client, FactoryOptions options);
  FactoryCore(const FactoryCore&) = delete;
  FactoryCore& operator=(const FactoryCore&) = delete;
  ~FactoryCore();

  [[nodiscard]] const Client& client() const noexcept;
  [[nodiscard]] const FactoryOptions& options() const noexcept;

  /// The informer of that key. The first time it comes from what configure() was given, else from `make`.
  /// That may ask the factory for other informers, but not wait for another thread that does.
  [[nodiscard]] Informer informer(const InformerKey& key, const Make& make);
  /// Throws std::logic_error if the informer exists already.
  void configure(const InformerKey& key, Make make);
  [[nodiscard]] Informer make(const InformerPlan& plan);

  /// Throws Error if an informer cannot begin, for want of memory or threads; all others have started, and the next call
  /// tries again.
  void start(const std::stop_token& stop);
  /// Throws std::logic_error if a handler of an informer calls it, for which it would wait for ever, or other code that
  /// must not wait.
  void shutdown();
  /// For destructors: as shutdown(), but a handler that calls it is not waited for; then `self` keeps the factory until
  /// the others have ended.
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
  /// Has `self` destroyed when all informers have ended. Throws std::bad_alloc.
  static void keep_until_ended(const std::shared_ptr<FactoryCore>& self);
  void wait_until_settled(const Entry& entry, Clock::TimePoint deadline,
                          const std::stop_token& stop) const;
  /// The entry with the next higher number that has started; null if there is none. Whoever visits all entries neither
  /// holds the lock meanwhile nor needs memory for them.
  [[nodiscard]] std::shared_ptr<Entry> next_started(std::uint64_t number);
  [[nodiscard]] InformerMetrics metrics_of(const InformerKey& key);

  const std::unique_ptr<State> state_;
};

}  // namespace kube::detail
