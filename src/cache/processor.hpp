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

/// The listeners of an informer: distributes notifications, and knows which handlers are due for a resync.
///
/// Thread safety: any method from any thread.
class Processor {
 public:
  /// `resync`: how often handlers see all objects again unless they say otherwise; 0: nobody ever does.
  Processor(ListenerContext context, Clock::Duration resync);
  ~Processor();

  /// Takes the snapshot of what exists at the right moment: nothing is told twice, and nothing is missed.
  std::shared_ptr<Listener> add(AnyHandler handler, HandlerOptions options,
                                const std::function<StoreSnapshot()>& existing,
                                bool informer_started);
  void remove(const std::shared_ptr<Listener>& listener, Removal how);

  /// Handlers are called from now on. Throws std::bad_alloc; the next call starts those that are missing.
  void start(const std::shared_ptr<Scheduler>& scheduler);
  /// Ends all listeners; what waits is dropped.
  void request_stop() noexcept;
  /// Happens when a stop was requested and no handler is called any more.
  [[nodiscard]] const DoneSignal& stopped() const noexcept { return stopped_; }
  /// A listener that was started has ended.
  void listener_ended() noexcept;
  void do_not_wait() noexcept;
  /// Returns false if a handler that everything waits for is behind; `room` is woken when it is not any more. Then, and
  /// when it has thrown (std::bad_alloc), it is called again with the same batch, and goes on where it stopped. A
  /// listener that fails or is full does not keep the batch from the others.
  [[nodiscard]] bool distribute(const NotificationBatch& batch, const std::shared_ptr<Waker>& room);
  void upstream_synced() noexcept;

  /// How often to look for who is due.
  [[nodiscard]] Clock::Duration check_period() const;
  /// Who wants to see all objects again now; null if nobody does.
  [[nodiscard]] std::shared_ptr<const ResyncRequest> due_for_resync();
  [[nodiscard]] std::size_t backlog() const;
  /// The process that the informer belongs to.
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
  /// The listener with the next higher number, and whether it is flagged; null if there is none. Whoever visits all
  /// listeners neither holds the lock meanwhile nor needs memory for them.
  [[nodiscard]] std::pair<std::shared_ptr<Listener>, bool> next(std::uint64_t number) const;
  /// Forgets removed listeners that have ended.
  void forget_ended_locked() noexcept;

  const ProcessMark process_;
  const std::shared_ptr<const ListenerContext>
      shared_;  // with the listeners, which may outlive this
  const ListenerContext& context_ = *shared_;
  const Clock::Duration default_period_;
  const DoneSignal stopped_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<Member>> members_;    // by number
  std::vector<std::shared_ptr<Listener>> leaving_;  // removed, and perhaps not ended yet
  std::uint64_t next_number_ = 1;
  Clock::Duration check_period_;
  std::shared_ptr<Scheduler> scheduler_;  // while it runs
  std::size_t alive_ = 0;                 // listeners that were started and have not ended
  bool stopping_ = false;
  bool upstream_synced_ = false;
};

}  // namespace kube::detail
