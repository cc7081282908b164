// SPDX-License-Identifier: Apache-2.0
#include "pipeline.hpp"

#include <kube/api/conditions.hpp>
#include <kube/api/owner_references.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace demo {
namespace {

using namespace std::chrono_literals;
using What = kube::ReflectorEvent::Kind;

// One line about an object. An update is worth a line if the texts before and after differ.
std::string describe(const Foo& foo) {
  return fmt::format("Foo {}: {} of {} available", foo.metadata.name.view(),
                     foo.status.available_replicas.value_or(0),
                     foo.spec.replicas ? fmt::to_string(*foo.spec.replicas) : "any number");
}
std::string describe(const Deployment& deployment) {
  return fmt::format("Deployment {}: {} of {} ready", deployment.metadata.name.view(),
                     deployment.status.ready_replicas, deployment.spec.replicas.value_or(1));
}
std::string describe(const Pod& pod) {
  return fmt::format("Pod {}: {}{}", pod.metadata.name.view(),
                     pod.status.phase.empty() ? "new" : pod.status.phase.view(),
                     pod.metadata.deletion_timestamp ? ", to be deleted" : "");
}

template <typename T>
kube::SharedIndexInformer<T> informer_in(const kube::SharedInformerFactory& kubernetes,
                                         const kube::SharedInformerFactory& samples) {
  return (std::same_as<T, Foo> ? samples : kubernetes).template informer<T>();
}

/// Returns the kind in the name of an informer, such as "apps/v1 Deployment".
std::string_view kind_of(std::string_view informer) {
  for (const std::string_view kind : {"Deployment", "Pod", "Foo"}) {
    if (informer.find(kind) != std::string_view::npos) return kind;
  }
  return informer;
}

char mark_of(const Pod& pod) {
  if (pod.metadata.deletion_timestamp) return 'x';
  return kube::is_condition_true(pod.status.conditions, "Ready") ? '#' : 'o';
}

}  // namespace

Pipeline::Pipeline(const kube::Config& config, std::string space, Journal& journal)
    : namespace_(std::move(space)),
      journal_(journal),
      client_(config, {.log = journal.logger()}),
      kube_factory_(client_, factory_options("kubernetes")),
      sample_factory_(client_, factory_options("samples")),
      controller_(client_, kube_factory_.apps().v1().deployments(), sample_factory_.resource<Foo>(),
                  {.log = journal.logger(), .metrics = metrics_}) {
  follow<Foo>();
  follow<Deployment>();
  follow<Pod>();
}

kube::FactoryOptions Pipeline::factory_options(std::string name) {
  return {.resync = 30s,
          .namespace_ = namespace_,
          .metrics = metrics_,
          .name = std::move(name),
          .on_state = [this](std::string_view informer, const kube::ReflectorEvent& event) {
            on_state(informer, event);
          }};
}

template <typename T>
void Pipeline::follow() {
  informer_in<T>(kube_factory_, sample_factory_)
      .add_event_handler({
          .on_add = [this](const T& now) { journal_.add(Journal::Kind::kObject, describe(now)); },
          .on_update =
              [this](const T& before, const T& now) {
                std::string text = describe(now);
                if (text != describe(before)) {
                  journal_.add(Journal::Kind::kObject, std::move(text));
                }
              },
          .on_delete =
              [this](const kube::Deleted<T>& gone) {
                journal_.add(Journal::Kind::kObject,
                             fmt::format("{} {}: gone", T::kube_type.name, gone.key.name));
              },
      });
}

void Pipeline::run(const std::stop_token& stop) {
  kube_factory_.start(stop);
  sample_factory_.start(stop);
  controller_.run(kWorkers, stop);
}

void Pipeline::on_state(std::string_view informer, const kube::ReflectorEvent& event) {
  const std::string_view kind = kind_of(informer);
  std::string note;
  {
    const std::lock_guard guard{mutex_};
    Reflector& reflector = reflectors_[std::string{kind}];
    switch (event.kind) {
      case What::kListing:
      case What::kStreamingState:
        ++(event.kind == What::kListing ? reflector.lists : reflector.watches);
        reflector.state = event.kind == What::kListing ? "listing" : "streaming";
        reflector.healthy = true;
        break;
      case What::kListed:
      case What::kStateStreamed:
        note = fmt::format("{} objects as of version {}", event.items, event.resource_version);
        reflector.state = event.kind == What::kListed ? "listed" : "watching";
        break;
      case What::kWatching:
        ++reflector.watches;
        reflector.state = "watching";
        reflector.healthy = true;
        break;
      case What::kBackingOff:
        reflector.state = fmt::format(
            "waits {} ms",
            std::chrono::duration_cast<std::chrono::milliseconds>(event.duration).count());
        reflector.healthy = false;
        break;
      case What::kStopped:
        reflector.state = "stopped";
        break;
      default:
        note = fmt::format("{}{}{}", to_string(event.kind), event.message.empty() ? "" : ": ",
                           event.message);
        reflector.state = to_string(event.kind);
        reflector.healthy = false;
    }
  }
  if (!note.empty()) {
    journal_.add(Journal::Kind::kInformer, fmt::format("informer of {}s: {}", kind, note));
  }
}

template <typename T>
InformerStatus Pipeline::status_of() const {
  auto informer = informer_in<T>(kube_factory_, sample_factory_);
  const auto snapshot = informer.indexer().snapshot();
  InformerStatus status{.resource = std::string{T::kube_resource.plural},
                        .version = informer.last_sync_resource_version(),
                        .objects = snapshot.size(),
                        .bytes = snapshot.overhead_bytes(),
                        .backlog = informer.backlog()};
  for (const kube::Ref<T>& object : snapshot.list()) {
    status.bytes += kube::bytes_of(object).own;
  }
  const std::lock_guard guard{mutex_};
  if (const auto found = reflectors_.find(T::kube_type.name); found != reflectors_.end()) {
    const Reflector& reflector = found->second;
    status.state = reflector.state;
    status.healthy = reflector.healthy;
    status.lists = reflector.lists;
    status.watches = reflector.watches;
  }
  return status;
}

std::vector<InformerStatus> Pipeline::informers() const {
  return {status_of<Foo>(), status_of<Deployment>(), status_of<Pod>()};
}

bool Pipeline::watching() const {
  const auto all = informers();
  return std::all_of(all.begin(), all.end(),
                     [](const auto& one) { return one.state == "watching"; });
}

ControllerStatus Pipeline::controller() {
  const auto counted = [&](std::string_view name, kube::MetricLabels labels) {
    return metrics_->counter(name, "", std::move(labels)).value();
  };
  return {.queued = controller_.queue_depth(),
          .added = counted("workqueue_adds_total", {{"name", "foos"}}),
          .retried = counted("workqueue_retries_total", {{"name", "foos"}}),
          .succeeded = counted("sample_controller_syncs_total", {{"result", "success"}}),
          .failed = counted("sample_controller_syncs_total", {{"result", "error"}})};
}

std::vector<FooRow> Pipeline::foos() const {
  const auto deployments = kube_factory_.lister<Deployment>().in_namespace(namespace_);
  const auto pods = kube_factory_.lister<Pod>().in_namespace(namespace_).list();
  std::vector<FooRow> rows;
  for (const auto& foo : sample_factory_.lister<Foo>().in_namespace(namespace_).list()) {
    FooRow row{.name = foo->metadata.name.str(),
               .wanted = foo->spec.replicas,
               .available = foo->status.available_replicas};
    if (const auto deployment = deployments.find(foo->spec.deployment_name.value_or(""))) {
      row.has_deployment = true;
      row.owned = kube::is_controlled_by(*deployment, *foo);
      row.replicas = deployment->spec.replicas.value_or(1);
      row.ready = deployment->status.ready_replicas;
    }
    for (const auto& pod : pods) {
      const kube::String* controller = pod->metadata.labels.find("controller");
      if (controller != nullptr && *controller == row.name) row.pods += mark_of(*pod);
    }
    std::sort(row.pods.begin(), row.pods.end());
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const FooRow& a, const FooRow& b) { return a.name < b.name; });
  return rows;
}

}  // namespace demo
