// SPDX-License-Identifier: Apache-2.0
#include "testkit/store/store.hpp"

#include <algorithm>
#include <stdexcept>

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kBatch = 64;
/// The number of latest events that keep their encodings.
constexpr std::size_t kEncodedEvents = 1024;
/// The number of events that are kept regardless of their age.
constexpr std::size_t kMinHistory = 100;

std::pair<std::string_view, std::string_view> split_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {{}, key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

/// An event appended to a log; removed again on destruction unless kept.
class StagedEvent {
 public:
  StagedEvent(std::deque<EventPtr>& log, EventPtr event) : log_(log) {
    log_.push_back(std::move(event));
  }
  StagedEvent(const StagedEvent&) = delete;
  StagedEvent& operator=(const StagedEvent&) = delete;
  ~StagedEvent() {
    if (!kept_) log_.pop_back();
  }
  void keep() noexcept { kept_ = true; }

 private:
  std::deque<EventPtr>& log_;
  bool kept_ = false;
};

}  // namespace

std::shared_ptr<const std::string> EncodingCache::get(
    const std::string& key, const std::function<std::string()>& encode) const {
  const std::lock_guard lock{mutex_};
  for (const auto& [known, bytes] : encodings_) {
    if (known == key) return bytes;
  }
  encodings_.emplace_back(key, std::make_shared<const std::string>(encode()));
  return encodings_.back().second;
}

void EncodingCache::clear() const {
  const std::lock_guard lock{mutex_};
  encodings_.clear();
}

void WatchCursor::wake() noexcept {
  const std::lock_guard lock{wake_mutex_};
  try {
    if (const auto wake = std::exchange(wake_, {})) wake();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the write is committed already
  }
}

void WatchCursor::set_wake(std::function<void()> wake) {
  const std::lock_guard lock{wake_mutex_};
  wake_ = std::move(wake);
}

void WatchCursor::forget_wake() { set_wake({}); }

Store::Store(StoreOptions options, ObjectCodec& codec)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock()),
      codec_(codec) {
  checkpoints_.emplace_back(clock_.now(), 0);
}

Collection& Store::collection(const GroupResource& resource) {
  const std::lock_guard lock{mutex_};
  auto& place = collections_[resource];
  if (place == nullptr) {
    place = std::make_unique<Collection>(resource);
    place->floor_ = compacted_;
  }
  return *place;
}

Collection* Store::find_collection(const GroupResource& resource) const {
  const std::lock_guard lock{mutex_};
  const auto found = collections_.find(resource);
  return found == collections_.end() ? nullptr : found->second.get();
}

StoredObject Store::get(const Collection& collection, std::string_view key) const {
  const std::lock_guard lock{mutex_};
  const auto found = collection.objects_.find(key);
  return found == collection.objects_.end() ? StoredObject{} : found->second;
}

bool Store::wait_for(std::uint64_t revision, Clock::TimePoint deadline, std::stop_token stop) {
  if (this->revision() >= revision) return true;
  std::unique_lock lock{mutex_};
  ++waiting_;
  const bool reached = clock_.wait_until(lock, advanced_, deadline, std::move(stop),
                                         [&] { return this->revision() >= revision; });
  --waiting_;
  return reached;
}

std::optional<StoredObject> Store::commit(Collection& collection, const std::string& key,
                                          const StoredObject& expected, StoredObject next) {
  std::vector<std::shared_ptr<WatchCursor>> awake;
  auto event = std::make_shared<StoreEvent>();
  event->key = key;
  event->at = clock_.now();
  event->previous = expected;
  event->type = !expected ? Change::Type::kAdded
                : next    ? Change::Type::kModified
                          : Change::Type::kDeleted;
  {
    const std::lock_guard lock{mutex_};
    const auto found = collection.objects_.find(key);
    const bool exists = found != collection.objects_.end();
    if (exists != static_cast<bool>(expected) ||
        (exists && found->second.data() != expected.data())) {
      return std::nullopt;
    }
    // Everything that can fail comes first, and the journal last: a recorded write must take
    // effect.
    event->revision = revision() + 1;
    event->object =
        codec_.with_revision(next ? std::move(next) : StoredObject{expected}, event->revision);
    decltype(collection.objects_) added;
    if (!exists) added.emplace(key, event->object);
    for (const auto& cursor : collection.watches_) {
      if (cursor->waiting_ && cursor->scope_.covers(key)) awake.push_back(cursor);
    }
    if (feed_ != nullptr) feed_->stage(collection, event);
    StagedEvent in_log{collection.log_, event};
    if (options_.journal) record_locked(collection, *event);

    in_log.keep();
    if (event->type == Change::Type::kDeleted) {
      collection.objects_.erase(found);
    } else if (exists) {
      found->second = event->object;
    } else {
      collection.objects_.insert(added.extract(added.begin()));
    }
    collection.size_.store(collection.objects_.size(), std::memory_order_release);
    collection.changes_.fetch_add(1, std::memory_order_release);
    revision_.store(event->revision, std::memory_order_release);
    const std::uint64_t index = collection.log_start_ + collection.log_.size() - 1;
    shorten_log_locked(collection);
    if (feed_ != nullptr) feed_->publish();
    for (const auto& cursor : awake) {
      cursor->waiting_ = false;
      cursor->next_ = index;  // all earlier events are out of scope
    }
    if (waiting_ > 0) advanced_.notify_all();
  }
  for (const auto& cursor : awake) cursor->wake();
  return event->object;
}

void Store::record_locked(const Collection& collection, const StoreEvent& event) const {
  const auto [namespace_, name] = split_key(event.key);
  try {
    options_.journal({event.type, collection.resource_.group, collection.resource_.resource,
                      namespace_, name, event.revision, &event.object,
                      [&] { return event.object.json(); }});
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string{"the journal failed: "} + error.what());
  }
}

void Store::shorten_log_locked(Collection& collection) const noexcept {
  if (collection.log_.size() > kEncodedEvents) {
    collection.log_[collection.log_.size() - kEncodedEvents - 1]->encodings.clear();
  }
  if (collection.log_.size() > options_.history_size) {
    trim_locked(collection, options_.history_size);
  }
}

void Store::trim_locked(Collection& collection, std::size_t keep) {
  while (collection.log_.size() > keep) {
    collection.floor_ = collection.log_.front()->revision;
    collection.log_.pop_front();
    ++collection.log_start_;
  }
  if (!collection.log_.empty() && collection.floor_ != 0) {
    collection.floor_ = std::max(collection.floor_, collection.log_.front()->revision - 1);
  }
}

Store::ListResult Store::list(const Collection& collection, const ListQuery& query) const {
  const std::lock_guard lock{mutex_};
  ListResult result;
  result.revision = revision();
  if (query.exactly && *query.exactly < result.revision) {
    if (*query.exactly < std::max(compacted_, collection.floor_)) {
      result.expired = true;
      return result;
    }
    return list_at_locked(collection, query);
  }
  const std::string& first = std::max(query.start, query.scope.prefix);
  auto at = query.scope.key ? collection.objects_.find(*query.scope.key)
                            : collection.objects_.lower_bound(first);
  for (; at != collection.objects_.end() && query.scope.covers(at->first); ++at) {
    if (at->first < query.start) continue;
    if (query.limit != 0 && result.objects.size() == query.limit) {
      ++result.remaining;
      continue;
    }
    result.objects.emplace_back(at->first, at->second);
  }
  return result;
}

Store::ListResult Store::list_at_locked(const Collection& collection, const ListQuery& query) {
  // For each key changed since then, the object at that version (null: absent).
  std::map<std::string_view, const StoredObject*> then;
  for (auto event = collection.log_.rbegin();
       event != collection.log_.rend() && (*event)->revision > *query.exactly; ++event) {
    then[(*event)->key] = &(*event)->previous;
  }
  ListResult result;
  result.revision = *query.exactly;
  const auto add = [&](std::string_view key, const StoredObject& object) {
    if (!object || !query.scope.covers(key) || key < query.start) return;
    if (query.limit != 0 && result.objects.size() == query.limit) {
      ++result.remaining;
    } else {
      result.objects.emplace_back(key, object);
    }
  };
  const std::string& first = query.scope.key ? *query.scope.key : query.scope.prefix;
  auto old = then.lower_bound(first);
  auto now = collection.objects_.lower_bound(first);
  while (old != then.end() || now != collection.objects_.end()) {
    const bool take_old =
        old != then.end() && (now == collection.objects_.end() || old->first <= now->first);
    const std::string_view key = take_old ? old->first : std::string_view{now->first};
    if (!query.scope.covers(key)) break;  // covered keys are contiguous
    if (take_old) {
      if (now != collection.objects_.end() && now->first == old->first) ++now;
      add(key, *old->second);
      ++old;
    } else {
      add(key, now->second);
      ++now;
    }
  }
  return result;
}

Store::WatchStart Store::watch(Collection& collection, Scope scope,
                               std::optional<std::uint64_t> after, bool initial) {
  const std::lock_guard lock{mutex_};
  WatchStart start;
  start.revision = revision();
  start.floor = collection.floor_;
  if (after && *after < collection.floor_) {
    start.expired = true;
    return start;
  }
  start.cursor = std::make_shared<WatchCursor>(std::move(scope));
  WatchCursor& cursor = *start.cursor;
  cursor.next_ = collection.log_start_ + collection.log_.size();
  if (after) {
    const auto first = std::ranges::upper_bound(
        collection.log_, *after, {}, [](const EventPtr& event) { return event->revision; });
    cursor.next_ =
        collection.log_start_ + static_cast<std::uint64_t>(first - collection.log_.begin());
  }
  if (initial) {
    const Scope& covers = cursor.scope_;
    auto at = collection.objects_.lower_bound(covers.key ? *covers.key : covers.prefix);
    for (; at != collection.objects_.end() && covers.covers(at->first); ++at) {
      start.initial.emplace_back(at->first, at->second);
    }
  }
  collection.watches_.insert(start.cursor);
  return start;
}

Store::Batch Store::read(Collection& collection, WatchCursor& cursor) {
  const std::lock_guard lock{mutex_};
  Batch batch;
  const std::uint64_t end = collection.log_start_ + collection.log_.size();
  const bool slow = cursor.next_ >= cursor.lenient_until_ && cursor.initial_done_ &&
                    end - cursor.next_ > options_.watch_backlog && !cursor.waiting_;
  if (cursor.waiting_) cursor.next_ = end;  // polled again without a wake-up: nothing was in scope
  if (cursor.ended_ && !cursor.ended_at_) cursor.ended_at_ = end;
  if (slow || cursor.next_ < collection.log_start_ ||
      (cursor.ended_at_ && cursor.next_ >= *cursor.ended_at_)) {
    batch.ended = true;
    return batch;
  }
  for (; cursor.next_ < cursor.ended_at_.value_or(end) && batch.events.size() < kBatch;
       ++cursor.next_) {
    const EventPtr& event = collection.log_[cursor.next_ - collection.log_start_];
    if (cursor.scope_.covers(event->key)) batch.events.push_back(event);
  }
  if (batch.events.empty() && cursor.bookmark_due_) {
    cursor.bookmark_due_ = false;
    batch.bookmark = revision();
  }
  cursor.waiting_ = batch.events.empty() && !batch.bookmark;
  return batch;
}

void Store::initial_done(Collection& collection, WatchCursor& cursor) {
  const std::lock_guard lock{mutex_};
  cursor.lenient_until_ = collection.log_start_ + collection.log_.size();
  cursor.initial_done_ = true;
}

void Store::unwatch(Collection& collection, const std::shared_ptr<WatchCursor>& cursor) {
  {
    const std::lock_guard lock{mutex_};
    collection.watches_.erase(cursor);
    cursor->waiting_ = false;
  }
  cursor->forget_wake();
}

void Store::ask_for_bookmark(WatchCursor& cursor) {
  {
    const std::lock_guard lock{mutex_};
    cursor.bookmark_due_ = true;
    if (!cursor.waiting_) return;
  }
  cursor.wake();
}

void Store::end_watch(WatchCursor& cursor) {
  {
    const std::lock_guard lock{mutex_};
    cursor.ended_ = true;
  }
  cursor.wake();
}

void Store::end_watches(const Collection* only) {
  std::vector<std::shared_ptr<WatchCursor>> ended;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [resource, collection] : collections_) {
      if (only != nullptr && collection.get() != only) continue;
      for (const auto& cursor : collection->watches_) {
        cursor->ended_ = true;
        ended.push_back(cursor);
      }
    }
  }
  for (const auto& cursor : ended) cursor->wake();
}

void Store::set_next_revision(std::uint64_t revision) {
  const std::lock_guard lock{mutex_};
  if (revision > this->revision() + 1) revision_.store(revision - 1, std::memory_order_release);
  advanced_.notify_all();
}

void Store::compact(std::uint64_t revision) {
  const std::lock_guard lock{mutex_};
  revision = revision == 0 ? this->revision() : std::min(revision, this->revision());
  compacted_ = std::max(compacted_, revision);
  for (const auto& [resource, collection] : collections_) {
    while (!collection->log_.empty() && collection->log_.front()->revision <= revision) {
      collection->log_.pop_front();
      ++collection->log_start_;
    }
    collection->floor_ = std::max(collection->floor_, revision);
  }
}

void Store::shrink_history(std::size_t count) {
  const std::lock_guard lock{mutex_};
  for (const auto& [resource, collection] : collections_) trim_locked(*collection, count);
}

void Store::expire_history() {
  const Clock::TimePoint now = clock_.now();
  const std::lock_guard lock{mutex_};
  // Checkpoints are one `history_age` apart, so the history is kept for one to two times that long.
  if (now - checkpoints_.back().first < options_.history_age) return;
  compacted_ = std::max(compacted_, checkpoints_.back().second);
  checkpoints_.assign(1, {now, revision()});
  for (const auto& [resource, collection] : collections_) {
    std::size_t keep = collection->log_.size();
    while (keep > kMinHistory &&
           collection->log_[collection->log_.size() - keep]->revision <= compacted_) {
      --keep;
    }
    trim_locked(*collection, keep);
  }
}

std::vector<std::pair<const Collection*, StoredObject>> Store::all_objects() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::pair<const Collection*, StoredObject>> all;
  for (const auto& [resource, collection] : collections_) {
    for (const auto& [key, object] : collection->objects_)
      all.emplace_back(collection.get(), object);
  }
  std::ranges::sort(all, {}, [](const auto& entry) { return entry.second.revision(); });
  return all;
}

void Store::replace_all(
    std::vector<std::pair<Collection*, std::pair<std::string, StoredObject>>> objects,
    std::uint64_t revision) {
  std::map<Collection*, decltype(Collection::objects_)> contents;
  for (auto& [collection, object] : objects) {
    contents[collection].insert_or_assign(std::move(object.first), std::move(object.second));
  }
  {
    const std::lock_guard lock{mutex_};
    const std::uint64_t last = std::max<std::uint64_t>(revision, 1);
    checkpoints_.assign(1, {clock_.now(), last});
    revision_.store(last, std::memory_order_release);
    compacted_ = last;
    for (const auto& [resource, collection] : collections_) {
      collection->log_start_ += collection->log_.size();
      collection->log_.clear();
      collection->objects_.clear();
      collection->floor_ = compacted_;
    }
    for (auto& [collection, content] : contents) collection->objects_.swap(content);
    for (const auto& [resource, collection] : collections_) {
      collection->size_.store(collection->objects_.size(), std::memory_order_release);
      collection->changes_.fetch_add(1, std::memory_order_release);
    }
  }
  end_watches(nullptr);
}

}  // namespace kube::testkit::detail
