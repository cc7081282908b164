// SPDX-License-Identifier: Apache-2.0
#include "reconciler.hpp"

#include <kube/api/owner_references.hpp>
#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sample {

FooReconciler::FooReconciler(kube::Manager& manager)
    : manager_(manager), recorder_(manager.event_recorder(std::string{kAgentName})) {}

kube::Result FooReconciler::reconcile(const kube::Request& request,
                                      const std::stop_token& stop) const {
  const auto& space = request.key.namespace_;
  const auto foo = manager_.find<Foo>(request.key, stop);  // from the cache
  if (!foo) return kube::done();
  const std::string name{foo->spec.deployment_name.value_or("")};
  if (name.empty()) {
    throw kube::TerminalError{fmt::format("Foo {} names no Deployment", request.key.str())};
  }

  const auto deployments = manager_.client().apps().v1().deployments(space);
  const kube::CreateOptions as_us{.field_manager = std::string{kAgentName}};
  auto deployment = manager_.find<Deployment>({space, name}, stop);
  if (!deployment) deployment = deployments.create(desired_deployment(*foo), as_us, stop);
  if (!kube::is_controlled_by(*deployment, *foo)) {
    recorder_->record(*foo, "Warning", kReasonResourceExists, message_resource_exists(name));
    throw kube::Error{message_resource_exists(name)};
  }
  if (foo->spec.replicas && foo->spec.replicas != deployment->spec.replicas) {
    deployment = deployments.update(desired_deployment(*foo), as_us, stop);
  }

  Foo mine = *foo;  // cached objects are shared and immutable
  mine.status.available_replicas = deployment->status.available_replicas;
  manager_.client().resource<Foo>(space).update_status(mine, as_us, stop);
  recorder_->record(*foo, "Normal", kReasonSynced, kMessageSynced);
  return kube::done();
}

}  // namespace sample
