// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/controllers/garbage_collector.hpp"
#include "testkit/controllers/namespace_controller.hpp"
#include "testkit/kinds/crd_registry.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// The engine's thread: runs timers of watches, expiry of events and history, and the controllers
/// that react to writes.
///
/// Thread safety: all public methods, from any thread.
class Controllers : private StoreFeed {
 public:
  Controllers(Services& services, Rest& rest);
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;
  ~Controllers() override;

  /// Stops the controllers and joins the thread.
  void stop();
  /// Serves the stored definitions and processes all objects as new; to be called after the content
  /// of the store was replaced.
  void start_over();
  bool settle(std::chrono::milliseconds limit);
  std::shared_ptr<void> on_change(const GroupResource& resource,
                                  std::function<void(const Change&)> react);

 private:
  struct Item {
    Collection* collection;
    EventPtr event;
    bool quiet = false;  ///< not passed to hooks
  };
  struct Hook {
    GroupResource resource;
    std::function<void(const Change&)> react;
    /// Held during a call; recursive, because a hook may unsubscribe itself.
    std::recursive_mutex running;
    bool active = true;  // guarded by running
  };

  void stage(Collection& collection, const EventPtr& event) override;
  void publish() noexcept override;
  void run(std::stop_token stop);
  /// Returns the next queued write. Waits for one, at most until the next tick; then the list is
  /// empty.
  std::list<Item> next(const std::stop_token& stop);
  /// Calls `work` until it succeeds, a limited number of times: memory may become available again.
  template <typename Work>
  void retry_on_error(Work work) noexcept;
  /// Returns whether a controller or hook needs the write: waking the thread costs more than many
  /// writes.
  [[nodiscard]] bool is_concerned_locked(const Collection& collection,
                                         const StoreEvent& event) const;
  void tick();
  void react(const Item& item);
  void call_hooks(const Item& item);

  Services& services_;
  Rest& rest_;
  const Logger log_;  // created early, because naming a logger allocates
  NamespaceController namespaces_;
  CrdRegistry definitions_;
  GarbageCollector garbage_;
  Clock::TimePoint next_tick_ = {};
  /// The announced write; guarded by the store's lock.
  std::list<Item> staged_;

  std::mutex mutex_;
  Condition changed_;
  std::condition_variable settled_;
  // Guarded by mutex_:
  std::list<Item> queue_;
  bool busy_ = false;
  std::vector<std::shared_ptr<Hook>> hooks_;
  /// Held while the controllers run, to exclude start_over(); recursive, because hooks may call it.
  std::recursive_mutex run_mutex_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kube::testkit::detail
