// SPDX-License-Identifier: Apache-2.0
#include "testkit/controllers/controllers.hpp"

#include <algorithm>
#include <utility>

namespace kube::testkit::detail {

namespace {

constexpr std::chrono::seconds kTick{1};
constexpr int kAttempts = 5;

}  // namespace

Controllers::Controllers(Services& services, Rest& rest)
    : services_(services),
      rest_(rest),
      log_(services.options.logger.named("engine")),
      namespaces_(services, rest),
      definitions_(services, rest),
      garbage_(services, rest) {
  next_tick_ = services_.clock.now() + kTick;
  services_.store.set_feed(*this);
  thread_ = std::jthread{[this](std::stop_token stop) { run(std::move(stop)); }};
}

Controllers::~Controllers() { stop(); }

void Controllers::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool Controllers::is_concerned_locked(const Collection& collection, const StoreEvent& event) const {
  return event.type == Change::Type::kDeleted || namespaces_.is_concerned(collection) ||
         definitions_.is_definitions(collection) ||
         std::ranges::any_of(
             hooks_, [&](const auto& hook) { return hook->resource == collection.resource(); }) ||
         (services_.options.garbage_collection && GarbageCollector::is_concerned(event));
}

void Controllers::stage(Collection& collection, const EventPtr& event) {
  staged_.clear();
  const std::lock_guard lock{mutex_};
  if (is_concerned_locked(collection, *event)) staged_.push_back({&collection, event});
}

void Controllers::publish() noexcept {
  if (staged_.empty()) return;
  const std::lock_guard lock{mutex_};
  queue_.splice(queue_.end(), staged_);
  changed_.notify_one();
}

template <typename Work>
void Controllers::retry_on_error(Work work) noexcept {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      return work();
    } catch (const std::exception& error) {
      log_.error("controller: {}", error.what());
    } catch (...) {
      log_.error("controller: threw an object that is not a std::exception");
    }
  }
}

std::list<Controllers::Item> Controllers::next(const std::stop_token& stop) {
  std::list<Item> taken;
  std::unique_lock lock{mutex_};
  if (queue_.empty()) {
    busy_ = false;
    settled_.notify_all();
    services_.clock.wait_until(lock, changed_, next_tick_, stop, [&] { return !queue_.empty(); });
  }
  if (!queue_.empty()) {
    taken.splice(taken.end(), queue_, queue_.begin());
    busy_ = true;
  }
  return taken;
}

void Controllers::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::list<Item> taken;
    retry_on_error([&] { taken = next(stop); });
    const std::lock_guard lock{run_mutex_};
    if (!taken.empty()) {
      retry_on_error([&] { react(taken.front()); });
      if (!taken.front().quiet) retry_on_error([&] { call_hooks(taken.front()); });
    }
    retry_on_error([&] {
      if (services_.clock.now() >= next_tick_) tick();
    });
  }
}

void Controllers::tick() {
  const Clock::TimePoint now = services_.clock.now();
  next_tick_ = now + kTick;
  const auto [bookmarks, ended] = services_.watch_timers.take_due(now, services_.store.revision());
  for (const auto& cursor : bookmarks) services_.store.ask_for_bookmark(*cursor);
  for (const auto& cursor : ended) services_.store.end_watch(*cursor);
  while (const auto expiry = services_.event_expiry.due(now)) {
    const StoredObject object = services_.store.get(services_.events(), expiry->key);
    if (object && object.revision() == expiry->revision) {
      services_.commit(services_.events(), expiry->key, object, {});
    }
    services_.event_expiry.forget(*expiry);
  }
  services_.store.expire_history();
}

void Controllers::react(const Item& item) {
  const StoreEvent& event = *item.event;
  if (definitions_.is_definitions(*item.collection)) {
    // Coalesces consecutive writes: only the last one is processed.
    const StoredObject now = services_.store.get(*item.collection, event.key);
    if (!now || now.revision() <= event.revision) definitions_.definition_changed(event.key);
  } else if (event.type == Change::Type::kDeleted) {
    definitions_.object_deleted(item.collection->resource());
  }
  if (services_.options.namespace_controller) namespaces_.object_changed(*item.collection, event);
  if (services_.options.garbage_collection) garbage_.object_changed(*item.collection, event);
}

void Controllers::call_hooks(const Item& item) {
  std::vector<std::shared_ptr<Hook>> interested;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& hook : hooks_) {
      if (hook->resource == item.collection->resource()) interested.push_back(hook);
    }
  }
  if (interested.empty()) return;
  const StoreEvent& event = *item.event;
  const std::size_t slash = event.key.find('/');
  Change change;
  change.type = event.type;
  change.group = item.collection->resource().group;
  change.resource = item.collection->resource().resource;
  change.namespace_ = slash == std::string::npos ? std::string_view{}
                                                 : std::string_view{event.key}.substr(0, slash);
  change.name = std::string_view{event.key}.substr(slash == std::string::npos ? 0 : slash + 1);
  change.revision = event.revision;
  change.object = &event.object;
  change.json = [&] { return event.object.json(); };
  for (const auto& hook : interested) {
    const std::lock_guard lock{hook->running};
    if (!hook->active) continue;
    try {
      hook->react(change);
    } catch (const std::exception& error) {
      log_.error("a hook for {} threw: {}", change.resource, error.what());
    } catch (...) {
      log_.error("a hook for {} threw an object that is not a std::exception", change.resource);
    }
  }
}

void Controllers::start_over() {
  const std::lock_guard running{run_mutex_};
  definitions_.rebuild();
  garbage_.clear();
  namespaces_.clear();
  // Called before locking: the store's lock comes first.
  const auto objects = services_.store.all_objects();
  const std::lock_guard lock{mutex_};
  queue_.clear();
  for (const auto& [collection, object] : objects) {
    auto event = std::make_shared<StoreEvent>();
    event->revision = object.revision();
    event->key = key_of(object.metadata_text("namespace"), object.metadata_text("name"));
    event->object = object;
    queue_.push_back({const_cast<Collection*>(collection), std::move(event), true});
  }
  changed_.notify_one();
}

bool Controllers::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return settled_.wait_for(lock, limit, [&] { return queue_.empty() && !busy_; });
}

std::shared_ptr<void> Controllers::on_change(const GroupResource& resource,
                                             std::function<void(const Change&)> react) {
  auto hook = std::make_shared<Hook>();
  hook->resource = resource;
  hook->react = std::move(react);
  std::shared_ptr<void> token{hook.get(), [this, hook](void*) {
                                {
                                  const std::lock_guard list{mutex_};
                                  std::erase(hooks_, hook);
                                }
                                const std::lock_guard running{hook->running};
                                hook->active = false;
                              }};
  const std::lock_guard lock{mutex_};
  hooks_.push_back(hook);
  return token;
}

}  // namespace kube::testkit::detail
