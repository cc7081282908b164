// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/base/condition.hpp>
#include <kube/cache/list_watch.hpp>

#include "support/items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kube::testing_support {

inline meta::v1::Status status(int code, std::string_view reason, std::string_view message = "") {
  meta::v1::Status result;
  result.status = "Failure";
  result.code = code;
  result.reason = reason;
  result.message = message;
  return result;
}
/// Throws a new exception on each call: the thread sanitizer does not see the reference count of a
/// shared one.
using Failure = std::function<void()>;

inline Failure api_error(int code, std::string_view reason) {
  return [code, reason = std::string{reason}] { throw ApiError{status(code, reason)}; };
}

/// An in-memory resource of an API server: versions grow by one with each change, watches deliver
/// changes after their start version, and server faults are injected on request.
///
/// Thread safety: all methods, from any thread.
class FakeListWatch final : public ListWatch<Item> {
 public:
  using Event = WatchEvent<Item>;

  // Writes by clients of the server.

  Ref<Item> put(const std::string& space, const std::string& name, const LabelList& labels = {},
                bool silently = false) {
    const std::lock_guard guard{mutex_};
    auto& place = objects_[{space, name}];
    const bool exists = place != nullptr;
    Item object = *item(space, name, std::to_string(++version_), labels);
    object.metadata.uid = exists ? place->metadata.uid.view() : std::to_string(version_);
    place = freeze(object);
    if (!silently) publish({exists ? EventType::kModified : EventType::kAdded, place, {}});
    return place;
  }
  void remove(const std::string& space, const std::string& name, bool silently = false) {
    const std::lock_guard guard{mutex_};
    const auto found = objects_.find({space, name});
    if (found == objects_.end()) return;
    Item last = *found->second;
    last.metadata.resource_version = std::to_string(++version_);
    objects_.erase(found);
    if (!silently) publish({EventType::kDeleted, freeze(last), {}});
  }
  [[nodiscard]] std::vector<Ref<Item>> objects() const {
    const std::lock_guard guard{mutex_};
    std::vector<Ref<Item>> all;
    for (const auto& [key, object] : objects_) all.push_back(object);
    return all;
  }
  [[nodiscard]] std::string version() const {
    const std::lock_guard guard{mutex_};
    return std::to_string(version_);
  }

  // Behaviour of the server.

  void bookmark(bool end_of_state = false) {
    const std::lock_guard guard{mutex_};
    send({EventType::kBookmark, bookmark_locked(end_of_state), {}});
  }
  /// Sends an event that does not change the content.
  void emit(Event event) {
    const std::lock_guard guard{mutex_};
    send(std::move(event));
  }
  void end_watches() {
    const std::lock_guard guard{mutex_};
    for (Channel* channel : channels_) channel->closed = true;
    changed_.notify_all();
  }
  void end_watches(const meta::v1::Status& why) {
    const std::lock_guard guard{mutex_};
    send({EventType::kError, {}, freeze(why)});
    for (Channel* channel : channels_) channel->closed = true;
  }
  /// Makes next() of all watches throw.
  void break_watches(const Failure& error) {
    const std::lock_guard guard{mutex_};
    for (Channel* channel : channels_) channel->error = error;
    changed_.notify_all();
  }
  /// Drops the history: requests for an older version are answered with 410 Expired.
  void forget_history() {
    const std::lock_guard guard{mutex_};
    history_.clear();
    oldest_ = version_;
  }
  void jump_version(long by) {
    const std::lock_guard guard{mutex_};
    version_ += by;
  }

  // Injected faults. Each entry applies to one request; null lets it succeed.

  void script_lists(const std::vector<Failure>& errors) {
    const std::lock_guard guard{mutex_};
    list_errors_.insert(list_errors_.end(), errors.begin(), errors.end());
  }
  void script_watches(const std::vector<Failure>& errors) {
    const std::lock_guard guard{mutex_};
    watch_errors_.insert(watch_errors_.end(), errors.begin(), errors.end());
  }
  void set_watch_list(bool supported) { watch_list_ = supported; }
  /// Omits the final bookmark of streaming lists (sendInitialEvents).
  void omit_end_of_state() { end_of_state_ = false; }
  /// Sets the apiVersion and kind that lists report.
  void set_list_kind(std::string api_version, std::string kind) {
    list_api_version_ = std::move(api_version);
    list_kind_ = std::move(kind);
  }
  void add_to_lists(Ref<Item> odd) { odd_ = std::move(odd); }
  /// Sets a callback that runs on each list.
  void on_list(std::function<void()> then) { on_list_ = std::move(then); }
  /// Makes lists block until a stop is requested.
  void hang_lists() {
    const std::lock_guard guard{mutex_};
    hang_ = true;
  }

  // Recorded requests.

  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard guard{mutex_};
    return requests_;
  }
  [[nodiscard]] bool wait_for_requests(std::size_t count) const {
    return wait([&] { return requests_.size() >= count; });
  }
  [[nodiscard]] bool wait_for_watches(std::size_t count) const {
    return wait([&] { return channels_.size() == count; });
  }
  [[nodiscard]] std::size_t open_watches() const {
    const std::lock_guard guard{mutex_};
    return channels_.size();
  }
  /// Waits until the client has consumed all events.
  [[nodiscard]] bool wait_until_read() const {
    return wait([&] {
      return std::all_of(channels_.begin(), channels_.end(), [](const Channel* channel) {
        return channel->events.empty() && channel->waiting;
      });
    });
  }
  [[nodiscard]] std::vector<std::int64_t> timeouts() const {
    const std::lock_guard guard{mutex_};
    return timeouts_;
  }

  ListMetadata list(const ListOptions& options, const std::function<void(Ref<Item>)>& on_item,
                    std::stop_token stop) override {
    std::vector<Ref<Item>> page;
    ListMetadata result{.api_version = list_api_version_, .kind = list_kind_};
    {
      std::unique_lock lock{mutex_};
      note(fmt::format(
          "list rv={} limit={}{}{}", options.resource_version, options.limit,
          options.continue_token.empty() ? "" : " continue=" + options.continue_token,
          options.resource_version_match.empty() ? "" : " " + options.resource_version_match));
      if (hang_) changed_.wait(lock, stop, [] { return false; });
      if (stop.stop_requested()) throw Error("canceled");
      throw_next(list_errors_);
      if (!options.resource_version.empty() && std::stol(options.resource_version) > version_) {
        throw ApiError{too_large()};
      }
      std::size_t at = options.continue_token.empty() ? 0 : std::stoul(options.continue_token);
      auto next = objects_.begin();
      std::advance(next, static_cast<std::ptrdiff_t>(std::min(at, objects_.size())));
      while (next != objects_.end() &&
             (options.limit == 0 || page.size() < static_cast<std::size_t>(options.limit))) {
        page.push_back(freeze(*(next++)->second));
        ++at;
      }
      if (next != objects_.end()) result.continue_token = std::to_string(at);
      result.resource_version = std::to_string(version_);
    }
    if (on_list_) on_list_();
    for (Ref<Item>& object : page) on_item(std::move(object));
    if (odd_) on_item(odd_);
    return result;
  }

  std::unique_ptr<WatchStream<Item>> watch(const ListOptions& options,
                                           std::stop_token /*stop*/) override {
    // outlives the lock, which its destructor acquires
    auto stream = std::make_unique<Stream>(*this);
    const std::lock_guard guard{mutex_};
    note(fmt::format(
        "watch rv={}{}{}{}", options.resource_version,
        options.allow_watch_bookmarks ? " bookmarks" : "",
        options.send_initial_events.value_or(false) ? " initial" : "",
        options.resource_version_match.empty() ? "" : " " + options.resource_version_match));
    timeouts_.push_back(options.timeout ? options.timeout->count() : 0);
    throw_next(watch_errors_);
    const std::string& version = options.resource_version;
    const bool initial = options.send_initial_events.value_or(false);
    if (!version.empty() && std::stol(version) > version_) throw ApiError{too_large()};
    if (initial || version.empty() || version == "0") {
      for (const auto& [key, object] : objects_) {
        stream->channel.events.push_back({EventType::kAdded, object, {}});
      }
      if (initial && end_of_state_) {
        stream->channel.events.push_back({EventType::kBookmark, bookmark_locked(true), {}});
      }
    } else if (std::stol(version) < oldest_) {
      stream->channel.events.push_back(
          {EventType::kError, {}, freeze(status(410, "Expired", "too old"))});
      stream->channel.closed = true;
    } else {
      for (const auto& [at, event] : history_) {
        if (at > std::stol(version)) stream->channel.events.push_back(event);
      }
    }
    channels_.push_back(&stream->channel);
    changed_.notify_all();
    return stream;
  }
  [[nodiscard]] bool supports_watch_list() const override { return watch_list_; }

 private:
  struct Channel {
    std::deque<Event> events;
    Failure error;
    bool closed = false;
    bool waiting = false;
  };
  class Stream final : public WatchStream<Item> {
   public:
    explicit Stream(FakeListWatch& server) : server_(server) {}
    ~Stream() override {
      const std::lock_guard guard{server_.mutex_};
      std::erase(server_.channels_, &channel);
      server_.changed_.notify_all();
    }
    std::optional<Event> next(std::stop_token stop) override {
      std::unique_lock lock{server_.mutex_};
      channel.waiting = true;
      server_.changed_.notify_all();
      (void)server_.changed_.wait(lock, stop, [&] {
        return !channel.events.empty() || channel.closed || channel.error != nullptr;
      });
      channel.waiting = false;
      if (stop.stop_requested()) return std::nullopt;
      if (!channel.events.empty()) {
        Event event = std::move(channel.events.front());
        channel.events.pop_front();
        return event;
      }
      if (channel.error != nullptr) channel.error();
      return std::nullopt;
    }

    Channel channel;

   private:
    FakeListWatch& server_;
  };

  static meta::v1::Status too_large() {
    meta::v1::Status result = status(504, "Timeout", "Too large resource version: 9, current: 1");
    result.details.emplace();
    return result;
  }
  void throw_next(std::deque<Failure>& script) {
    if (script.empty()) return;
    const Failure error = script.front();
    script.pop_front();
    if (error != nullptr) error();
  }
  void note(std::string request) {
    requests_.push_back(std::move(request));
    changed_.notify_all();
  }
  [[nodiscard]] Ref<Item> bookmark_locked(bool end_of_state) const {
    Item mark;
    mark.metadata.resource_version = std::to_string(version_);
    if (end_of_state) mark.metadata.annotations["k8s.io/initial-events-end"] = "true";
    return freeze(mark);
  }
  void publish(Event event) {
    history_.emplace_back(version_, event);
    send(std::move(event));
  }
  void send(Event event) {
    for (Channel* channel : channels_) {
      if (!channel->closed) channel->events.push_back(event);
    }
    changed_.notify_all();
  }
  template <typename Ready>
  bool wait(Ready ready) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10}, ready);
  }

  mutable std::mutex mutex_;
  mutable Condition changed_;
  std::map<std::pair<std::string, std::string>, Ref<Item>> objects_;
  std::vector<std::pair<long, Event>> history_;
  long version_ = 0;
  long oldest_ = 0;
  std::vector<Channel*> channels_;
  std::deque<Failure> list_errors_;
  std::deque<Failure> watch_errors_;
  std::vector<std::string> requests_;
  std::vector<std::int64_t> timeouts_;
  std::string list_api_version_;
  std::string list_kind_;
  Ref<Item> odd_;
  std::function<void()> on_list_;
  bool watch_list_ = false;
  bool end_of_state_ = true;
  bool hang_ = false;
};

}  // namespace kube::testing_support
