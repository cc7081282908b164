// SPDX-License-Identifier: Apache-2.0
#include "controller.hpp"

#include "common/rate_limiter.hpp"

#include <kube/api/owner_references.hpp>
#include <kube/base/error.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/controller/client_event_sink.hpp>

#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sample {
namespace {

using kube::ObjectKey;

kube::Counter outcome(const ControllerOptions& options, std::string result) {
  return kube::counter(options.metrics, "sample_controller_syncs_total",
                       "How often a Foo was looked at.", {{"result", std::move(result)}});
}

}  // namespace

Controller::Controller(kube::Client client, const kube::ResourceInformer<Deployment>& deployments,
                       const kube::ResourceInformer<Foo>& foos, const ControllerOptions& options)
    : client_(std::move(client)),
      deployment_informer_(deployments.informer()),
      foo_informer_(foos.informer()),
      deployments_(deployments.lister()),
      foos_(foos.lister()),
      log_(options.log.named("controller")),
      successes_(outcome(options, "success")),
      failures_(outcome(options, "error")),
      queue_({.name = "foos", .metrics = options.metrics, .clock = options.clock},
             rate_limiter<ObjectKey>(*options.clock)),
      recorder_(
          std::make_shared<kube::ClientEventSink<kube::core::v1::Event>>(client_),
          {.component = std::string{kAgentName}, .clock = options.clock, .log = options.log}) {
  foo_handler_ = foo_informer_.add_event_handler({
      .on_add = [this](const Foo& foo) { enqueue(foo); },
      .on_update = [this](const Foo& /*before*/, const Foo& now) { enqueue(now); },
  });
  deployment_handler_ = deployment_informer_.add_event_handler({
      .on_add = [this](const Deployment& deployment) { enqueue_owner(deployment); },
      .on_update =
          [this](const Deployment& before, const Deployment& now) {
            // A resync delivers unchanged objects.
            if (before.metadata.resource_version == now.metadata.resource_version) return;
            enqueue_owner(now);
          },
      .on_delete =
          [this](const kube::Deleted<Deployment>& gone) {
            if (gone.object) enqueue_owner(*gone.object);
          },
  });
}

Controller::~Controller() {
  // Handlers must not be called after the queue is destroyed.
  foo_informer_.remove_event_handler(foo_handler_, kube::Removal::kAtOnceAndWait);
  deployment_informer_.remove_event_handler(deployment_handler_, kube::Removal::kAtOnceAndWait);
}

void Controller::run(int workers, const std::stop_token& stop) {
  log_.info("waiting for the caches");
  if (!kube::wait_for({deployment_informer_.synced(), foo_informer_.synced()}, stop)) {
    throw kube::Error{"stopped before the caches were filled"};
  }
  log_.info("{} Foos, {} Deployments; starting {} workers", foo_informer_.indexer().size(),
            deployment_informer_.indexer().size(), workers);
  const std::stop_callback end{stop, [this] { queue_.shut_down(); }};
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(workers));
    for (int i = 0; i < workers; ++i) threads.emplace_back([&] { work(stop); });
  }
  log_.info("all workers have ended");
}

void Controller::enqueue_owner(const Deployment& deployment) {
  const auto* owner = kube::controller_of(deployment.metadata);
  if (owner == nullptr || owner->kind != Foo::kube_type.name) return;
  const auto foo =
      foos_.in_namespace(deployment.metadata.namespace_.view()).find(owner->name.view());
  if (foo) {
    enqueue(*foo);
  } else {
    log_.debug("Deployment {} belongs to Foo {}, which is gone", kube::key_of(deployment).str(),
               owner->name.view());
  }
}

void Controller::work(const std::stop_token& stop) {
  while (const auto key = queue_.get(stop)) process(*key, stop);
}

void Controller::process(const ObjectKey& key, const std::stop_token& stop) {
  struct Done {
    decltype(queue_)& queue;
    const ObjectKey& key;
    ~Done() { queue.done(key); }
  } const done{queue_, key};
  try {
    sync(key, stop);
    queue_.forget(key);
    successes_.add();
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return;
    failures_.add();
    queue_.add_rate_limited(key);
    log_.error("Foo {} failed ({} times now), will be tried again: {}", key.str(),
               queue_.num_requeues(key), error.what());
  }
}

void Controller::sync(const ObjectKey& key, const std::stop_token& stop) {
  const kube::Ref<Foo> foo = foos_.in_namespace(key.namespace_).find(key.name);
  if (!foo) {
    log_.debug("Foo {} is gone", key.str());
    return;
  }
  const std::string_view name = foo->spec.deployment_name.value_or("");
  if (name.empty()) {
    // A retry is useless until the Foo changes.
    log_.error("Foo {} names no Deployment", key.str());
    return;
  }

  const auto deployments = client_.apps().v1().deployments(key.namespace_);
  kube::Ref<Deployment> deployment = deployments_.in_namespace(key.namespace_).find(name);
  if (!deployment) {
    deployment = deployments.create(desired_deployment(*foo),
                                    {.field_manager = std::string{kAgentName}}, stop);
    log_.info("created Deployment {} for Foo {}", name, key.str());
  }
  if (!kube::is_controlled_by(*deployment, *foo)) {
    const std::string message = message_resource_exists(name);
    recorder_.record(*foo, "Warning", kReasonResourceExists, message);
    throw kube::Error{message};
  }
  if (foo->spec.replicas && foo->spec.replicas != deployment->spec.replicas) {
    log_.info("Foo {} wants {} replicas, its Deployment has {}", key.str(), *foo->spec.replicas,
              deployment->spec.replicas.value_or(1));
    deployment = deployments.update(desired_deployment(*foo),
                                    {.field_manager = std::string{kAgentName}}, stop);
  }
  write_status(*foo, *deployment, stop);
  recorder_.record(*foo, "Normal", kReasonSynced, kMessageSynced);
}

void Controller::write_status(const Foo& foo, const Deployment& deployment,
                              const std::stop_token& stop) {
  Foo mine = foo;  // cached objects are shared and immutable
  mine.status.available_replicas = deployment.status.available_replicas;
  client_.resource<Foo>(foo.metadata.namespace_.view())
      .update_status(mine, {.field_manager = std::string{kAgentName}}, stop);
}

}  // namespace sample
