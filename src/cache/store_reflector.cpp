// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/reflector.hpp>

#include "blocking_source.hpp"
#include "reflector_core.hpp"

#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/cache/done_signal.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace kube::detail {

namespace {

constexpr std::chrono::milliseconds kAfterFailedStart{100};

/// Writes what a reflector learns straight into a store.
class StoreTarget final : public ReflectorTarget {
 public:
  explicit StoreTarget(std::shared_ptr<IndexerCore> store) : store_(std::move(store)) {}
  void add(ObjectRef object) override { apply({.object = std::move(object)}); }
  void update(ObjectRef object) override { add(std::move(object)); }
  void erase(ObjectRef last) override { apply({.object = std::move(last), .erase = true}); }
  void replace(std::vector<ObjectRef> objects, std::string version) override {
    std::vector<StoreResult> results;
    std::vector<ObjectRef> removed;
    store_->replace(objects, version, results, removed);
  }
  void resync(std::shared_ptr<const ResyncRequest> /*request*/) override {}
  void bookmark(std::string version) override { store_->set_version(version); }
  [[nodiscard]] ObjectRef known(const void* object) const override { return store_->find(object); }

 private:
  void apply(StoreChange change) {
    std::vector<StoreResult> results;
    store_->apply({std::move(change)}, results);
    if (!results.front().error.empty()) throw KeyError(results.front().error);
  }

  const std::shared_ptr<IndexerCore> store_;
};

}  // namespace

class StoreReflector::Run final : public Job {
 public:
  Run(const ObjectAccess& access, std::shared_ptr<AsyncListWatch> source,
      std::shared_ptr<IndexerCore> store, ReflectorOptions options)
      : Job(Placement::kLibrary),
        clock_(*options.clock),
        source_(source),
        target_(std::move(store)),
        reflector_(access, std::move(source), target_, std::move(options)) {}

  void start(const std::shared_ptr<Scheduler>& scheduler) {
    timer_.emplace(scheduler, clock_);
    bind(scheduler);
    schedule();
  }
  void stop() noexcept {
    reflector_.stop();
    schedule();
  }
  void join() noexcept {
    (void)ended_.wait({});
    source_->join();
  }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const ReflectorCore& reflector() const noexcept { return reflector_; }

 private:
  void run() noexcept override {
    if (ended_.done()) return;
    switch (reflector_.poll({.waker = shared_from_this(), .scheduler = scheduler()})) {
      case Poll::kMore:
        return schedule();
      case Poll::kPending:
        return timer_->set(reflector_.wake_at(), weak_from_this());
      case Poll::kReady:
        timer_.reset();
        return ended_.fire();
    }
  }

  Clock& clock_;
  const std::shared_ptr<AsyncListWatch> source_;
  StoreTarget target_;
  ReflectorCore reflector_;
  std::optional<Timer> timer_;
  const DoneSignal ended_;
};

StoreReflector::StoreReflector(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                               std::shared_ptr<IndexerCore> store, ReflectorOptions options)
    : run_(std::make_shared<Run>(access, polled_form(std::move(source)), std::move(store),
                                 std::move(options))) {}

StoreReflector::~StoreReflector() = default;

std::string StoreReflector::last_version() const { return run_->reflector().last_version(); }
std::string StoreReflector::last_error() const { return run_->reflector().last_error(); }

void StoreReflector::run(std::stop_token stop) noexcept {
  std::shared_ptr<Runtime> runtime;
  while (!stop.stop_requested()) {
    try {
      if (runtime == nullptr) runtime = shared_runtime();
      run_->start(Inside::core(*runtime));
      break;
    } catch (...) {  // no memory, or no thread: perhaps later
      (void)system_clock().sleep_for(kAfterFailedStart, stop);
    }
  }
  if (stop.stop_requested() && run_->scheduler() == nullptr) return;
  const std::stop_callback end{stop, [this]() noexcept { run_->stop(); }};
  run_->join();
}

}  // namespace kube::detail
