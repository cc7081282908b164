// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/event_handler.hpp>
#include <kube/cache/resource_version.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube::testing_support {

/// The behaviour of a ConsistencyChecker besides recording.
struct HandlerFaults {
  int slow_percent = 0;   ///< percentage of slow calls
  int throw_percent = 0;  ///< percentage of calls that throw
};

/// A handler that tracks the existing objects and records the first inconsistency: an add of a
/// known object, an update or delete of an unknown one, a version that decreases.
///
/// Unlike Recorder it does not keep the events, so it can run for hours.
/// Thread safety: all methods, from any thread.
template <typename T>
class ConsistencyChecker {
 public:
  ConsistencyChecker(unsigned seed, HandlerFaults faults) : random_(seed), faults_(faults) {}

  EventHandler<T> handler() {
    return {.on_add = [this](const Ref<T>& now) { changed("add", nullptr, now); },
            .on_update = [this](const Ref<T>& before,
                                const Ref<T>& now) { changed("update", before, now); },
            .on_delete = [this](const Deleted<T>& gone) { deleted(gone); }};
  }
  /// Formats the tracked objects: "a/x@1 b/y@2", sorted.
  [[nodiscard]] std::string believes() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> texts;
    for (const auto& [key, version] : known_) texts.push_back(key + '@' + std::to_string(version));
    std::sort(texts.begin(), texts.end());
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
    return all;
  }
  [[nodiscard]] std::string contradiction() const {
    const std::lock_guard guard{mutex_};
    if (!contradiction_.empty()) return contradiction_;
    if (added_ - deleted_ != known_.size()) return "additions and deletions do not add up";
    return {};
  }
  [[nodiscard]] std::size_t calls() const {
    const std::lock_guard guard{mutex_};
    return calls_;
  }

 private:
  static std::uint64_t version(const Ref<T>& object) {
    return std::stoull(std::string{detail::kObjectAccess<T>.resource_version(object.get())});
  }
  void wrong_locked(const std::string& what, const std::string& key) {
    if (contradiction_.empty()) contradiction_ = what + ' ' + key;
  }
  void changed(const char* what, const Ref<T>& before, const Ref<T>& now) {
    {
      const std::lock_guard guard{mutex_};
      const std::string key = detail::kObjectAccess<T>.key(now.get());
      const auto known = known_.find(key);
      const std::uint64_t next = version(now);
      if (before == nullptr) {
        ++added_;
        if (known != known_.end()) wrong_locked("added twice:", key);
        if (next <= last_[key]) {
          wrong_locked("came back with an old version:",
                       key + '@' + std::to_string(next) + " after " + std::to_string(last_[key]));
        }
      } else if (known == known_.end()) {
        wrong_locked("changed, but unknown:", key);
      } else {
        if (known->second != version(before)) wrong_locked("changed from another state:", key);
        if (next < known->second) {
          wrong_locked("went back in time:",
                       key + '@' + std::to_string(known->second) + '>' + std::to_string(next));
        }
        if (next == known->second && before != now) wrong_locked("changed without a version:", key);
      }
      known_[key] = next;
      last_[key] = next;
    }
    misbehave(what);
  }
  void deleted(const Deleted<T>& gone) {
    {
      const std::lock_guard guard{mutex_};
      const std::string key = gone.key.str();
      ++deleted_;
      const auto known = known_.find(key);
      if (known == known_.end()) {
        wrong_locked("deleted, but unknown:", key);
      } else {
        if (gone.object == nullptr) {
          wrong_locked("deleted without a state:", key);
        } else if (gone.final_state_known ? version(gone.object) <= known->second
                                          : version(gone.object) < known->second) {
          wrong_locked("deleted in an old state:", key);
        } else {
          last_[key] = version(gone.object);
        }
        known_.erase(known);
      }
    }
    misbehave("delete");
  }
  void misbehave(const char* what) {
    int dice_slow = 0;
    int dice_throw = 0;
    {
      const std::lock_guard guard{mutex_};
      ++calls_;
      dice_slow = static_cast<int>(random_() % 100);
      dice_throw = static_cast<int>(random_() % 100);
    }
    if (dice_slow < faults_.slow_percent) {
      for (int i = 0; i < 200; ++i) std::this_thread::yield();
    }
    if (dice_throw < faults_.throw_percent) throw std::runtime_error(what);
  }

  mutable std::mutex mutex_;
  std::mt19937 random_;
  const HandlerFaults faults_;
  std::map<std::string, std::uint64_t> known_;
  /// Includes deleted objects: when one is created again, its version is newer.
  std::map<std::string, std::uint64_t> last_;
  std::size_t added_ = 0;
  std::size_t deleted_ = 0;
  std::size_t calls_ = 0;
  std::string contradiction_;
};

}  // namespace kube::testing_support
