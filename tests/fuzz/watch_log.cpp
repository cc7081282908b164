// SPDX-License-Identifier: Apache-2.0
// Input: a sequence of writes, watches from any version, compactions and lists. The events of a
// watch must lead from its initial state to the current state.
#include "fuzz.hpp"
#include "testkit/store/store.hpp"

#include <kube/object/value.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using kube::Value;
using kube::fuzz::require;
using kube::testkit::detail::Change;
using kube::testkit::detail::Collection;
using kube::testkit::detail::ObjectCodec;
using kube::testkit::detail::Scope;
using kube::testkit::detail::Store;
using kube::testkit::detail::StoredObject;
using kube::testkit::detail::WatchCursor;

/// Object versions by key.
using State = std::map<std::string, std::uint64_t>;

constexpr std::array kKeys{"a/x", "a/y", "b/x", "b/y", "c"};
constexpr std::size_t kSteps = 500;

State covered(const State& state, const Scope& scope) {
  State found;
  for (const auto& [key, version] : state) {
    if (scope.covers(key)) found.emplace(key, version);
  }
  return found;
}

struct Watch {
  std::shared_ptr<WatchCursor> cursor;
  Scope scope;
  State state;
  std::uint64_t last = 0;
  bool ended = false;
};

class Scenario {
 public:
  void step(std::uint8_t what, std::uint8_t which) {
    switch (what % 8) {
      case 0:
      case 1:
        return write(kKeys[which % kKeys.size()], false);
      case 2:
        return write(kKeys[which % kKeys.size()], true);
      case 3:
        return start(which);
      case 4:
        if (!watches_.empty()) read(watches_[which % watches_.size()]);
        return;
      case 5:
        store_.compact(version(which % 8));
        return;
      case 6:
        store_.shrink_history(which % 8);
        return;
      default:
        return look(which);
    }
  }

  void finish() {
    for (Watch& watch : watches_) {
      while (!watch.ended && read(watch)) {
      }
      if (!watch.ended) {
        require(watch.state == covered(states_.rbegin()->second, watch.scope),
                "a watch leads to the state that there is");
      }
      store_.unwatch(collection_, watch.cursor);
    }
  }

 private:
  [[nodiscard]] std::uint64_t version(std::uint64_t back) const {
    return store_.revision() > back ? store_.revision() - back : 1;
  }
  [[nodiscard]] const State& state_at(std::uint64_t revision) const {
    return std::prev(states_.upper_bound(revision))->second;
  }

  void write(const std::string& key, bool remove) {
    const StoredObject before = store_.get(collection_, key);
    State next = states_.rbegin()->second;
    require(static_cast<bool>(before) == next.contains(key),
            "an object is there if it was written");
    if (remove && !before) return;
    StoredObject object;
    if (!remove) {
      object = codec_.from_value(
          kube::type_of<Value>(),
          Value::object({{"metadata", Value::object({{"resourceVersion", "1"}})}}));
    }
    const std::uint64_t revision = store_.revision();
    const bool outdated = before ? before.data() != stale_.data() : static_cast<bool>(stale_);
    require(!outdated || !store_.commit(collection_, key, stale_, object),
            "who is not up to date writes nothing");
    require(store_.revision() == revision, "what is not written takes no version");
    const auto written = store_.commit(collection_, key, before, object);
    require(written && written->revision() == revision + 1, "versions go up one by one");
    if (remove) {
      next.erase(key);
    } else {
      next[key] = revision + 1;
      stale_ = *written;
    }
    states_[revision + 1] = std::move(next);
  }

  void start(std::uint8_t which) {
    Scope scope;
    if (which % 4 == 1) scope.prefix = "a/";
    if (which % 4 == 2) scope.key = "b/x";
    const std::uint64_t after = version(which / 8);
    const bool initial = which % 8 >= 4;
    Store::WatchStart begun =
        store_.watch(collection_, scope, initial ? std::nullopt : std::optional{after}, initial);
    if (begun.expired) {
      require(after < begun.floor && begun.floor <= store_.revision(), "only old versions expire");
      return;
    }
    Watch watch{std::move(begun.cursor), scope, {}, initial ? begun.revision : after};
    if (initial) {
      for (const auto& [key, object] : begun.initial) watch.state[key] = object.revision();
    } else {
      watch.state = covered(state_at(after), scope);
    }
    require(!initial || watch.state == covered(states_.rbegin()->second, scope),
            "a watch begins with the state that there is");
    store_.initial_done(collection_, *watch.cursor);
    watches_.push_back(std::move(watch));
  }

  /// Returns whether there may be more events.
  bool read(Watch& watch) {
    if (watch.ended) return false;
    const Store::Batch batch = store_.read(collection_, *watch.cursor);
    for (const auto& event : batch.events) {
      require(event->revision > watch.last, "events come in order");
      require(watch.scope.covers(event->key), "events are of the scope");
      watch.last = event->revision;
      const bool known = watch.state.contains(event->key);
      require(known == (event->type != Change::Type::kAdded), "an event fits the state");
      if (event->type == Change::Type::kDeleted) {
        watch.state.erase(event->key);
      } else {
        watch.state[event->key] = event->object.revision();
      }
      require(covered(state_at(event->revision), watch.scope) == watch.state,
              "no event is left out");
    }
    if (batch.bookmark) {
      require(covered(state_at(*batch.bookmark), watch.scope) == watch.state,
              "a bookmark comes behind all events");
    }
    watch.ended = batch.ended;
    return !batch.events.empty() || batch.bookmark.has_value();
  }

  void look(std::uint8_t which) {
    if (which % 2 == 0 && !watches_.empty()) {
      store_.ask_for_bookmark(*watches_[which % watches_.size()].cursor);
      return;
    }
    Store::ListQuery query;
    query.exactly = version(which / 2 % 32);
    const Store::ListResult found = store_.list(collection_, query);
    if (found.expired) return;
    State listed;
    for (const auto& [key, object] : found.objects) listed[key] = object.revision();
    require(listed == state_at(*query.exactly), "a list at a version is the state at that version");
  }

  kube::testkit::FakeClock clock_;
  ObjectCodec codec_;
  Store store_{{.clock = &clock_, .history_size = 24, .watch_backlog = 16}, codec_};
  Collection& collection_ = store_.collection({"", "things"});
  std::map<std::uint64_t, State> states_{{0, {}}};
  StoredObject stale_;
  std::vector<Watch> watches_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Scenario scenario;
  for (std::size_t i = 0; i + 1 < size && i < 2 * kSteps; i += 2) {
    scenario.step(data[i], data[i + 1]);
  }
  scenario.finish();
  return 0;
}
