// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "testkit/requests/account_tokens.hpp"
#include "testkit/requests/engine.hpp"
#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/admission/resource_quotas.hpp"
#include "testkit/store/store.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// Random names and numbers, from one seed.
/// Thread safety: all methods, from any thread.
class RandomIds {
 public:
  explicit RandomIds(std::uint64_t seed);
  /// A random UUID, version 4.
  [[nodiscard]] std::string uuid();
  /// Five characters for generateName (CR-2).
  [[nodiscard]] std::string suffix();
  /// Uniform in [0, bound).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  std::mt19937_64 engine_;
};

/// What the clock has to do with a running watch.
struct WatchTimer {
  std::shared_ptr<WatchCursor> cursor;
  bool bookmarks = false;
  std::uint64_t start_revision = 0;
  Clock::TimePoint next_bookmark = {};
  Clock::TimePoint deadline = {};
};

/// What the parts of the engine share.
struct Services {
  /// When an event (of the API) goes, unless it is written again.
  struct Expiry {
    Clock::TimePoint at;
    std::string key;
    std::uint64_t revision = 0;
  };

  explicit Services(EngineOptions given);

  [[nodiscard]] std::shared_ptr<const Catalog> catalog() const;
  void set_catalog(std::shared_ptr<const Catalog> next);
  /// Seconds since the epoch as RFC 3339.
  [[nodiscard]] std::string now_text() const;

  /// Store::commit, with what belongs to every write. Throws ApiError 403 if the write must fit into quotas and does
  /// not.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next,
                                     QuotaUse use = QuotaUse::kCounted);
  /// Makes room for schedule_expiry(), which cannot fail then.
  void prepare_expiry(const std::string& key);
  /// Lets an event disappear when its time has come (BK-3).
  void schedule_expiry(const std::string& key, std::uint64_t revision) noexcept;
  /// The first that is due. It stays until it is forgotten.
  [[nodiscard]] std::optional<Expiry> due_expiry(Clock::TimePoint now);
  /// Unless the event was written again meanwhile.
  void forget_expiry(const Expiry& expiry) noexcept;
  [[nodiscard]] Collection& events() noexcept { return events_; }
  [[nodiscard]] Collection& limit_ranges() noexcept { return limit_ranges_; }
  [[nodiscard]] Collection& priority_classes() noexcept { return priority_classes_; }

  EngineOptions options;
  Clock& clock;
  ObjectCodec codec;
  Store store;
  ResourceQuotas quotas;
  RandomIds ids;
  AccountTokens account_tokens;
  /// Requested when the engine goes: nobody waits any longer.
  std::stop_source stopping;

  std::mutex timers_mutex;
  // Guarded by timers_mutex:
  std::list<WatchTimer> watch_timers;
  std::list<Expiry> expiries;  ///< in the order of time, one per key
  std::unordered_map<std::string, std::list<Expiry>::iterator> expiry_of;

 private:
  Collection& events_;
  Collection& limit_ranges_;
  Collection& priority_classes_;
  mutable std::mutex catalog_mutex_;
  std::shared_ptr<const Catalog> catalog_;  // guarded by catalog_mutex_
};

/// "default/web-0", or the name alone.
[[nodiscard]] std::string key_of(std::string_view namespace_, std::string_view name);

}  // namespace kube::testkit::detail
