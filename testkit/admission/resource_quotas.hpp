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

/// Whether a quota may refuse a write.
enum class QuotaUse {
  kCounted,   ///< the write is counted but never refused
  kEnforced,  ///< the write must not exceed a quota
};

/// The ResourceQuota plugin (AD-7, AD-8): refuses writes that would exceed a quota, and maintains
/// the usage in the status of quotas.
///
/// Writes in a namespace with quotas are serialized together with their count, so the usage is
/// exact and concurrent requests cannot exceed a quota. In other namespaces the overhead is one
/// look-up.
///
/// Thread safety: all methods, from any thread.
class ResourceQuotas {
 public:
  ResourceQuotas(Store& store, ObjectCodec& codec)
      : store_(store), codec_(codec), quotas_(store.collection({"", "resourcequotas"})) {}

  /// Store::commit with quotas. Throws ApiError 403 if `use` is kEnforced and the write exceeds a
  /// quota.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next, QuotaUse use);
  /// Throws as an enforced commit would.
  void check(const Collection& collection, const std::string& key, const StoredObject& expected,
             const StoredObject& next);
  /// Recounts the usage of all quotas; to be called after the content of the store was replaced.
  void recount();

 private:
  /// An object before and after a write; null where it does not exist.
  struct Write {
    const GroupResource& resource;
    Ref<Value> before;
    Ref<Value> after;
  };

  [[nodiscard]] bool has_quotas(std::string_view namespace_) const;
  /// Like has_quotas(), but returns true if memory runs out.
  [[nodiscard]] bool may_have_quotas(std::string_view namespace_) const noexcept;
  [[nodiscard]] Store::ListResult quotas_of(std::string_view namespace_) const;
  void check_locked(std::string_view namespace_, const Write& write);
  void count_locked(std::string_view namespace_, const Write& write);
  /// Recounts the usage of all quotas of the namespace.
  void recount_locked(std::string_view namespace_);
  void recount_quota_locked(const std::string& key);
  /// Recounts the quotas of the namespace whose status is outdated; all quotas if a count has
  /// failed.
  void catch_up_locked(std::string_view namespace_);
  /// Counts a committed write. A failure is recorded in missed_ and does not fail the write.
  template <typename Count>
  void count_or_miss_locked(Count count);
  /// Replaces the status of a quota; retries on conflicts.
  template <typename Change>
  void set_status_locked(const std::string& key, Change change);

  Store& store_;
  ObjectCodec& codec_;
  Collection& quotas_;
  std::mutex mutex_;
  bool missed_ = false;  // guarded by mutex_: a count failed because memory ran out
};

}  // namespace kube::testkit::detail
