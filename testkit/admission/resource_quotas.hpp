// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "testkit/admission/quota_usage.hpp"
#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Whether a write may be refused for the sake of a quota.
enum class QuotaUse {
  kCounted,   ///< it is counted in any case
  kEnforced,  ///< it must fit
};

/// Resource quotas (AD-7, AD-8): refuses what would exceed them, and keeps the counts in their status.
///
/// Writes in a namespace that has quotas come one after the other, each together with its count, so the counts are
/// exact and concurrent requests cannot exceed them. Elsewhere a write costs the look at one counter.
/// Thread safety: all methods, from any thread.
class ResourceQuotas {
 public:
  ResourceQuotas(Store& store, ObjectCodec& codec)
      : store_(store), codec_(codec), quotas_(store.collection({"", "resourcequotas"})) {}

  /// Store::commit, counted. Throws ApiError 403 if the write is to be enforced and exceeds a quota.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next, QuotaUse use);
  /// Throws as an enforced commit would.
  void check(const Collection& collection, const std::string& key, const StoredObject& expected,
             const StoredObject& next);
  /// Counts anew for all quotas that were counted for; for after a change of the whole store.
  void recount();

 private:
  /// An object before and after a write, as far as it exists.
  struct Write {
    const GroupResource& resource;
    Ref<Value> before;
    Ref<Value> after;
  };

  [[nodiscard]] bool has_quotas(std::string_view namespace_) const;
  /// The same, or true if there is no memory to find out.
  [[nodiscard]] bool may_have_quotas(std::string_view namespace_) const noexcept;
  [[nodiscard]] Store::ListResult quotas_of(std::string_view namespace_) const;
  void check_locked(std::string_view namespace_, const Write& write);
  void count_locked(std::string_view namespace_, const Write& write);
  /// Counts everything in the namespace again, for all of its quotas.
  void recount_locked(std::string_view namespace_);
  void recount_quota_locked(const std::string& key);
  /// Counts for quotas of the namespace whose status is not about their spec, and for all if a count was missed.
  void catch_up_locked(std::string_view namespace_);
  /// Counts after a write, which has happened whatever becomes of the count.
  template <typename Count>
  void count_or_miss_locked(Count count);
  /// Replaces the status of a quota until nobody is faster.
  template <typename Change>
  void set_status_locked(const std::string& key, Change change);

  Store& store_;
  ObjectCodec& codec_;
  Collection& quotas_;
  std::mutex mutex_;
  bool missed_ = false;  // guarded by mutex_: a count failed, for want of memory
};

}  // namespace kube::testkit::detail
