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
  /// The bytes under `key`, made by `encode` if there are none.
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
      object;  ///< the new state; of a deletion the last one, with the version of the deletion
  StoredObject previous;  ///< null if it was created
  Clock::TimePoint at = {};
  EncodingCache encodings = {};
};
using EventPtr = std::shared_ptr<const StoreEvent>;

/// Which objects of a collection something is about: one key, all keys with a prefix, or all.
struct Scope {
  std::string prefix = {};  ///< "default/"
  std::optional<std::string> key = std::nullopt;

  [[nodiscard]] bool covers(std::string_view candidate) const noexcept {
    return key ? candidate == *key : candidate.starts_with(prefix);
  }
};

/// The store's side of a watch: where it is in the log, and how to wake who reads it.
class WatchCursor {
 public:
  explicit WatchCursor(Scope scope) : scope_(std::move(scope)) {}
  /// Calls what was given to set_wake, once. It is called under a lock of this cursor alone, so that
  /// forget_wake() can promise that it is not running.
  void wake() noexcept;
  void set_wake(std::function<void()> wake);
  void forget_wake();

 private:
  friend class Store;
  const Scope scope_;
  // Guarded by the store's mutex:
  std::uint64_t next_ = 0;  ///< index in the log
  /// Changes up to here do not count as backlog: they came while the initial objects were sent.
  std::uint64_t lenient_until_ = 0;
  bool initial_done_ = false;
  bool waiting_ = false;
  bool bookmark_due_ = false;
  bool ended_ = false;
  /// What was in the log when the watch was found ended is still read.
  std::optional<std::uint64_t> ended_at_;
  // Recursive, as whoever is woken may read or end the watch at once:
  std::recursive_mutex wake_mutex_;
  std::function<void()> wake_;
};

/// The objects of one resource, and the log of their changes.
class Collection {
 public:
  explicit Collection(GroupResource resource) : resource_(std::move(resource)) {}
  [[nodiscard]] const GroupResource& resource() const noexcept { return resource_; }
  /// How many objects there are at the moment. Takes no lock.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

 private:
  friend class Store;
  const GroupResource resource_;
  std::atomic<std::size_t> size_ = 0;  ///< of objects_
  // Guarded by the store's mutex:
  std::map<std::string, StoredObject, std::less<>> objects_;
  std::deque<EventPtr> log_;
  std::uint64_t log_start_ = 0;  ///< index of the first event in the log
  std::uint64_t floor_ = 0;      ///< the oldest version from which nothing is missing
  std::set<std::shared_ptr<WatchCursor>> watches_;
};

/// Sees every write in the order of revisions. Called under the store's lock: it must be quick and must not call the
/// store.
class StoreFeed {
 public:
  virtual ~StoreFeed() = default;
  /// A write is about to happen. If this throws, it does not; it may still come to nothing afterwards, and then the
  /// next call takes the place of this one.
  virtual void stage(Collection& collection, const EventPtr& event) = 0;
  /// It has happened.
  virtual void publish() noexcept = 0;
};

struct StoreOptions {
  Clock* clock = nullptr;
  std::size_t history_size = 102400;
  std::chrono::seconds history_age = std::chrono::minutes{5};
  std::size_t watch_backlog = 20000;
  std::function<void(const Change&)> journal = {};
};

/// All objects under one counter of revisions, with a bounded history.
///
/// Thread safety: all methods, from any thread. Nothing is encoded or decoded under the lock except the
/// revision.
/// A write that throws has changed nothing: object, revision, log, feed and journal move together or not at all.
class Store {
 public:
  Store(StoreOptions options, ObjectCodec& codec);

  /// The collection of a resource, made if there is none yet. Stays where it is.
  Collection& collection(const GroupResource& resource);
  /// The same, but null if there is none.
  [[nodiscard]] Collection* find_collection(const GroupResource& resource) const;
  /// To be set before the first write; must outlive the last one.
  void set_feed(StoreFeed& feed) { feed_ = &feed; }

  [[nodiscard]] StoredObject get(const Collection& collection, std::string_view key) const;
  [[nodiscard]] std::uint64_t revision() const noexcept {
    return revision_.load(std::memory_order_acquire);
  }
  /// Waits until the store is at `revision`; false if that does not happen until `deadline`.
  bool wait_for(std::uint64_t revision, Clock::TimePoint deadline, std::stop_token stop);

  /// Writes `next` under `key`, or removes the object if `next` is null, provided that the stored object is
  /// still `expected` (null: there is none). Returns the object with its new version; of a removal, the last
  /// state with the version of the removal. Nothing if somebody was faster.
  std::optional<StoredObject> commit(Collection& collection, const std::string& key,
                                     const StoredObject& expected, StoredObject next);

  struct ListQuery {
    Scope scope = {};
    std::string start = {};  ///< keys below are left out
    std::size_t limit = 0;   ///< 0 means all; only sensible without filters
    std::optional<std::uint64_t> exactly = std::nullopt;
  };
  struct ListResult {
    std::vector<std::pair<std::string, StoredObject>> objects;
    std::uint64_t revision = 0;
    std::size_t remaining = 0;  ///< behind the limit
    bool expired = false;       ///< the history does not go back to `exactly`
  };
  [[nodiscard]] ListResult list(const Collection& collection, const ListQuery& query) const;

  struct WatchStart {
    std::shared_ptr<WatchCursor> cursor;
    std::vector<std::pair<std::string, StoredObject>> initial;
    std::uint64_t revision = 0;  ///< of the initial state
    std::uint64_t floor = 0;
    bool expired = false;  ///< the log does not go back to `after`
  };
  /// Starts after the events up to `after`, or with all objects and from now on if there is no `after`.
  WatchStart watch(Collection& collection, Scope scope, std::optional<std::uint64_t> after,
                   bool initial);
  struct Batch {
    std::vector<EventPtr> events;
    std::optional<std::uint64_t> bookmark;  ///< all events up to there were read
    bool ended = false;
  };
  /// The next events. If there is nothing at all, the cursor is woken when there is.
  Batch read(Collection& collection, WatchCursor& cursor);
  /// The initial objects were sent: from now on the reader must keep up.
  void initial_done(Collection& collection, WatchCursor& cursor);
  void unwatch(Collection& collection, const std::shared_ptr<WatchCursor>& cursor);
  void ask_for_bookmark(WatchCursor& cursor);
  void end_watch(WatchCursor& cursor);
  /// All watches, or those of one collection.
  void end_watches(const Collection* only);

  void set_next_revision(std::uint64_t revision);
  /// Forgets the history up to `revision` (0: all of it).
  void compact(std::uint64_t revision);
  void shrink_history(std::size_t count);
  /// Compacts what is older than the age of the history. Call it now and then.
  void expire_history();
  [[nodiscard]] std::vector<std::pair<const Collection*, StoredObject>> all_objects() const;
  /// Replaces all content; watches end.
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
