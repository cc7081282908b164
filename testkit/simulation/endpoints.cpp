// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/api/discovery/v1.hpp>
#include <kube/api/labels.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/endpoint_groups.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

namespace {

using core::v1::Endpoints;
using core::v1::Pod;
using core::v1::Service;
using discovery::v1::EndpointSlice;

constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::string_view kManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr std::string_view kSliceController = "endpointslice-controller.k8s.io";
constexpr std::string_view kEndpointsManagedBy = "endpoints.kubernetes.io/managed-by";
constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
constexpr std::size_t kMostPerSlice = 100;

core::v1::ObjectReference reference_to(const Pod& pod) {
  core::v1::ObjectReference reference;
  reference.kind = "Pod";
  reference.namespace_ = pod.metadata.namespace_;
  reference.name = pod.metadata.name;
  reference.uid = pod.metadata.uid;
  return reference;
}

bool has_hostname(const Service& service, const Pod& pod) {
  return !pod.spec.hostname.empty() && pod.spec.subdomain == service.metadata.name;
}

discovery::v1::Endpoint endpoint_of(const Service& service, const Pod& pod) {
  discovery::v1::Endpoint endpoint;
  const bool serving = is_ready(pod);
  const bool terminating = is_deleting(pod);
  endpoint.addresses.push_back(pod.status.pod_ip);
  endpoint.conditions.ready = service.spec.publish_not_ready_addresses || (serving && !terminating);
  endpoint.conditions.serving = serving;
  endpoint.conditions.terminating = terminating;
  endpoint.node_name = pod.spec.node_name;
  endpoint.target_ref = reference_to(pod);
  if (has_hostname(service, pod)) endpoint.hostname = pod.spec.hostname;
  return endpoint;
}

core::v1::EndpointAddress address_of(const Service& service, const Pod& pod) {
  core::v1::EndpointAddress address;
  address.ip = pod.status.pod_ip;
  address.node_name = pod.spec.node_name;
  address.target_ref = reference_to(pod);
  if (has_hostname(service, pod)) address.hostname = pod.spec.hostname;
  return address;
}

Map<String> slice_labels(const Service& service) {
  Map<String> labels = service.metadata.labels;
  labels[kServiceName] = service.metadata.name;
  labels[kManagedBy] = kSliceController;
  if (service.spec.cluster_ip == "None") labels[kHeadless] = "";
  return labels;
}

/// Returns the desired slices for the groups, without names.
std::vector<EndpointSlice> wanted_slices(const Service& service,
                                         const std::vector<EndpointGroup>& groups) {
  std::vector<EndpointSlice> slices;
  const auto add = [&](const List<core::v1::EndpointPort>& ports) -> EndpointSlice& {
    EndpointSlice slice;
    slice.metadata.namespace_ = service.metadata.namespace_;
    slice.metadata.generate_name = service.metadata.name.str() + '-';
    slice.metadata.labels = slice_labels(service);
    slice.address_type = "IPv4";
    for (const auto& port : ports) {
      auto& one = slice.ports.emplace_back();
      one.name = port.name;
      one.port = port.port;
      one.protocol = port.protocol;
      one.app_protocol = port.app_protocol;
    }
    set_controller_reference(service, slice);
    slices.push_back(std::move(slice));
    return slices.back();
  };
  for (const EndpointGroup& group : groups) {
    EndpointSlice* slice = nullptr;
    for (const Ref<Pod>& pod : group.pods) {
      if (slice == nullptr || slice->endpoints.size() == kMostPerSlice) slice = &add(group.ports);
      slice->endpoints.push_back(endpoint_of(service, *pod));
    }
  }
  if (slices.empty()) add({});  // an empty slice marks a service without endpoints
  return slices;
}

bool same_content(const EndpointSlice& a, const EndpointSlice& b) {
  return a.endpoints == b.endpoints && a.ports == b.ports && a.metadata.labels == b.metadata.labels;
}

/// Maintains the EndpointSlices and the Endpoints of services that have a selector.
class EndpointsController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Service>(), ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<Service> service = object.as<Service>()) {
      if (!service->spec.selector.empty()) enqueue_object(*service, enqueue);
      return;
    }
    // All services of the namespace are enqueued, because the previous labels of the pod are
    // unknown.
    for (const Ref<Service>& service : cluster_.list<Service>(object.metadata_text("namespace"))) {
      if (!service->spec.selector.empty()) enqueue_object(*service, enqueue);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Service> service = cluster_.find<Service>(key.namespace_, key.name);
    if (!service) {
      // Slices have an owner and are garbage-collected; Endpoints have none.
      const Ref<Endpoints> left = cluster_.find<Endpoints>(key.namespace_, key.name);
      if (left) cluster_.remove(*left);
      return std::nullopt;
    }
    if (service->spec.selector.empty() || service->spec.type == "ExternalName" ||
        is_deleting(*service)) {
      return std::nullopt;
    }
    const auto selector = labels::Selector::from_valid_set(service->spec.selector);
    PodRefs pods = cluster_.list<Pod>(key.namespace_);
    std::erase_if(
        pods, [&](const Ref<Pod>& pod) { return !selector.matches(pod->metadata.labels); });
    const std::vector<EndpointGroup> groups = group_by_ports(*service, pods);
    write_slices(*service, groups);
    write_endpoints(*service, groups);
    return std::nullopt;
  }

 private:
  void write_slices(const Service& service,
                    const std::vector<EndpointGroup>& groups) {
    std::vector<Ref<EndpointSlice>> existing = owned_by<EndpointSlice>(cluster_, service);
    std::erase_if(existing, [](const Ref<EndpointSlice>& slice) {
      const String* manager = slice->metadata.labels.find(kManagedBy);
      return is_deleting(*slice) || manager == nullptr || *manager != kSliceController;
    });
    std::size_t used = 0;
    for (const EndpointSlice& wanted : wanted_slices(service, groups)) {
      if (used == existing.size()) {
        cluster_.create(wanted);
        continue;
      }
      const EndpointSlice& current = *existing[used++];
      if (same_content(current, wanted)) continue;
      EndpointSlice changed = current;
      changed.metadata.labels = wanted.metadata.labels;
      changed.endpoints = wanted.endpoints;
      changed.ports = wanted.ports;
      cluster_.update(changed);
    }
    for (; used < existing.size(); ++used) cluster_.remove(*existing[used]);
  }

  void write_endpoints(const Service& service,
                       const std::vector<EndpointGroup>& groups) {
    Endpoints wanted;
    wanted.metadata.namespace_ = service.metadata.namespace_;
    wanted.metadata.name = service.metadata.name;
    wanted.metadata.labels = service.metadata.labels;
    wanted.metadata.labels[kEndpointsManagedBy] = "endpoint-controller";
    if (service.spec.cluster_ip == "None") wanted.metadata.labels[kHeadless] = "";
    for (const EndpointGroup& group : groups) {
      core::v1::EndpointSubset subset;
      subset.ports = group.ports;
      for (const Ref<Pod>& pod : group.pods) {
        const bool published = service.spec.publish_not_ready_addresses;
        if (is_deleting(*pod) && !published) continue;
        auto& list = is_ready(*pod) || published ? subset.addresses : subset.not_ready_addresses;
        list.push_back(address_of(service, *pod));
      }
      if (!subset.addresses.empty() || !subset.not_ready_addresses.empty()) {
        wanted.subsets.push_back(std::move(subset));
      }
    }
    const Ref<Endpoints> current =
        cluster_.find<Endpoints>(service.metadata.namespace_.view(), service.metadata.name.view());
    if (!current) {
      cluster_.create(wanted);
    } else if (current->subsets != wanted.subsets ||
               current->metadata.labels != wanted.metadata.labels) {
      Endpoints changed = *current;
      changed.subsets = wanted.subsets;
      changed.metadata.labels = wanted.metadata.labels;
      cluster_.update(changed);
    }
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_endpoints_controller(ClusterAccess cluster) {
  return std::make_unique<EndpointsController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
