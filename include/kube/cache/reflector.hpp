// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/reflector_options.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube {
namespace detail {

/// What a Reflector does besides, for its owner.
struct ReflectorHooks {
  /// Changes each object before anything else sees it; throws to refuse.
  std::function<ObjectRef(const ObjectRef& object)> transform = nullptr;
  Clock::Duration resync_period = {};
  /// Who is due for a resync, or null if nobody is. Absent: always everybody.
  std::function<std::shared_ptr<const ResyncRequest>()> due_for_resync = nullptr;
  /// Hears of each round that failed, besides ReflectorOptions::on_error. May be absent.
  std::function<void(const std::exception& error)> on_error = nullptr;
  /// Gets the time at which tick() wants to be called.
  std::function<void(Clock::TimePoint)> set_timer = nullptr;
};

/// The reflector behind Reflector and behind informers.
class ReflectorCore {
 public:
  ReflectorCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                ReflectorTarget& target, ReflectorOptions options, ReflectorHooks hooks = {});
  ReflectorCore(const ReflectorCore&) = delete;
  ReflectorCore& operator=(const ReflectorCore&) = delete;

  void run(std::stop_token stop) noexcept;
  /// Ends the list or watch that is under way, and lists after a pause: what came of it has been lost. From any thread.
  void list_again() noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;
  /// Does what is due: a resync, a warning about a state that does not arrive. From one thread at a time. Called again
  /// after it has thrown, it goes on where it stopped.
  void tick();
  /// Fills in the ages of InformerMetrics. From any thread.
  void measure() const;

 private:
  enum class Next { kStopped, kRelist, kWatchAgain };
  enum class Initial { kStopped, kList, kStreamed };

  void round(const std::stop_token& stop);
  void round_failed() noexcept;
  void list_and_watch(std::stop_token stop);
  bool list(std::stop_token stop);
  ListMetadata list_pages(const ListOptions& wanted, std::vector<ObjectRef>& items,
                          std::stop_token stop);
  Initial stream_state(std::unique_ptr<AnyWatchStream>& stream, std::stop_token stop);
  Initial stream_state_once(std::unique_ptr<AnyWatchStream>& stream, bool& again,
                            std::stop_token stop);
  Initial state_failed(const std::exception& error, const std::string& version, bool& again,
                       std::stop_token stop);
  void watch(std::unique_ptr<AnyWatchStream> stream, std::stop_token stop);
  std::unique_ptr<AnyWatchStream> open_watch(std::stop_token stop);
  Next follow(std::unique_ptr<AnyWatchStream> stream, bool synthetic, Clock::TimePoint start,
              std::stop_token stop);
  Next watch_ended(const std::exception_ptr& error, std::size_t events, Clock::Duration lived,
                   std::stop_token stop);
  void take(const AnyWatchEvent& event);
  bool is_consistent(const std::vector<ObjectRef>& items, const std::string& version,
                     std::stop_token stop);

  ObjectRef prepare(ObjectRef object);
  [[nodiscard]] ObjectRef transformed(ObjectRef object) const;
  [[nodiscard]] std::string unusable(const ObjectRef& object) const;
  [[nodiscard]] ListOptions watch_options();
  void store(std::vector<ObjectRef> items, const std::string& version);
  void set_last_version(const std::string& version);
  void count(EventType type);
  void received(bool up_to_date);
  void report(const ReflectorEvent& event) noexcept;
  void set_last_error(const char* text) noexcept;
  bool back_off(std::stop_token stop) noexcept;
  bool pause_before_reconnect(Clock::Duration lived, std::size_t events, std::stop_token stop);
  bool may_retry_internal_error();
  void move_timers(Clock::TimePoint resync, Clock::TimePoint warning);

  const ObjectAccess& access_;
  const std::shared_ptr<AnyListWatch> source_;
  ReflectorTarget& target_;
  const ReflectorOptions options_;
  const ReflectorHooks hooks_;

  // Used by the thread of run():
  Backoff backoff_;
  bool version_unavailable_ = false;
  bool paginated_ = false;
  int quick_ends_ = 0;
  std::optional<Clock::TimePoint> internal_error_first_;
  Clock::TimePoint internal_error_last_{};

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::string last_version_;
  std::string last_error_;
  Clock::TimePoint resync_at_ = Clock::TimePoint::max();
  Clock::TimePoint warn_at_ = Clock::TimePoint::max();
  Clock::TimePoint last_event_{};
  bool any_event_ = false;
  Clock::TimePoint received_{};               // when anything came
  Clock::TimePoint up_to_date_{};             // when the last bookmark or list came
  std::stop_source round_{std::nostopstate};  // ends the round that is under way

  std::shared_ptr<const ResyncRequest> due_;  // taken by tick(), and not handed over yet
};

template <typename T>
[[nodiscard]] ReflectorOptions with_log_of(const std::shared_ptr<ListWatch<T>>& source,
                                           ReflectorOptions options) {
  options.log = log_for(source, options.log);
  return options;
}

/// Writes what a reflector learns straight into a store.
class IndexerTarget final : public ReflectorTarget {
 public:
  explicit IndexerTarget(std::shared_ptr<IndexerCore> store) : store_(std::move(store)) {}
  void add(ObjectRef object) override;
  void update(ObjectRef object) override { add(std::move(object)); }
  void erase(ObjectRef last) override;
  void replace(std::vector<ObjectRef> objects, std::string version) override;
  void resync(std::shared_ptr<const ResyncRequest> /*request*/) override {}
  void bookmark(std::string version) override { store_->set_version(version); }
  [[nodiscard]] ObjectRef known(const void* object) const override { return store_->find(object); }

 private:
  void apply(StoreChange change);
  std::shared_ptr<IndexerCore> store_;
};

}  // namespace detail

/// Keeps a store equal to what a source has: lists, watches, and starts again when a watch ends, with growing
/// pauses where the source has trouble.
///
/// It asks for the version it has seen last, so that it never goes back in time; if the server has forgotten
/// it, for the newest state. A list keeps the stored block of each object that has not changed.
/// Thread safety: run() once, in one thread; the rest from any.
template <typename T>
class Reflector {
 public:
  Reflector(const std::shared_ptr<ListWatch<T>>& source, Indexer<T>& store,
            ReflectorOptions options = {})
      : target_(std::make_unique<detail::IndexerTarget>(detail::Inside::core(store))),
        core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              *target_, detail::with_log_of(source, std::move(options))) {}

  /// Returns soon after a stop is requested. Throws nothing: what fails is reported and tried again.
  void run(std::stop_token stop) noexcept { core_.run(std::move(stop)); }
  /// The version that was read last; empty before the first list. The store may lag behind a little.
  [[nodiscard]] std::string last_sync_resource_version() const { return core_.last_version(); }
  /// Why the last round failed; empty if none has since the last list.
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  std::unique_ptr<detail::IndexerTarget> target_;
  detail::ReflectorCore core_;
};

}  // namespace kube
