// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/manager.hpp>

#include "manager_core.hpp"

#include <utility>

namespace kube {

Manager::Manager(Config config, ManagerOptions options)
    : core_(std::make_unique<detail::ManagerCore>(std::move(config), std::move(options))) {}
Manager::~Manager() = default;

const Client& Manager::client() const noexcept { return core_->client(); }
detail::CacheCore& Manager::cache() const noexcept { return core_->cache(); }

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

ControllerBuilder& ControllerBuilder::add_for(detail::SourcePlan plan) {
  if (plan_.kind) throw std::logic_error("a controller is for one kind; for_() was called twice");
  plan_.kind = plan.kind;
  if (draft_->name.empty()) draft_->name = plan.kind->names.kind;
  return add(std::move(plan));
}
ControllerBuilder::ControllerBuilder(detail::ManagerCore& manager, std::string name)
    : manager_(manager),
      plan_{.name = std::move(name)},
      draft_(manager.begin_controller(plan_.name)) {}
void ControllerBuilder::finish() {
  manager_.add_controller(std::move(plan_));
  draft_->finished = true;
}

}  // namespace kube
