// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "notification.hpp"

#include "engine/job.hpp"
#include "engine/timer.hpp"
#include <kube/base/log.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/informer_metrics.hpp>

#include <boost/container/deque.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kube::detail {

/// State shared by all listeners of an informer.
struct ListenerContext {
  const ObjectAccess& access;
  Clock& clock;
  Logger log;
  InformerMetrics metrics;
  std::string informer_name;
  std::function<void(const CacheError& error)> on_error = nullptr;
};

class Processor;

/// Delivers notifications to one handler: the queue of waiting notifications, and the job that
/// calls the handler.
///
/// A handler that is added late receives the existing objects from a snapshot, which its own job
/// walks through. Only later changes are queued here.
class Listener final : public Job {
 public:
  Listener(std::shared_ptr<const ListenerContext> context, std::uint64_t number, AnyHandler handler,
           HandlerOptions options, StoreSnapshot existing, bool upstream_synced);

  /// Starts the job. `owner` is notified when it has ended, and must outlive that. Throws
  /// std::bad_alloc.
  void start(const std::shared_ptr<Scheduler>& scheduler, Processor& owner);
  /// Returns whether start() was called.
  [[nodiscard]] bool has_started() const noexcept { return started_; }

  /// Queues the notifications that are for this listener. Returns false if its backlog is full and
  /// its policy is kBlock: `room` is woken when there is room, and the same batch is pushed again.
  /// The same holds after an exception (std::bad_alloc). Only notifications that are missing are
  /// queued then.
  [[nodiscard]] bool push(const NotificationBatch& batch, bool flagged,
                          const std::shared_ptr<Waker>& room);
  /// Called when every object that existed has been pushed.
  void upstream_synced();
  /// Disables back-pressure: push() queues everything from now on.
  void do_not_wait();

  /// Ends when the handler has been called for all waiting notifications.
  void drain() noexcept;
  /// Ends after the call that is under way; drops waiting notifications.
  void stop() noexcept;
  /// Waits until no call is under way and none will be made. Does not wait when called by the
  /// handler itself.
  void wait_until_ended() const;
  [[nodiscard]] bool has_ended() const { return ended_.done(); }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::string_view name() const noexcept override { return synced_.name(); }
  [[nodiscard]] const HandlerOptions& options() const noexcept { return options_; }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] std::size_t backlog() const;
  [[nodiscard]] std::uint64_t failures() const;
  [[nodiscard]] std::string last_failure() const;

 private:
  enum class Queued { kAll, kFull };

  void run() noexcept override;
  /// Calls the handler for some of the waiting notifications. Returns true if there may be more.
  [[nodiscard]] bool deliver_some() noexcept;
  [[nodiscard]] bool deliver_existing() noexcept;
  void deliver_taken() noexcept;
  void take_locked() noexcept;
  /// Returns false during the pause after a failure.
  [[nodiscard]] bool may_call() noexcept;
  void end() noexcept;

  Queued append_all(const NotificationBatch& batch, bool flagged,
                    const std::shared_ptr<Waker>& room, std::size_t& crossed);
  void append_locked(Notification note);
  [[nodiscard]] bool coalesce_locked(Notification& note);
  void compact_locked();
  bool merge_locked(Notification& waiting, Notification& note);
  void settle_initial(std::size_t count);
  void deliver(const Notification& note) noexcept;
  void call(const Notification& note) const;
  void slow_inline(const Notification& note, Clock::Duration took) noexcept;
  void failed(std::string_view what, const std::exception& error,
              const Notification* note = nullptr) noexcept;
  [[nodiscard]] std::uint64_t hash(const Notification& note) const;
  [[nodiscard]] std::string key(const Notification& note) const;

  const std::shared_ptr<const ListenerContext> shared_;
  const ListenerContext& context_ = *shared_;
  const std::uint64_t number_;
  const AnyHandler handler_;
  const HandlerOptions options_;
  const DoneSignal synced_;
  const DoneSignal ended_;
  const std::uint64_t start_;  // the snapshot contains the changes up to this sequence number

  // Constant after start():
  std::atomic<bool> started_ = false;
  Processor* owner_ = nullptr;
  std::optional<Timer> timer_;

  std::atomic<bool> stopping_ = false;
  // Used only by run():
  StoreSnapshot walked_;  // existing objects, while the handler is called for them
  std::uint32_t walked_to_ = 0;
  bool walking_ = true;
  std::size_t taken_count_ = 0;
  std::size_t called_ = 0;  // number of these that the handler has been called for
  Clock::TimePoint pause_until_{};
  bool pausing_ = false;
  std::optional<Clock::TimePoint> slow_reported_;

  /// Notifications taken from waiting_: several, so that the lock is not taken for each; few, so
  /// that the rest can still be merged. Used only by run(); made with the first notification, as
  /// most handlers of a program with many informers have none.
  using Taken = std::array<Notification, 16>;
  std::unique_ptr<Taken> taken_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  StoreSnapshot existing_;
  boost::container::deque<Notification> waiting_;  // an empty std::deque takes half a kilobyte
  std::shared_ptr<Waker> room_;                    // woken when there is room
  std::uint64_t batch_ = 0;                        // number of the batch pushed last
  std::size_t batch_queued_ = 0;  // how many notifications of that batch have been handled
  std::uint64_t left_ = 0;        // number of notifications that have left `waiting_`
  std::size_t void_ = 0;          // entries of `waiting_` that were merged away
  /// Position of the last waiting notification of an object, counted from the first ever.
  /// Maintained only above the high-water mark.
  std::unordered_map<std::uint64_t, std::uint64_t> last_;
  bool indexed_ = false;
  bool above_ = false;
  bool draining_ = false;
  bool no_wait_ = false;
  bool upstream_synced_ = false;
  std::size_t initial_ = 0;  // initial additions that the handler has not been called for
  std::uint64_t failures_ = 0;
  std::string last_failure_;
};

}  // namespace kube::detail
