// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/services.hpp"

#include <kube/api/time.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

RandomIds::RandomIds(std::uint64_t seed) : engine_(seed != 0 ? seed : std::random_device{}()) {}

std::string RandomIds::uuid() {
  const std::lock_guard lock{mutex_};
  const std::uint64_t high = engine_();
  const std::uint64_t low = engine_();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, 0x8000 | ((low >> 48) & 0x3fff), low & 0xffffffffffff);
}

std::string RandomIds::suffix() {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 5; ++i) text.push_back(kAlphabet[below(kAlphabet.size())]);
  return text;
}

std::uint64_t RandomIds::below(std::uint64_t bound) {
  const std::lock_guard lock{mutex_};
  return std::uniform_int_distribution<std::uint64_t>{0, bound - 1}(engine_);
}

Services::Services(EngineOptions given)
    : options(std::move(given)),
      clock(options.clock != nullptr ? *options.clock : system_clock()),
      store({.clock = &clock,
             .history_size = options.history_size,
             .history_age = options.history_age,
             .watch_backlog = options.watch_backlog,
             .journal = options.journal},
            codec),
      quotas(store, codec),
      ids(options.seed),
      user_tokens(options.tokens),
      account_tokens(store, clock),
      event_expiry(clock, options.event_ttl),
      events_(store.collection({"", "events"})),
      limit_ranges_(store.collection({"", "limitranges"})),
      priority_classes_(store.collection({"scheduling.k8s.io", "priorityclasses"})),
      catalog_(Catalog::builtin(store)) {
  if (options.rbac) rbac.emplace(store);
}

AccessDecision Services::authorize(const AccessRequest& access) const {
  if (options.authorize) {
    AccessDecision decision = options.authorize(access);
    if (!decision.allowed || !rbac) return decision;
  }
  return rbac ? rbac->decide(access) : AccessDecision{};
}

std::shared_ptr<const Catalog> Services::catalog() const {
  const std::lock_guard lock{catalog_mutex_};
  return catalog_;
}

void Services::set_catalog(std::shared_ptr<const Catalog> next) {
  const std::lock_guard lock{catalog_mutex_};
  catalog_ = std::move(next);
}

std::string Services::now_text() const { return Time{clock.wall_now()}.str(); }

std::optional<StoredObject> Services::commit(Collection& collection, const std::string& key,
                                             const StoredObject& expected, StoredObject next,
                                             QuotaUse use) {
  const bool expires = next && &collection == &events_;
  if (expires) event_expiry.prepare(key);
  auto written = quotas.commit(collection, key, expected, std::move(next), use);
  if (written && expires) event_expiry.schedule(key, written->revision());
  return written;
}

std::string key_of(std::string_view namespace_, std::string_view name) {
  std::string key{namespace_};
  if (!key.empty()) key.push_back('/');
  return key.append(name);
}

}  // namespace kube::testkit::detail
