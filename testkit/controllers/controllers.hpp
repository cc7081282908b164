// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/kinds/crd_registry.hpp"
#include "testkit/controllers/garbage_collector.hpp"
#include "testkit/rest/rest.hpp"
#include "testkit/requests/services.hpp"

namespace kube::testkit::detail {

/// The one thread of the engine: lets time pass for watches, events and history, and runs the controllers
/// that react to writes.
///
/// Thread safety: all public methods, from any thread.
class Controllers : private StoreFeed {
 public:
  Controllers(Services& services, Rest& rest);
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;
  ~Controllers() override;

  /// Stops reacting and joins the thread.
  void stop();
  /// Serves the definitions that are stored now, and looks at all objects as if they were new; for after a
  /// change of the whole store.
  void start_over();
  bool settle(std::chrono::milliseconds limit);
  std::shared_ptr<void> on_change(const GroupResource& resource,
                                  std::function<void(const Change&)> react);

 private:
  struct Item {
    Collection* collection;
    EventPtr event;
    bool quiet = false;  ///< not for hooks
  };
  struct Hook {
    GroupResource resource;
    std::function<void(const Change&)> react;
    /// Held during a call; recursive, as a reaction may end itself.
    std::recursive_mutex running;
    bool active = true;  // guarded by running
  };

  void stage(Collection& collection, const EventPtr& event) override;
  void publish() noexcept override;
  void run(std::stop_token stop);
  /// Takes the next write, or waits for one or the next tick.
  std::list<Item> next(const std::stop_token& stop);
  /// Calls `work` until it does not throw, a few times: memory may come back.
  template <typename Work>
  void persist(Work work) noexcept;
  /// Whether anybody here has to hear of a write: waking the thread takes longer than many a write.
  [[nodiscard]] bool is_concerned_locked(const Collection& collection,
                                         const StoreEvent& event) const;
  void tick();
  void react(const Item& item);
  void call_hooks(const Item& item);
  void namespace_changed(const StoreEvent& event);
  /// Deletes what is in a namespace; the namespace too, if nothing is left.
  void empty_namespace(const std::string& name);

  Services& services_;
  Rest& rest_;
  const Logger log_;  // made early: naming one needs memory
  Collection& namespaces_;
  CrdRegistry definitions_;
  GarbageCollector garbage_;
  std::set<std::string, std::less<>> terminating_;
  Clock::TimePoint next_tick_ = {};
  /// The write that is about to happen; guarded by the store's lock.
  std::list<Item> staged_;

  std::mutex mutex_;
  Condition changed_;
  std::condition_variable settled_;
  // Guarded by mutex_:
  std::list<Item> queue_;
  bool busy_ = false;
  std::vector<std::shared_ptr<Hook>> hooks_;
  /// Held while the controllers work, so that start_over() comes between; recursive, as hooks may call it.
  std::recursive_mutex run_mutex_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kube::testkit::detail
