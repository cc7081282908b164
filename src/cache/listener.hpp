// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "notification.hpp"

#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/informer_metrics.hpp>

#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>

namespace kube::detail {

/// What all listeners of an informer share.
struct ListenerContext {
  const ObjectAccess& access;
  Clock& clock;
  Logger log;
  InformerMetrics metrics;
  std::string informer_name;
  std::function<void(const CacheError& error)> on_error = nullptr;
};

/// The way to one handler: what waits for it, and the loop that calls it.
///
/// A handler that is added late gets the objects that exist from a snapshot, which its own thread walks
/// through; only later changes are queued here.
class Listener {
 public:
  Listener(const ListenerContext& context, std::uint64_t number, AnyHandler handler,
           HandlerOptions options, StoreSnapshot existing, bool upstream_synced);

  /// Queues what concerns this listener; waits if its policy says so. When it has thrown (std::bad_alloc), the same
  /// batch is pushed again, and only what is missing is queued.
  void push(const NotificationBatch& batch, bool flagged);
  /// From now on every object that existed has been pushed.
  void upstream_synced();
  /// push() does not wait any more.
  void do_not_wait();

  /// Calls the handler until a stop is requested, or draining has come to an end.
  void run(std::stop_token stop);
  void drain();
  /// Waits until run() has returned, unless this is called by the handler itself.
  void wait_until_ended() const;
  void mark_ended() const { ended_.fire(); }
  [[nodiscard]] bool has_ended() const { return ended_.done(); }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] const HandlerOptions& options() const noexcept { return options_; }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] std::size_t backlog() const;
  [[nodiscard]] std::uint64_t failures() const;
  [[nodiscard]] std::string last_failure() const;

 private:
  std::size_t append_all(const NotificationBatch& batch, bool flagged);
  void append_locked(Notification note);
  [[nodiscard]] bool coalesce_locked(Notification& note);
  void compact_locked();
  bool merge_locked(Notification& waiting, Notification& note);
  void settle_initial(std::size_t count);
  void deliver(const Notification& note, std::stop_token stop) noexcept;
  void call(const Notification& note) const;
  void pause(std::stop_token stop) noexcept;
  void failed(std::string_view what, const std::exception& error,
              const Notification* note = nullptr) noexcept;
  [[nodiscard]] std::uint64_t hash(const Notification& note) const;
  [[nodiscard]] std::string key(const Notification& note) const;

  const ListenerContext context_;
  const std::uint64_t number_;
  const AnyHandler handler_;
  const HandlerOptions options_;
  const DoneSignal synced_;
  const DoneSignal ended_;
  const std::uint64_t start_;  // changes up to this one are in the snapshot

  mutable std::mutex mutex_;
  Condition work_;
  Condition room_;
  // Guarded by mutex_:
  StoreSnapshot existing_;
  std::deque<Notification> waiting_;
  std::uint64_t batch_ = 0;       // the number of the batch that is or was pushed last
  std::size_t batch_queued_ = 0;  // of that batch, notifications that need not be looked at again
  std::uint64_t taken_ = 0;       // notifications that have left `waiting_`
  std::size_t void_ = 0;          // of `waiting_`, those that were merged away
  /// Where the last notification of an object waits, counted from the first ever. Kept above the mark only.
  std::unordered_map<std::uint64_t, std::uint64_t> last_;
  bool indexed_ = false;
  bool above_ = false;
  bool draining_ = false;
  bool no_wait_ = false;
  bool upstream_synced_ = false;
  std::size_t initial_ = 0;  // initial additions that the handler has not been called for
  std::thread::id thread_;
  std::uint64_t failures_ = 0;
  std::string last_failure_;
  bool pause_ = false;  // used by the thread of run() only
};

}  // namespace kube::detail
