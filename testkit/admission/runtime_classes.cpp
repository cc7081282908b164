// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/runtime_classes.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "testkit/admission/admission.hpp"
#include "testkit/admission/pod_resources.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

/// Returns the class of a pod; null if it names none. Throws ApiError 403 if the class does not
/// exist.
Ref<Value> class_of(Services& services, const Resource& resource, const Value& pod) {
  const Value& name = pod["spec"]["runtimeClassName"];
  if (!name.is_string()) return {};
  const StoredObject found = services.store.get(
      services.store.collection({"node.k8s.io", "runtimeclasses"}), name.as_string());
  if (!found) {
    throw not_admitted(
        resource, pod,
        fmt::format("pod rejected: RuntimeClass \"{}\" not found", name.as_string()));
  }
  return found.value();
}

void merge_node_selector(const Resource& resource, Value& pod, const Value& selector) {
  if (selector.size() == 0) return;
  for (const auto& [key, value] : selector.as_object()) {
    const Value& own = std::as_const(pod)["spec"]["nodeSelector"][key];
    if (!own.is_absent() && own != value) {
      throw not_admitted(
          resource, pod,
          fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; "
                      "pod.spec.nodeSelector[{0}] = {2}",
                      key.view(), value.as_string(), own.is_string() ? own.as_string() : ""));
    }
    part(pod["spec"], "nodeSelector")[key.view()] = value;
  }
}

}  // namespace

void apply_runtime_class(Services& services, const Resource& resource, Value& pod) {
  const Ref<Value> runtime = class_of(services, resource, pod);
  if (!runtime) return;
  const Value& overhead = (*runtime)["overhead"]["podFixed"];
  if (overhead.size() > 0) {
    const Value& own = std::as_const(pod)["spec"]["overhead"];
    if (own.size() > 0 && amounts_of(own) != amounts_of(overhead)) {
      throw not_admitted(
          resource, pod,
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    pod["spec"]["overhead"] = overhead;
  }
  merge_node_selector(resource, pod, (*runtime)["scheduling"]["nodeSelector"]);
  for (const Value& toleration : runtime->get_array("scheduling.tolerations")) {
    if (!contains(std::as_const(pod)["spec"]["tolerations"], toleration)) {
      pod["spec"]["tolerations"].push_back(toleration);
    }
  }
}

void check_overhead(Services& services, const Resource& resource, const Value& pod) {
  if (!pod["spec"]["overhead"].is_object()) return;
  const Ref<Value> runtime = class_of(services, resource, pod);
  if (runtime && (*runtime)["overhead"].is_object()) return;
  throw not_allowed(
      resource, pod,
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

}  // namespace kube::testkit::detail
