// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/object_key.hpp>
#include <kube/base/condition.hpp>
#include <kube/cache/list_watch.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube::testkit {

/// One list or watch request that a FakeSource has received.
struct FakeRequest {
  bool is_watch = false;
  ListOptions options = {};
};

/// An in-memory ListWatch for tests of informers and Reflectors without a server. Pass it to
/// SharedIndexInformer<T>, then change its objects. Resource versions are integers that grow by one
/// with each change. Silent changes send no watch event and are visible to lists only, as if the
/// watch had missed them. Selectors and limits are ignored.
///
/// Thread safety: all methods, from any thread.
template <typename T>
class FakeSource final : public ListWatch<T> {
 public:
  /// Adds an object and returns it as stored. Throws std::invalid_argument if it exists already.
  Ref<T> add(T object) { return put(std::move(object), false, Notify::kYes); }
  /// add() without a watch event.
  Ref<T> add_silently(T object) { return put(std::move(object), false, Notify::kNo); }
  /// Replaces an object and returns it as stored. Throws std::invalid_argument if it does not
  /// exist.
  Ref<T> update(T object) { return put(std::move(object), true, Notify::kYes); }
  /// update() without a watch event.
  Ref<T> update_silently(T object) { return put(std::move(object), true, Notify::kNo); }
  /// Deletes an object. Returns false if it does not exist.
  bool erase(const ObjectKey& key) { return remove(key, Notify::kYes); }
  /// erase() without a watch event.
  bool erase_silently(const ObjectKey& key) { return remove(key, Notify::kNo); }

  /// Ends all watches, as when a connection breaks. A client can resume them at the last resource
  /// version.
  void break_watches() {
    const std::lock_guard guard{state_->mutex};
    end_watches_locked();
  }
  /// Ends all watches with 410 and drops the history: a watch from an earlier version fails with
  /// 410, and the client has to list again.
  void expire_watches() {
    const std::lock_guard guard{state_->mutex};
    state_->changes.clear();
    state_->oldest = ++state_->version;
    send_locked(
        {EventType::kError, {}, freeze(failure(410, "Expired", "too old resource version"))});
    end_watches_locked();
  }
  /// Makes the next `count` lists throw `error`.
  void fail_lists(std::size_t count, const ApiError& error) {
    const std::lock_guard guard{state_->mutex};
    state_->list_errors.insert(state_->list_errors.end(), count, error.status());
  }

  /// Returns all requests so far, oldest first.
  [[nodiscard]] std::vector<FakeRequest> requests() const {
    const std::lock_guard guard{state_->mutex};
    return state_->requests;
  }
  /// Waits, in real time, until exactly `count` watches are open. Returns false after `limit`.
  [[nodiscard]] bool wait_for_watches(std::size_t count,
                                      std::chrono::nanoseconds limit = std::chrono::seconds{
                                          10}) const {
    std::unique_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, limit, [&] { return state_->open.size() == count; });
  }

  ListMetadata list(const ListOptions& options, const std::function<void(Ref<T>)>& on_item,
                    std::stop_token /*stop*/) override {
    std::vector<Ref<T>> items;
    ListMetadata result;
    {
      const std::lock_guard guard{state_->mutex};
      state_->requests.push_back({false, options});
      state_->changed.notify_all();
      if (!state_->list_errors.empty()) {
        const meta::v1::Status status = state_->list_errors.front();
        state_->list_errors.pop_front();
        throw ApiError{status};
      }
      check_version_locked(options);
      for (const auto& [key, object] : state_->objects) items.push_back(freeze(*object));
      result.resource_version = std::to_string(state_->version);
    }
    for (Ref<T>& item : items) on_item(std::move(item));
    return result;
  }
  std::unique_ptr<WatchStream<T>> watch(const ListOptions& options,
                                        std::stop_token /*stop*/) override {
    auto stream =
        std::make_unique<Stream>(state_);  // outlives the lock, which its destructor takes
    const std::lock_guard guard{state_->mutex};
    state_->requests.push_back({true, options});
    const std::int64_t from = check_version_locked(options);
    if (from == 0) {
      for (const auto& [key, object] : state_->objects) {
        stream->events.push_back({EventType::kAdded, object, {}});
      }
    } else if (from < state_->oldest) {
      throw ApiError{failure(410, "Expired", "too old resource version")};
    }
    for (const auto& [version, event] : state_->changes) {
      if (from != 0 && version > from) stream->events.push_back(event);
    }
    state_->open.push_back(stream.get());
    state_->changed.notify_all();
    return stream;
  }
  [[nodiscard]] bool supports_watch_list() const override { return false; }

 private:
  enum class Notify { kYes, kNo };
  using Event = WatchEvent<T>;
  class Stream;
  struct State {
    std::mutex mutex;
    Condition changed;
    // Guarded by mutex:
    std::int64_t version = 1;
    std::int64_t oldest = 1;  // changes after this version are in `changes`
    std::map<std::pair<std::string, std::string>, Ref<T>> objects;
    std::vector<std::pair<std::int64_t, Event>> changes;
    std::deque<meta::v1::Status> list_errors;
    std::vector<FakeRequest> requests;
    std::vector<Stream*> open;
  };
  class Stream final : public WatchStream<T> {
   public:
    explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~Stream() override {
      const std::lock_guard guard{state_->mutex};
      std::erase(state_->open, this);
      state_->changed.notify_all();
    }
    std::optional<Event> next(std::stop_token stop) override {
      std::unique_lock lock{state_->mutex};
      (void)state_->changed.wait(lock, stop, [&] { return !events.empty() || ended; });
      if (stop.stop_requested() || events.empty()) return std::nullopt;
      Event event = std::move(events.front());
      events.pop_front();
      return event;
    }

    // Guarded by the mutex of the state:
    std::deque<Event> events;
    bool ended = false;

   private:
    const std::shared_ptr<State> state_;
  };

  static meta::v1::Status failure(int code, std::string_view reason, std::string_view message) {
    return {.status = "Failure", .message = message, .reason = reason, .code = code};
  }
  static std::pair<std::string, std::string> place_of(const T& object) {
    return {object.metadata.namespace_.str(), object.metadata.name.str()};
  }
  Ref<T> put(T object, bool exists, Notify notify) {
    const std::lock_guard guard{state_->mutex};
    const auto place = place_of(object);
    if (state_->objects.contains(place) != exists) {
      throw std::invalid_argument(place.first + "/" + place.second +
                                  (exists ? " does not exist; add it" : " exists; update it"));
    }
    object.metadata.resource_version = std::to_string(++state_->version);
    const Ref<T> stored = freeze(object);
    state_->objects[place] = stored;
    if (notify == Notify::kYes) {
      publish_locked({exists ? EventType::kModified : EventType::kAdded, stored, {}});
    }
    return stored;
  }
  bool remove(const ObjectKey& key, Notify notify) {
    const std::lock_guard guard{state_->mutex};
    const auto found = state_->objects.find({key.namespace_, key.name});
    if (found == state_->objects.end()) return false;
    T last = *found->second;
    last.metadata.resource_version = std::to_string(++state_->version);
    state_->objects.erase(found);
    if (notify == Notify::kYes) publish_locked({EventType::kDeleted, freeze(last), {}});
    return true;
  }
  /// Returns the requested version, 0 for any. Throws ApiError 504 if it is in the future.
  std::int64_t check_version_locked(const ListOptions& options) const {
    const std::string& asked = options.resource_version;
    const std::int64_t version = asked.empty() ? 0 : std::stoll(asked);
    if (version > state_->version) {
      throw ApiError{failure(504, "Timeout", "Too large resource version: " + asked)};
    }
    return version;
  }
  void publish_locked(Event event) {
    state_->changes.emplace_back(state_->version, event);
    send_locked(std::move(event));
  }
  void send_locked(Event event) {
    for (Stream* stream : state_->open) stream->events.push_back(event);
    state_->changed.notify_all();
  }
  void end_watches_locked() {
    for (Stream* stream : state_->open) stream->ended = true;
    state_->changed.notify_all();
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace kube::testkit
