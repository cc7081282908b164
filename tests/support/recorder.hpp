// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/event_handler.hpp>

#include "support/items.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kube::testing_support {

/// Records the notifications of a handler: "add* a/x@1" (initial), "add a/x@1", "update a/x@1>2",
/// "delete a/x@3", "delete? a/x@1" (final state unknown).
///
/// Also checks that the notifications are consistent.
/// Thread safety: all methods, from any thread.
template <typename T>
class RecorderOf {
 public:
  EventHandler<T> handler() {
    return {.on_add =
                [this](const T& now, bool initial) {
                  note((initial ? "add* " : "add ") + name(now), key(now), "", version(now));
                },
            .on_update =
                [this](const Ref<T>& before, const Ref<T>& now) {
                  note("update " + name(*before) + '>' + version(*now), key(*now), version(*before),
                       version(*now));
                },
            .on_delete =
                [this](const Deleted<T>& gone) {
                  note(std::string{gone.final_state_known ? "delete " : "delete? "} +
                           (gone.object ? name(*gone.object) : "key " + gone.key.str()),
                       gone.key.str(), "known", "");
                }};
  }

  [[nodiscard]] std::vector<std::string> events() const {
    const std::lock_guard guard{mutex_};
    return events_;
  }
  [[nodiscard]] bool wait_for(const std::string& event) const {
    return wait([&] { return std::find(events_.begin(), events_.end(), event) != events_.end(); });
  }
  [[nodiscard]] bool wait_for_count(std::size_t count) const {
    return wait([&] { return events_.size() >= count; });
  }
  void clear() {
    const std::lock_guard guard{mutex_};
    events_.clear();
  }
  /// Returns the objects that exist according to the notifications, in the format of show().
  [[nodiscard]] std::string believes() const {
    const std::lock_guard guard{mutex_};
    return believes_locked();
  }
  [[nodiscard]] bool wait_until_believes(const std::string& state) const {
    return wait([&] { return believes_locked() == state; });
  }
  /// Returns the first notification that contradicts the previous ones; empty if all are
  /// consistent.
  [[nodiscard]] std::string contradiction() const {
    const std::lock_guard guard{mutex_};
    return contradiction_;
  }

 private:
  [[nodiscard]] std::string believes_locked() const {
    std::vector<std::string> texts;
    for (const auto& [key, version] : state_) texts.push_back(key + '@' + version);
    std::sort(texts.begin(), texts.end());
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
    return all;
  }

  static std::string version(const T& object) {
    return std::string{detail::kObjectAccess<T>.resource_version(&object)};
  }
  static std::string key(const T& object) { return detail::kObjectAccess<T>.key(&object); }
  static std::string name(const T& object) { return key(object) + '@' + version(object); }

  void note(std::string event, const std::string& key, const std::string& before,
            const std::string& now) {
    const std::lock_guard guard{mutex_};
    const auto known = state_.find(key);
    const bool fits = before.empty()      ? known == state_.end()
                      : before == "known" ? known != state_.end()
                                          : known != state_.end() && known->second == before;
    if (!fits && contradiction_.empty()) contradiction_ = event;
    if (now.empty()) {
      state_.erase(key);
    } else {
      state_[key] = now;
    }
    events_.push_back(std::move(event));
    changed_.notify_all();
  }
  template <typename Ready>
  bool wait(Ready ready) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10}, ready);
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> events_;
  std::map<std::string, std::string> state_;
  std::string contradiction_;
};
using Recorder = RecorderOf<Item>;

}  // namespace kube::testing_support
