// SPDX-License-Identifier: Apache-2.0
#include "testkit/controllers/event_expiry.hpp"

namespace kube::testkit::detail {

void EventExpiry::prepare(const std::string& key) {
  const std::lock_guard lock{mutex_};
  if (by_key_.contains(key)) return;
  // Revision 0: if the write fails, the entry matches no event.
  std::list<Entry> fresh;
  fresh.push_back({clock_.now() + ttl_, key, 0});
  by_key_.emplace(key, fresh.begin());
  entries_.splice(entries_.end(), fresh);
}

void EventExpiry::schedule(const std::string& key, std::uint64_t revision) noexcept {
  const std::lock_guard lock{mutex_};
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return;
  Entry& entry = *known->second;
  if (entry.revision > revision) return;  // a later write was scheduled first
  entry.at = clock_.now() + ttl_;
  entry.revision = revision;
  entries_.splice(entries_.end(), entries_, known->second);
}

std::optional<EventExpiry::Entry> EventExpiry::due(Clock::TimePoint now) const {
  const std::lock_guard lock{mutex_};
  if (entries_.empty() || entries_.front().at > now) return std::nullopt;
  return entries_.front();
}

void EventExpiry::forget(const Entry& entry) noexcept {
  const std::lock_guard lock{mutex_};
  const auto known = by_key_.find(entry.key);
  if (known == by_key_.end() || known->second->revision != entry.revision) return;
  entries_.erase(known->second);
  by_key_.erase(known);
}

void EventExpiry::clear() noexcept {
  const std::lock_guard lock{mutex_};
  entries_.clear();
  by_key_.clear();
}

}  // namespace kube::testkit::detail
