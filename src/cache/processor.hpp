// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "listener.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace kube::detail {

/// The listeners of an informer: distributes notifications, runs a thread for each handler, and knows who is
/// due for a resync.
///
/// Thread safety: any method from any thread.
class Processor {
 public:
  /// `resync`: how often handlers see all objects again unless they say otherwise; 0: nobody ever does.
  Processor(ListenerContext context, Clock::Duration resync);
  ~Processor();

  /// Takes the snapshot of what exists at the right moment: nothing is told twice, and nothing is missed. Throws
  /// Error, with nothing added, if the listener's thread cannot be created.
  std::shared_ptr<Listener> add(AnyHandler handler, HandlerOptions options,
                                const std::function<StoreSnapshot()>& existing,
                                bool informer_started);
  void remove(const std::shared_ptr<Listener>& listener, Removal how);

  /// Throws Error if a thread cannot be created; the next call starts those that are missing.
  void start();
  /// Ends all threads; what waits is dropped.
  void stop() noexcept;
  void do_not_wait() noexcept;
  /// When it has thrown (std::bad_alloc), it is called again with the same batch, and goes on where it stopped. A
  /// listener that fails does not keep the batch from the others.
  void distribute(const NotificationBatch& batch);
  void upstream_synced() noexcept;

  /// How often to look for who is due.
  [[nodiscard]] Clock::Duration check_period() const;
  /// Who wants to see all objects again now; null if nobody does.
  [[nodiscard]] std::shared_ptr<const ResyncRequest> due_for_resync();
  [[nodiscard]] std::size_t backlog() const;

 private:
  struct Member {
    std::shared_ptr<Listener> listener;
    Clock::Duration requested{};
    Clock::Duration effective{};
    Clock::TimePoint next{};
    bool flagged = true;
    std::jthread thread;
  };
  [[nodiscard]] Clock::Duration effective_locked(Clock::Duration requested) const;
  void start_locked(Member& member);
  /// The listener with the next higher number, and whether it is flagged; null if there is none. Whoever visits all
  /// listeners neither holds the lock meanwhile nor needs memory for them.
  [[nodiscard]] std::pair<std::shared_ptr<Listener>, bool> next(std::uint64_t number) const;
  void reap() noexcept;

  const ListenerContext context_;
  const Clock::Duration default_period_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<Member>> members_;  // by number
  std::list<std::unique_ptr<Member>> leaving_;    // removed; their threads end sooner or later
  std::uint64_t next_number_ = 1;
  Clock::Duration check_period_;
  bool running_ = false;
  bool upstream_synced_ = false;
};

}  // namespace kube::detail
