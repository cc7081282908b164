// SPDX-License-Identifier: Apache-2.0
#include "services.hpp"

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
      ids(options.seed),
      events_(store.collection({"", "events"})),
      catalog_(Catalog::builtin(store)) {}

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
                                             const StoredObject& expected, StoredObject next) {
  const bool kept = static_cast<bool>(next);
  auto written = store.commit(collection, key, expected, std::move(next));
  if (written && kept && &collection == &events_) {
    schedule_expiry(key, written->revision());
  }
  return written;
}

void Services::schedule_expiry(const std::string& key, std::uint64_t revision) {
  const std::lock_guard lock{timers_mutex};
  if (const auto known = expiry_of.find(key); known != expiry_of.end()) {
    if (known->second->revision > revision) return;  // another writer was faster to get here
    expiries.erase(known->second);
  }
  expiries.push_back({clock.now() + options.event_ttl, key, revision});
  expiry_of[key] = std::prev(expiries.end());
}

std::vector<Services::Expiry> Services::due_expiries(Clock::TimePoint now) {
  std::vector<Expiry> due;
  const std::lock_guard lock{timers_mutex};
  while (!expiries.empty() && expiries.front().at <= now) {
    due.push_back(std::move(expiries.front()));
    expiry_of.erase(due.back().key);
    expiries.pop_front();
  }
  return due;
}

std::string key_of(std::string_view namespace_, std::string_view name) {
  std::string key{namespace_};
  if (!key.empty()) key.push_back('/');
  return key.append(name);
}

}  // namespace kube::testkit::detail
