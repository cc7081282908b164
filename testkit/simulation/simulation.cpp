// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/simulation.hpp"

#include <kube/api/errors.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controllers.hpp"

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kControllerManager = "kube-controller-manager";

/// Number of consecutive failures that are retried at once, because conflicts with clients are
/// transient. Later retries are delayed.
constexpr int kImmediateRetries = 5;
constexpr std::chrono::seconds kFirstBackoff{1};
constexpr int kMostDoublings = 6;

}  // namespace

Simulation::Simulation(Engine& engine, Clock& clock, const Logger& logger)
    : engine_(engine), clock_(clock), logger_(logger.named("simulation")) {
  const auto access = [&](std::string_view agent) {
    return ClusterAccess{engine_, clock_, std::string{agent}};
  };
  add(make_node_controller(access("kubelet")));
  add(make_volume_controller(access(kControllerManager)));
  add(make_claim_controller(access(kControllerManager)));
  add(make_scheduler(access("kube-scheduler")));
  add(make_pod_lifecycle(access("kubelet")));
  add(make_replica_set_controller(access(kControllerManager)));
  add(make_stateful_set_controller(access(kControllerManager)));
  add(make_daemon_set_controller(access(kControllerManager)));
  add(make_job_controller(access(kControllerManager)));
  add(make_deployment_controller(access(kControllerManager)));
  add(make_cron_job_controller(access(kControllerManager)));
  add(make_endpoints_controller(access(kControllerManager)));
  add(make_disruption_budget_controller(access(kControllerManager)));
  subscribe();
  start_over();
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

Simulation::~Simulation() {
  subscriptions_.clear();
  thread_.request_stop();
}

void Simulation::add(std::unique_ptr<SimulatedController> controller) {
  controllers_.push_back(std::move(controller));
}

void Simulation::subscribe() {
  std::map<GroupResource, std::vector<std::size_t>> interested;
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    for (const GroupResource& resource : controllers_[i]->watched()) {
      interested[resource].push_back(i);
    }
  }
  for (const auto& [resource, indexes] : interested) {
    subscriptions_.push_back(engine_.on_change(
        resource, [this, resource = resource, indexes = indexes](const Change& change) {
          for (const std::size_t i : indexes) {
            controllers_[i]->on_change(resource, *change.object, [&](ObjectKey object) {
              enqueue({i, std::move(object)});
            });
          }
        }));
  }
}

void Simulation::start_over() {
  ensure_node(engine_);
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    for (const GroupResource& resource : controllers_[i]->watched()) {
      for (const StoredObject& object : engine_.list_stored(resource)) {
        controllers_[i]->on_change(resource, object, [&](ObjectKey key) {
          enqueue({i, std::move(key)});
        });
      }
    }
  }
}

void Simulation::enqueue(Key key) {
  const std::lock_guard guard{mutex_};
  dirty_.insert(std::move(key));
  changed_.notify_all();
}

bool Simulation::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [this] {
    return dirty_.empty() && !working_ && next_due_locked() > clock_.now();
  });
}

Clock::TimePoint Simulation::next_due_locked() const {
  Clock::TimePoint next = Clock::TimePoint::max();
  for (const auto& [key, due] : delayed_) next = std::min(next, due);
  return next;
}

void Simulation::take_due_locked() {
  const Clock::TimePoint now = clock_.now();
  std::erase_if(delayed_, [&](const auto& entry) {
    if (entry.second > now) return false;
    dirty_.insert(entry.first);
    return true;
  });
}

void Simulation::run(const std::stop_token& stop) noexcept {
  while (!stop.stop_requested()) {
    try {
      step(stop);
    } catch (...) {
      // Out of memory. The key is still in the queue or scheduled for a later sync.
    }
  }
}

void Simulation::step(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  take_due_locked();
  if (dirty_.empty()) {
    clock_.wait_until(lock, changed_, next_due_locked(), stop, [this] { return !dirty_.empty(); });
    return;
  }
  const auto key = dirty_.extract(dirty_.begin());
  delayed_.erase(key.value());
  working_ = true;
  lock.unlock();
  const RetryAfter again = work_on(key.value());
  lock.lock();
  working_ = false;
  changed_.notify_all();
  if (again) delayed_[key.value()] = clock_.now() + *again;
}

RetryAfter Simulation::work_on(const Key& key) noexcept {
  try {
    const RetryAfter again = controllers_[key.controller]->sync(key.object);
    failures_.erase(key);
    return again;
  } catch (const ApiError& error) {
    logger_.debug("{}: {}", key.object.str(), error.what());
  } catch (const std::exception& error) {
    logger_.warning("{}: {}", key.object.str(), error.what());
  } catch (...) {
    logger_.warning("{}: not an exception", key.object.str());
  }
  return back_off(key);
}

RetryAfter Simulation::back_off(const Key& key) noexcept {
  try {
    const int failures = failures_[key]++;
    if (failures < kImmediateRetries) return std::chrono::nanoseconds{0};
    return kFirstBackoff * (1 << std::min(failures - kImmediateRetries, kMostDoublings));
  } catch (...) {
    return kFirstBackoff;
  }
}

}  // namespace kube::testkit::detail
