// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>

#include "testkit/admission/resource_quotas.hpp"
#include "testkit/controllers/event_expiry.hpp"
#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/rbac/rbac.hpp"
#include "testkit/requests/account_tokens.hpp"
#include "testkit/requests/engine.hpp"
#include "testkit/requests/impersonation.hpp"
#include "testkit/requests/user_tokens.hpp"
#include "testkit/rest/watch_timers.hpp"
#include "testkit/store/store.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// A seeded generator of random names and numbers.
/// Thread safety: all methods, from any thread.
class RandomIds {
 public:
  explicit RandomIds(std::uint64_t seed);
  /// Returns a random UUID, version 4.
  [[nodiscard]] std::string uuid();
  /// Returns a suffix of five characters for generateName (CR-2).
  [[nodiscard]] std::string suffix();
  /// Returns a uniformly distributed number in [0, bound).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  std::mt19937_64 engine_;
};

/// State shared by the parts of the engine.
struct Services {
  explicit Services(EngineOptions given);

  [[nodiscard]] std::shared_ptr<const Catalog> catalog() const;
  void set_catalog(std::shared_ptr<const Catalog> next);
  /// Returns the current time as RFC 3339, in seconds.
  [[nodiscard]] std::string now_text() const;

  /// Returns whether there is an authorizer or RBAC.
  [[nodiscard]] bool is_guarded() const noexcept { return options.authorize || rbac; }
  /// Asks the authorizer of the options, then RBAC. Without either, everything is allowed.
  [[nodiscard]] AccessDecision authorize(const AccessRequest& access) const;

  /// Store::commit with quotas and event expiry. Throws ApiError 403 if the write is subject to
  /// quotas and exceeds one.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next,
                                     QuotaUse use = QuotaUse::kCounted);
  [[nodiscard]] Collection& events() noexcept { return events_; }
  [[nodiscard]] Collection& limit_ranges() noexcept { return limit_ranges_; }
  [[nodiscard]] Collection& priority_classes() noexcept { return priority_classes_; }

  EngineOptions options;
  Clock& clock;
  ObjectCodec codec;
  Store store;
  ResourceQuotas quotas;
  RandomIds ids;
  UserTokens user_tokens;
  AccountTokens account_tokens;
  /// Set with EngineOptions::rbac.
  std::optional<Rbac> rbac;
  ImpersonationModes impersonation_modes;
  WatchTimers watch_timers;
  EventExpiry event_expiry;
  /// Requested when the engine is destroyed; ends all waits.
  std::stop_source stopping;

 private:
  Collection& events_;
  Collection& limit_ranges_;
  Collection& priority_classes_;
  mutable std::mutex catalog_mutex_;
  std::shared_ptr<const Catalog> catalog_;  // guarded by catalog_mutex_
};

/// Returns "default/web-0", or only the name if there is no namespace.
[[nodiscard]] std::string key_of(std::string_view namespace_, std::string_view name);

}  // namespace kube::testkit::detail
