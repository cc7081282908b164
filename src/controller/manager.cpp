// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/manager.hpp>

#include "manager_core.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

namespace kube {

Manager::Manager(Config config, ManagerOptions options)
    : core_(std::make_unique<detail::ManagerCore>(std::move(config), std::move(options))) {}
Manager::~Manager() = default;

const Client& Manager::client() const noexcept { return core_->client(); }
detail::CacheCore& Manager::cache() const noexcept { return core_->cache(); }

void Manager::add_index(const detail::WatchedKind& kind, const std::string& field,
                        std::function<std::vector<std::string>(const void* object)> values) {
  cache().add_index(kind, field, std::move(values));
}
ControllerBuilder Manager::controller(std::string name) {
  return detail::Inside::make<ControllerBuilder>(*core_, std::move(name));
}

void Manager::add(std::function<void(std::stop_token)> runnable, RunnableOptions options) {
  core_->add(std::move(runnable), options.name.empty() ? "a runnable" : options.name,
             options.needs_leader_election);
}
void Manager::add_healthz_check(std::string name, HealthCheck check) {
  core_->add_check(core_->healthz(), std::move(name), std::move(check));
}
void Manager::add_readyz_check(std::string name, HealthCheck check) {
  core_->add_check(core_->readyz(), std::move(name), std::move(check));
}
HealthCheck Manager::leader_election_check(Clock::Duration tolerance) const {
  return core_->leader_election_check(tolerance);
}
void Manager::add_metrics_path(std::string path, std::function<HttpReply()> answer) {
  core_->add_metrics_path(std::move(path), std::move(answer));
}
void Manager::run(std::stop_token stop) { core_->run(std::move(stop)); }
const DoneSignal& Manager::elected() const noexcept { return core_->elected(); }
std::shared_ptr<EventRecorder> Manager::event_recorder(const std::string& component) {
  return core_->event_recorder(component);
}
const std::shared_ptr<Metrics>& Manager::metrics() const noexcept {
  return core_->options().metrics;
}
Clock& Manager::clock() const noexcept { return *core_->options().clock; }
const Logger& Manager::log() const noexcept { return *core_->options().log; }
std::string Manager::metrics_address() const { return core_->metrics_address(); }
std::string Manager::health_address() const { return core_->health_address(); }

ControllerBuilder::ControllerBuilder(detail::ManagerCore& manager, std::string name)
    : draft_(manager.begin_controller(std::move(name))) {}
ControllerBuilder::ControllerBuilder(ControllerBuilder&& other) noexcept = default;
ControllerBuilder::~ControllerBuilder() {
  // An exception in flight, or one that reconcile() has thrown, is more informative.
  if (draft_ == nullptr || draft_->asked || std::uncaught_exceptions() > 0) return;
  if (detail::ManagerCore* manager = draft_->manager) manager->drop_controller(*draft_);
}

ControllerBuilder& ControllerBuilder::add(detail::SourcePlan plan) {
  draft_->plan.sources.push_back(std::move(plan));
  return *this;
}
ControllerBuilder& ControllerBuilder::add_for(detail::SourcePlan plan) {
  detail::ControllerPlan& all = draft_->plan;
  if (all.kind) throw std::logic_error("a controller is for one kind; for_() was called twice");
  all.kind = plan.kind;
  if (draft_->name.empty()) draft_->name = plan.kind->names.kind;
  return add(std::move(plan));
}
ControllerBuilder& ControllerBuilder::with_event_filter(Predicate<meta::v1::ObjectMeta> predicate) {
  draft_->plan.filters.push_back(std::move(predicate));
  return *this;
}
ControllerBuilder& ControllerBuilder::with_options(ControllerOptions options) {
  draft_->plan.options = std::move(options);
  return *this;
}
void ControllerBuilder::finish(
    std::function<Result(const Request& request, std::stop_token stop)> reconcile) {
  draft_->asked = true;
  detail::ManagerCore* manager = draft_->manager;
  if (manager == nullptr) {
    throw std::logic_error("controller " + draft_->name +
                           ": its manager was destroyed before reconcile() was called");
  }
  draft_->plan.reconcile = std::move(reconcile);
  manager->add_controller(std::move(draft_->plan));
  draft_->finished = true;
}

}  // namespace kube
