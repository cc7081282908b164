// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/leader_elector.hpp>

#include "election_run.hpp"
#include "observed_lease.hpp"

#include <kube/base/condition.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace kube {
namespace {

constexpr double kJitter = 1.2;

LeaderElectionOptions checked(const ResourceLock* lock, LeaderElectionOptions options) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument{fmt::format("leader election: {}", what)};
  };
  constexpr Clock::Duration kNone{};
  require(lock != nullptr, "there is no lock");
  require(!lock->identity().empty(), "the identity of the lock is empty");
  require(options.lease_duration > options.renew_deadline,
          "the lease duration must be longer than the renew deadline");
  require(std::chrono::duration<double>{options.renew_deadline} >
              kJitter * std::chrono::duration<double>{options.retry_period},
          "the renew deadline must be longer than 1.2 times the retry period");
  require(options.retry_period > kNone, "the retry period must be longer than 0");
  require(options.on_started_leading != nullptr, "on_started_leading is missing");
  require(options.on_stopped_leading != nullptr, "on_stopped_leading is missing");
  return options;
}

/// Wakes the thread inside run().
class ThreadWaker final : public detail::Waker {
 public:
  void wake() noexcept override {
    {
      const std::lock_guard guard{mutex_};
      woken_ = true;
    }
    changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  Condition changed_;
  bool woken_ = false;  // guarded by mutex_
};

/// Logs the exception being handled.
void report(const Logger& log, const char* what) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    log.error("{}: {}", what, error.what());
  } catch (...) {
    log.error("{}: an exception that is not a std::exception was thrown", what);
  }
}

}  // namespace

/// Replaces the thread inside run() for start(): a job of workers.
class LeaderElector::Background final : public detail::Job {
 public:
  explicit Background(LeaderElector& elector)
      : Job(detail::Placement::kBlocking), elector_(elector) {}

  void start() {
    run_ = elector_.make_run();
    bind(detail::Inside::core(*run_->runtime()));
    run_->start(shared_from_this());
  }
  void stop() noexcept { run_->request_stop(); }
  [[nodiscard]] const DoneSignal& ended() const noexcept { return ended_; }
  /// Ends the threads of the lease if this was the last election. Called after the end, on a thread
  /// that may wait for them.
  void close() noexcept { run_.reset(); }

 private:
  void run() noexcept override {
    if (ended_.done() || !run_->step()) return;
    try {
      if (run_->failure()) std::rethrow_exception(run_->failure());
    } catch (...) {
      report(elector_.log_, "the work of the leader failed");
    }
    try {
      elector_.finish();
    } catch (...) {
      report(elector_.log_, "on_stopped_leading failed");
    }
    ended_.fire();  // the elector may be destroyed now
  }

  LeaderElector& elector_;
  const DoneSignal ended_;
  std::unique_ptr<detail::ElectionRun> run_;
};

LeaderElector::LeaderElector(std::shared_ptr<ResourceLock> lock, LeaderElectionOptions options)
    : lock_(std::move(lock)),
      options_(checked(lock_.get(), std::move(options))),
      identity_(lock_->identity()),
      lock_name_(lock_->describe()),
      log_(options_.log.named("leader election")),
      lease_(std::make_shared<detail::ObservedLease>(*options_.clock, identity_,
                                                     options_.lease_duration)) {
  if (options_.name.empty()) return;
  const MetricLabels labels{{"name", options_.name}};
  master_status_ = gauge(options_.metrics, "leader_election_master_status",
                         "Whether this process leads", labels);
  slow_path_ = counter(options_.metrics, "leader_election_slowpath_total",
                       "Renewals that had to read the lease first", labels);
}

LeaderElector::~LeaderElector() {
  const std::shared_ptr<Background> background = background_;
  if (background == nullptr) return;
  background->stop();
  (void)background->ended().wait({});
  background->close();
}

std::unique_ptr<detail::ElectionRun> LeaderElector::make_run() const {
  return std::make_unique<detail::ElectionRun>(lock_, options_, lease_, master_status_, slow_path_);
}

void LeaderElector::begin() {
  if (running_.exchange(true)) throw std::logic_error{"this leader elector is running already"};
}

void LeaderElector::finish() {
  master_status_.set(0);
  lease_->disclaim();
  running_ = false;
  options_.on_stopped_leading();
}

void LeaderElector::run(std::stop_token stop) {
  begin();
  std::exception_ptr failure;
  try {
    const auto waker = std::make_shared<ThreadWaker>();
    const std::unique_ptr<detail::ElectionRun> run = make_run();
    run->start(waker);
    {
      const std::stop_callback end{stop, [&]() noexcept { run->request_stop(); }};
      while (!run->step()) waker->wait();
    }
    failure = run->failure();
  } catch (...) {  // no memory, or no thread
    failure = std::current_exception();
  }
  finish();
  if (failure) std::rethrow_exception(failure);
}

void LeaderElector::start() {
  begin();
  try {
    auto background = std::make_shared<Background>(*this);
    background->start();
    {
      const std::lock_guard guard{mutex_};
      background.swap(background_);
    }
    // left by the previous start(), which has ended
    if (background != nullptr) background->close();
  } catch (...) {
    running_ = false;
    throw;
  }
}

void LeaderElector::request_stop() noexcept {
  const std::lock_guard guard{mutex_};  // start() may replace it
  if (background_ != nullptr) background_->stop();
}

DoneSignal LeaderElector::ended() const {
  const std::lock_guard guard{mutex_};
  return background_ == nullptr ? DoneSignal{} : background_->ended();
}

bool LeaderElector::is_leader() const { return lease_->is_held(); }

std::string LeaderElector::leader() const { return lease_->holder(); }

std::optional<std::string> LeaderElector::health_problem(Clock::Duration tolerance) const {
  if (!lease_->is_overdue(tolerance)) return std::nullopt;
  return fmt::format("{} leads, but could not renew {} in time", identity_, lock_name_);
}

Clock::Duration election_request_timeout(Clock::Duration renew_deadline) noexcept {
  return std::max<Clock::Duration>(std::chrono::seconds{1}, renew_deadline / 2);
}

}  // namespace kube
