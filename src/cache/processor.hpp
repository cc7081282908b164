// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "listener.hpp"

#include "base/fork.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kube::detail {

/// The listeners of an informer: distributes notifications, and tracks which handlers are due for a
/// resync (client-go: sharedProcessor).
///
/// Thread safety: any method from any thread.
class Processor {
 public:
  /// `resync`: default resync period of handlers; 0: no handler is ever resynced.
  Processor(ListenerContext context, Clock::Duration resync);
  ~Processor();

  /// Adds a handler, together with a snapshot of the existing objects: no change is reported twice
  /// or missed.
  std::shared_ptr<Listener> add(AnyHandler handler, HandlerOptions options,
                                const std::function<StoreSnapshot()>& existing,
                                bool informer_started);
  void remove(const std::shared_ptr<Listener>& listener, Removal how);

  /// Starts to call handlers. Throws std::bad_alloc; the next call starts the remaining ones.
  void start(const std::shared_ptr<Scheduler>& scheduler);
  /// Stops all listeners; drops waiting notifications.
  void request_stop() noexcept;
  /// Fires when a stop was requested and no handler is called any more.
  [[nodiscard]] const DoneSignal& stopped() const noexcept { return stopped_; }
  /// Called by a started listener that has ended.
  void listener_ended() noexcept;
  void do_not_wait() noexcept;
  /// Queues a batch for all listeners. Returns false if a handler with policy kBlock has a full
  /// backlog; `room` is woken when there is room. After that, or an exception (std::bad_alloc), it
  /// is called again with the same batch, and continues where it stopped. A listener that fails or
  /// is full does not keep the batch from the others.
  [[nodiscard]] bool distribute(const NotificationBatch& batch, const std::shared_ptr<Waker>& room);
  void upstream_synced() noexcept;

  /// Returns how often to call due_for_resync().
  [[nodiscard]] Clock::Duration check_period() const;
  /// Returns the handlers that are due for a resync now; null if there are none.
  [[nodiscard]] std::shared_ptr<const ResyncRequest> due_for_resync();
  [[nodiscard]] std::size_t backlog() const;
  /// Returns the process that created the informer, to detect fork().
  [[nodiscard]] const ProcessMark& process() const noexcept { return process_; }

 private:
  struct Member {
    std::shared_ptr<Listener> listener;
    Clock::Duration requested{};
    Clock::Duration effective{};
    Clock::TimePoint next{};
    bool flagged = true;
  };
  [[nodiscard]] Clock::Duration effective_locked(Clock::Duration requested) const;
  /// Returns the listener with the next higher number, and whether it is flagged; null if there is
  /// none. Iterating this way needs neither the lock nor memory during the visits.
  [[nodiscard]] std::pair<std::shared_ptr<Listener>, bool> next(std::uint64_t number) const;
  /// Forgets removed listeners that have ended.
  void forget_ended_locked() noexcept;

  const ProcessMark process_;
  const std::shared_ptr<const ListenerContext>
      shared_;  // shared with the listeners, which may outlive this
  const ListenerContext& context_ = *shared_;
  const Clock::Duration default_period_;
  const DoneSignal stopped_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<Member>> members_;    // sorted by number
  std::vector<std::shared_ptr<Listener>> leaving_;  // removed, but possibly not ended yet
  std::uint64_t next_number_ = 1;
  Clock::Duration check_period_;
  std::shared_ptr<Scheduler> scheduler_;  // set while it runs
  std::size_t alive_ = 0;                 // listeners that were started and have not ended
  bool stopping_ = false;
  bool upstream_synced_ = false;
};

}  // namespace kube::detail
