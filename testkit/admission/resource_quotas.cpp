// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/resource_quotas.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

const GroupResource kPods{"", "pods"};
const GroupResource kEvents{"", "events"};

/// Returns the namespace of a key; empty for cluster-scoped objects.
std::string_view namespace_of(std::string_view key) {
  const std::size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view{} : key.substr(0, slash);
}

/// Returns the usage of an object, restricted to the resources that the quota limits.
ResourceAmounts counted_usage(const Value& quota, const ResourceAmounts& hard,
                              const GroupResource& resource, const Ref<Value>& object) {
  if (!object || !is_in_scope(quota, resource, *object)) return {};
  ResourceAmounts usage = usage_of(resource, *object);
  std::erase_if(usage, [&](const auto& entry) { return !hard.contains(entry.first); });
  return usage;
}

/// Returns `a` minus `b`, without zero amounts.
ResourceAmounts difference(ResourceAmounts a, const ResourceAmounts& b) {
  for (const auto& [name, amount] : b) {
    a.try_emplace(name, Quantity{"0"}).first->second -= amount;
  }
  std::erase_if(a, [](const auto& entry) { return entry.second == Quantity{}; });
  return a;
}

Ref<Value> value_of(const StoredObject& object) { return object ? object.value() : Ref<Value>{}; }

/// Returns whether the status of a quota does not match its spec. Quotas without limits are never
/// outdated, as a test may have set their status.
bool is_outdated(const Value& quota) {
  const Value& hard = quota["spec"]["hard"];
  return hard.size() > 0 && amounts_of(hard) != amounts_of(quota["status"]["hard"]);
}

/// Returns whether a write of a quota requires a recount.
bool changes_limits(const Ref<Value>& before, const Ref<Value>& after) {
  if (!after) return false;
  return is_outdated(*after) || (before && (*before)["spec"] != (*after)["spec"]);
}

}  // namespace

bool ResourceQuotas::has_quotas(std::string_view namespace_) const {
  if (quotas_.size() == 0) return false;
  Store::ListQuery query;
  query.scope.prefix = fmt::format("{}/", namespace_);
  query.limit = 1;
  return !store_.list(quotas_, query).objects.empty();
}

bool ResourceQuotas::may_have_quotas(std::string_view namespace_) const noexcept {
  try {
    return has_quotas(namespace_);
  } catch (const std::exception&) {
    return true;
  }
}

Store::ListResult ResourceQuotas::quotas_of(std::string_view namespace_) const {
  Store::ListQuery query;
  query.scope.prefix = fmt::format("{}/", namespace_);
  return store_.list(quotas_, query);
}

std::optional<StoredObject> ResourceQuotas::commit(Collection& collection, const std::string& key,
                                                   const StoredObject& expected, StoredObject next,
                                                   QuotaUse use) {
  const std::string_view namespace_ = namespace_of(key);
  const bool is_quota = &collection == &quotas_;
  if (namespace_.empty() || collection.resource() == kEvents) {
    return store_.commit(collection, key, expected, std::move(next));
  }
  if (!is_quota && !has_quotas(namespace_)) {
    auto written = store_.commit(collection, key, expected, std::move(next));
    // A quota created concurrently may have been counted before this write.
    if (written && may_have_quotas(namespace_)) {
      const std::lock_guard lock{mutex_};
      count_or_miss_locked([&] { recount_locked(namespace_); });
    }
    return written;
  }
  const std::lock_guard lock{mutex_};
  catch_up_locked(namespace_);
  const Write write{collection.resource(), value_of(expected), value_of(next)};
  if (use == QuotaUse::kEnforced) check_locked(namespace_, write);
  auto written = store_.commit(collection, key, expected, std::move(next));
  if (!written) return written;
  count_or_miss_locked([&] {
    count_locked(namespace_, write);
    if (is_quota && changes_limits(write.before, write.after)) recount_quota_locked(key);
  });
  return written;
}

template <typename Count>
void ResourceQuotas::count_or_miss_locked(Count count) {
  try {
    count();
  } catch (const std::exception&) {
    missed_ = true;  // the write itself has been committed
  }
}

void ResourceQuotas::check(const Collection& collection, const std::string& key,
                           const StoredObject& expected, const StoredObject& next) {
  const std::string_view namespace_ = namespace_of(key);
  if (namespace_.empty() || collection.resource() == kEvents || !has_quotas(namespace_)) return;
  const std::lock_guard lock{mutex_};
  catch_up_locked(namespace_);
  check_locked(namespace_, {collection.resource(), value_of(expected), value_of(next)});
}

void ResourceQuotas::recount() {
  if (quotas_.size() == 0) return;
  const std::lock_guard lock{mutex_};
  for (const auto& [key, object] : store_.list(quotas_, {}).objects) {
    if (!is_outdated(*object.value())) recount_quota_locked(key);
  }
}

void ResourceQuotas::check_locked(std::string_view namespace_, const Write& write) {
  if (!write.after) return;
  const std::string name = metadata_text(*write.after, "name");
  for (const auto& [key, object] : quotas_of(namespace_).objects) {
    const Ref<Value> quota = object.value();
    const ResourceAmounts hard = amounts_of((*quota)["status"]["hard"]);
    if (!is_in_scope(*quota, write.resource, *write.after)) continue;
    if (write.resource == kPods && !write.before) {
      if (const std::string missing = missing_amounts(hard, *write.after); !missing.empty()) {
        throw forbidden(
            write.resource, name,
            fmt::format("failed quota: {}: {}", metadata_text(*quota, "name"), missing));
      }
    }
    ResourceAmounts requested =
        difference(counted_usage(*quota, hard, write.resource, write.after),
                   counted_usage(*quota, hard, write.resource, write.before));
    const ResourceAmounts used = amounts_of((*quota)["status"]["used"]);
    ResourceAmounts exceeded_used;
    ResourceAmounts exceeded_hard;
    std::erase_if(requested, [&](const auto& entry) {
      const auto& [resource, amount] = entry;
      const auto known = used.find(resource);
      const Quantity so_far = known == used.end() ? Quantity{"0"} : known->second;
      const Quantity& most = hard.find(resource)->second;
      if (amount < Quantity{} || so_far + amount <= most) return true;
      exceeded_used.emplace(resource, so_far);
      exceeded_hard.emplace(resource, most);
      return false;
    });
    if (requested.empty()) continue;
    throw forbidden(write.resource, name,
                    fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                                metadata_text(*quota, "name"), to_text(requested),
                                to_text(exceeded_used), to_text(exceeded_hard)));
  }
}

void ResourceQuotas::count_locked(std::string_view namespace_, const Write& write) {
  for (const auto& [key, object] : quotas_of(namespace_).objects) {
    const Ref<Value> quota = object.value();
    const ResourceAmounts hard = amounts_of((*quota)["status"]["hard"]);
    const ResourceAmounts change =
        difference(counted_usage(*quota, hard, write.resource, write.after),
                   counted_usage(*quota, hard, write.resource, write.before));
    if (change.empty()) continue;
    set_status_locked(key, [&](Value& status) {
      ResourceAmounts used = amounts_of(std::as_const(status)["used"]);
      add_amounts(used, change);
      for (auto& [name, amount] : used) {
        if (amount < Quantity{}) amount = "0";
      }
      status["used"] = list_of(used);
    });
  }
}

void ResourceQuotas::recount_locked(std::string_view namespace_) {
  for (const auto& [key, object] : quotas_of(namespace_).objects) recount_quota_locked(key);
}

void ResourceQuotas::recount_quota_locked(const std::string& key) {
  const StoredObject stored = store_.get(quotas_, key);
  if (!stored) return;
  const Ref<Value> quota = stored.value();
  const ResourceAmounts hard = amounts_of((*quota)["spec"]["hard"]);
  ResourceAmounts used;
  // A quota may name resources that do not exist or have no objects.
  std::map<GroupResource, Collection*> counted;
  for (const auto& [name, amount] : hard) {
    used.emplace(name, "0");
    const GroupResource resource = counted_resource(name);
    if (Collection* const collection = store_.find_collection(resource)) {
      counted.emplace(resource, collection);
    }
  }
  Store::ListQuery query;
  query.scope.prefix = fmt::format("{}/", namespace_of(key));
  for (const auto& [resource, collection] : counted) {
    for (const auto& [name, object] : store_.list(*collection, query).objects) {
      add_amounts(used, counted_usage(*quota, hard, resource, object.value()));
    }
  }
  set_status_locked(key, [&](Value& status) {
    status["hard"] = list_of(hard);
    status["used"] = list_of(used);
  });
}

void ResourceQuotas::catch_up_locked(std::string_view namespace_) {
  if (missed_) {
    for (const auto& [key, object] : store_.list(quotas_, {}).objects) recount_quota_locked(key);
    missed_ = false;
    return;
  }
  for (const auto& [key, object] : quotas_of(namespace_).objects) {
    if (is_outdated(*object.value())) recount_quota_locked(key);
  }
}

template <typename Change>
void ResourceQuotas::set_status_locked(const std::string& key, Change change) {
  while (true) {
    const StoredObject current = store_.get(quotas_, key);
    if (!current) return;
    Value quota = *current.value();
    change(quota["status"]);
    const StoredObject next = codec_.from_value(current.type(), quota);
    if (next.same_content(current) || store_.commit(quotas_, key, current, next)) return;
  }
}

}  // namespace kube::testkit::detail
