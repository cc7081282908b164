// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/requests/engine.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// Encodings of one object, shared by all watches that send it.
class EncodingCache {
 public:
  /// Returns the encoding for `key`; calls `encode` if there is none.
  std::shared_ptr<const std::string> get(const std::string& key,
                                         const std::function<std::string()>& encode) const;
  void clear() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  mutable std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> encodings_;
};

/// One write of one object.
struct StoreEvent {
  Change::Type type = Change::Type::kAdded;
  std::uint64_t revision = 0;
  std::string key;
  StoredObject
      object;  ///< the new state; for a deletion, the last state with the version of the deletion
  StoredObject previous;  ///< null for a creation
  Clock::TimePoint at = {};
  EncodingCache encodings = {};
};
using EventPtr = std::shared_ptr<const StoreEvent>;

/// A subset of a collection: one key, all keys with a prefix, or all.
struct Scope {
  std::string prefix = {};  ///< "default/"
  std::optional<std::string> key = std::nullopt;

  [[nodiscard]] bool covers(std::string_view candidate) const noexcept {
    return key ? candidate == *key : candidate.starts_with(prefix);
  }
};

/// The position of a watch in the log, and the callback that wakes its reader.
class WatchCursor {
 public:
  explicit WatchCursor(Scope scope) : scope_(std::move(scope)) {}
  /// Calls the function given to set_wake(), once. Runs under this cursor's own lock only, so that
  /// forget_wake() guarantees that it is not running.
  void wake() noexcept;
  void set_wake(std::function<void()> wake);
  void forget_wake();

 private:
  friend class Store;
  const Scope scope_;
  // Guarded by the store's mutex:
  std::uint64_t next_ = 0;  ///< index into the log
  /// Events up to here do not count as backlog: they were written while the initial objects were
  /// sent.
  std::uint64_t lenient_until_ = 0;
  bool initial_done_ = false;
  bool waiting_ = false;
  bool bookmark_due_ = false;
  bool ended_ = false;
  /// Events before this index are still delivered after the watch has ended.
  std::optional<std::uint64_t> ended_at_;
  // Recursive, because the callback may read or end the watch:
  std::recursive_mutex wake_mutex_;
  std::function<void()> wake_;
};

/// The objects of one resource and the log of their changes.
class Collection {
 public:
  explicit Collection(GroupResource resource) : resource_(std::move(resource)) {}
  [[nodiscard]] const GroupResource& resource() const noexcept { return resource_; }
  /// Returns the current number of objects. Lock-free.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  /// Returns a number that grows with each write. Lock-free. Objects that are read afterwards are
  /// at least as new.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }

 private:
  friend class Store;
  const GroupResource resource_;
  std::atomic<std::size_t> size_ = 0;  ///< the size of objects_
  std::atomic<std::uint64_t> changes_ = 0;
  // Guarded by the store's mutex:
  std::map<std::string, StoredObject, std::less<>> objects_;
  std::deque<EventPtr> log_;
  std::uint64_t log_start_ = 0;  ///< index of the first event in the log
  std::uint64_t floor_ = 0;      ///< the oldest version since which the log is complete
  std::set<std::shared_ptr<WatchCursor>> watches_;
};

/// Observes every write in the order of revisions. Called under the store's lock: must be fast and
/// must not call the store.
class StoreFeed {
 public:
  virtual ~StoreFeed() = default;
  /// Announces a write. If this throws, the write fails. The write may still fail afterwards; the
  /// next call then replaces this one.
  virtual void stage(Collection& collection, const EventPtr& event) = 0;
  /// Confirms the staged write.
  virtual void publish() noexcept = 0;
};

struct StoreOptions {
  Clock* clock = nullptr;
  std::size_t history_size = 102400;
  std::chrono::seconds history_age = std::chrono::minutes{5};
  std::size_t watch_backlog = 20000;
  std::function<void(const Change&)> journal = {};
};

/// All objects under one revision counter, with a bounded history.
///
/// A write that throws has no effect: object, revision, log, feed and journal change together or
/// not at all.
///
/// Thread safety: all methods, from any thread. Under the lock, only the revision is encoded.
class Store {
 public:
  Store(StoreOptions options, ObjectCodec& codec);

  /// Returns the collection of a resource; creates it if necessary. The reference stays valid.
  Collection& collection(const GroupResource& resource);
  /// Returns the collection of a resource, or null.
  [[nodiscard]] Collection* find_collection(const GroupResource& resource) const;
  /// Must be set before the first write, and must outlive the last one.
  void set_feed(StoreFeed& feed) { feed_ = &feed; }

  [[nodiscard]] StoredObject get(const Collection& collection, std::string_view key) const;
  [[nodiscard]] std::uint64_t revision() const noexcept {
    return revision_.load(std::memory_order_acquire);
  }
  /// Waits until the store has reached `revision`. Returns false at `deadline` or on a stop.
  bool wait_for(std::uint64_t revision, Clock::TimePoint deadline, std::stop_token stop);

  /// Compare-and-swap: writes `next` under `key`, or deletes the object if `next` is null, if the
  /// stored object is still `expected` (null: absent). Returns the object with its new version; for
  /// a deletion, the last state with the version of the deletion. Returns nullopt if another write
  /// came first.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next);

  struct ListQuery {
    Scope scope = {};
    std::string start = {};  ///< smaller keys are skipped
    std::size_t limit = 0;   ///< 0 means all; use only without filters
    std::optional<std::uint64_t> exactly = std::nullopt;
  };
  struct ListResult {
    std::vector<std::pair<std::string, StoredObject>> objects;
    std::uint64_t revision = 0;
    std::size_t remaining = 0;  ///< number of objects beyond the limit
    bool expired = false;       ///< the history does not reach back to `exactly`
  };
  [[nodiscard]] ListResult list(const Collection& collection, const ListQuery& query) const;

  struct WatchStart {
    std::shared_ptr<WatchCursor> cursor;
    std::vector<std::pair<std::string, StoredObject>> initial;
    std::uint64_t revision = 0;  ///< of the initial state
    std::uint64_t floor = 0;
    bool expired = false;  ///< the log does not reach back to `after`
  };
  /// Starts after the events up to `after`; without `after`, with all objects and the events from
  /// now on.
  WatchStart watch(Collection& collection, Scope scope, std::optional<std::uint64_t> after,
                   bool initial);
  struct Batch {
    std::vector<EventPtr> events;
    std::optional<std::uint64_t> bookmark;  ///< all events up to this version were read
    bool ended = false;
  };
  /// Returns the next events. If there are none, the cursor is woken by the next one.
  Batch read(Collection& collection, WatchCursor& cursor);
  /// Reports that the initial objects were sent: from now on the backlog is limited.
  void initial_done(Collection& collection, WatchCursor& cursor);
  void unwatch(Collection& collection, const std::shared_ptr<WatchCursor>& cursor);
  void ask_for_bookmark(WatchCursor& cursor);
  void end_watch(WatchCursor& cursor);
  /// Ends all watches, or those of one collection.
  void end_watches(const Collection* only);

  void set_next_revision(std::uint64_t revision);
  /// Discards the history up to `revision` (0: all of it).
  void compact(std::uint64_t revision);
  void shrink_history(std::size_t count);
  /// Discards the history that exceeds its maximum age. To be called periodically.
  void expire_history();
  [[nodiscard]] std::vector<std::pair<const Collection*, StoredObject>> all_objects() const;
  /// Replaces all content and ends all watches.
  void replace_all(
      std::vector<std::pair<Collection*, std::pair<std::string, StoredObject>>> objects,
      std::uint64_t revision);

 private:
  void record_locked(const Collection& collection, const StoreEvent& event) const;
  void shorten_log_locked(Collection& collection) const noexcept;
  static void trim_locked(Collection& collection, std::size_t keep);
  [[nodiscard]] static ListResult list_at_locked(const Collection& collection,
                                                 const ListQuery& query);

  StoreOptions options_;
  Clock& clock_;
  ObjectCodec& codec_;
  StoreFeed* feed_ = nullptr;
  mutable std::mutex mutex_;
  Condition advanced_;
  std::atomic<std::uint64_t> revision_{1};
  // Guarded by mutex_:
  std::map<GroupResource, std::unique_ptr<Collection>> collections_;
  std::uint64_t compacted_ = 0;
  std::size_t waiting_ = 0;
  std::deque<std::pair<Clock::TimePoint, std::uint64_t>> checkpoints_;
};

}  // namespace kube::testkit::detail
