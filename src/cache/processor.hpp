// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "listener.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
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

  /// Takes the snapshot of what exists at the right moment: nothing is told twice, and nothing is missed.
  std::shared_ptr<Listener> add(AnyHandler handler, HandlerOptions options,
                                const std::function<StoreSnapshot()>& existing,
                                bool informer_started);
  void remove(const std::shared_ptr<Listener>& listener, Removal how);

  void start();
  /// Ends all threads; what waits is dropped.
  void stop();
  void do_not_wait();
  void distribute(const NotificationBatch& batch);
  void upstream_synced();

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
  static void start_locked(Member& member);
  void reap();

  const ListenerContext context_;
  const Clock::Duration default_period_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<Member>> leaving_;  // removed; their threads end sooner or later
  std::uint64_t next_number_ = 1;
  Clock::Duration check_period_;
  bool running_ = false;
  bool upstream_synced_ = false;
};

}  // namespace kube::detail
