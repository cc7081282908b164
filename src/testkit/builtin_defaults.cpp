// SPDX-License-Identifier: Apache-2.0
// What built-in kinds fill in by themselves.
#include "kind_rules.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "value_defaults.hpp"
#include "value_edit.hpp"

namespace kube::testkit::detail {

namespace {

/// Calls `change` for each object in a list.
void each(Value& object, const char* member, const std::function<void(Value&)>& change) {
  if (!std::as_const(object)[member].is_array()) return;
  for (Value& element : elements(object[member])) {
    if (element.is_object()) change(element);
  }
}

/// Changes a member that is an object.
void within(Value& object, const char* member, const std::function<void(Value&)>& change) {
  if (std::as_const(object)[member].is_object()) change(object[member]);
}

void default_probe(Value& probe) {
  fill(probe, "timeoutSeconds", 1);
  fill(probe, "periodSeconds", 10);
  fill(probe, "successThreshold", 1);
  fill(probe, "failureThreshold", 3);
  within(probe, "httpGet", [](Value& get) {
    fill(get, "path", "/");
    fill(get, "scheme", "HTTP");
  });
}

void default_container(Value& container) {
  fill(container, "terminationMessagePath", "/dev/termination-log");
  fill(container, "terminationMessagePolicy", "File");
  fill(container, "resources", Value::object());
  const Value& image = std::as_const(container)["image"];
  const std::string name{image.is_string() ? image.as_string() : std::string_view{}};
  const std::size_t colon =
      name.find(':', name.rfind('/') == std::string::npos ? 0 : name.rfind('/'));
  const bool latest = !name.empty() && name.find('@') == std::string::npos &&
                      (colon == std::string::npos || name.substr(colon + 1) == "latest");
  fill(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
  each(container, "ports", [](Value& port) { fill(port, "protocol", "TCP"); });
  each(container, "env", [](Value& variable) {
    within(variable, "valueFrom", [](Value& from) {
      within(from, "fieldRef", [](Value& field) { fill(field, "apiVersion", "v1"); });
    });
  });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    within(container, probe, default_probe);
  }
}

void default_pod_spec(Value& spec) {
  fill(spec, "restartPolicy", "Always");
  fill(spec, "terminationGracePeriodSeconds", 30);
  fill(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "securityContext", Value::object());
  fill(spec, "schedulerName", "default-scheduler");
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(spec, list, default_container);
  }
  each(spec, "volumes", [](Value& volume) {
    if (volume.size() == 1) volume["emptyDir"] = Value::object();
    for (const char* source : {"secret", "configMap", "downwardAPI", "projected"}) {
      within(volume, source, [](Value& files) { fill(files, "defaultMode", 420); });
    }
    within(volume, "hostPath", [](Value& path) { fill(path, "type", ""); });
  });
  // Two names for one thing.
  const Value alias = std::as_const(spec)["serviceAccount"];
  if (alias.is_string()) fill(spec, "serviceAccountName", alias);
  const Value account = std::as_const(spec)["serviceAccountName"];
  if (account.is_string()) spec["serviceAccount"] = account;
}

void default_template(Value& spec) {
  within(spec, "template", [](Value& shape) { within(shape, "spec", default_pod_spec); });
}

void default_job(Value& spec) {
  if (is_unset(std::as_const(spec)["completions"]) &&
      is_unset(std::as_const(spec)["parallelism"])) {
    spec["completions"] = 1;
  }
  fill(spec, "parallelism", 1);
  fill(spec, "backoffLimit", 6);
  fill(spec, "completionMode", "NonIndexed");
  fill(spec, "suspend", false);
  fill(spec, "manualSelector", false);
  fill(spec, "podReplacementPolicy", "TerminatingOrFailed");
  default_template(spec);
}

void default_rolling(Value& spec, const char* member, const char* first, Value first_value,
                     const char* second, Value second_value) {
  Value& strategy = part(spec, member);
  fill(strategy, "type", "RollingUpdate");
  if (!(std::as_const(strategy)["type"] == Value{"RollingUpdate"})) return;
  Value& rolling = part(strategy, "rollingUpdate");
  fill(rolling, first, std::move(first_value));
  if (second != nullptr) fill(rolling, second, std::move(second_value));
}

using Defaults = std::function<void(Value& object, Value& spec)>;

const std::map<std::string, Defaults, std::less<>>& defaults_with_spec() {
  static const std::map<std::string, Defaults, std::less<>> kAll{
      {"pods",
       [](Value& object, Value& spec) {
         default_pod_spec(spec);
         fill(spec, "enableServiceLinks", true);
         if (spec.get_integer("terminationGracePeriodSeconds").value_or(0) < 0) {
           spec["terminationGracePeriodSeconds"] = 1;
         }
         within(object, "status", [](Value& status) {
           const Value& address = std::as_const(status)["podIP"];
           if (address.is_string() && !address.as_string().empty()) {
             fill(status, "podIPs", Value::array({Value::object({{"ip", address}})}));
           }
         });
       }},
      {"podtemplates",
       [](Value& object, Value&) {
         within(object, "template", [](Value& shape) { within(shape, "spec", default_pod_spec); });
       }},
      {"replicationcontrollers",
       [](Value&, Value& spec) {
         fill(spec, "replicas", 1);
         default_template(spec);
         const Value& labels = std::as_const(spec)["template"]["metadata"]["labels"];
         if (!labels.is_absent()) fill(spec, "selector", labels);
       }},
      {"deployments.apps",
       [](Value&, Value& spec) {
         fill(spec, "replicas", 1);
         default_rolling(spec, "strategy", "maxUnavailable", "25%", "maxSurge", "25%");
         fill(spec, "revisionHistoryLimit", 10);
         fill(spec, "progressDeadlineSeconds", 600);
         default_template(spec);
       }},
      {"replicasets.apps",
       [](Value&, Value& spec) {
         fill(spec, "replicas", 1);
         default_template(spec);
       }},
      {"statefulsets.apps",
       [](Value&, Value& spec) {
         fill(spec, "replicas", 1);
         fill(spec, "podManagementPolicy", "OrderedReady");
         default_rolling(spec, "updateStrategy", "partition", 0, nullptr, {});
         fill(spec, "revisionHistoryLimit", 10);
         fill(spec, "persistentVolumeClaimRetentionPolicy",
              Value::object({{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}));
         default_template(spec);
       }},
      {"daemonsets.apps",
       [](Value& object, Value& spec) {
         default_rolling(spec, "updateStrategy", "maxUnavailable", 1, "maxSurge", 0);
         fill(part(part(object, "metadata"), "annotations"),
              "deprecated.daemonset.template.generation", "0");
         fill(spec, "revisionHistoryLimit", 10);
         default_template(spec);
       }},
      {"jobs.batch",
       [](Value& object, Value& spec) {
         default_job(spec);
         const Value& labels = std::as_const(spec)["template"]["metadata"]["labels"];
         if (labels.size() > 0 && std::as_const(object)["metadata"]["labels"].size() == 0) {
           part(object, "metadata")["labels"] = Value{labels};
         }
       }},
      {"cronjobs.batch",
       [](Value&, Value& spec) {
         fill(spec, "concurrencyPolicy", "Allow");
         fill(spec, "suspend", false);
         fill(spec, "successfulJobsHistoryLimit", 3);
         fill(spec, "failedJobsHistoryLimit", 1);
         within(spec, "jobTemplate", [](Value& shape) { within(shape, "spec", default_template); });
       }},
      {"services",
       [](Value&, Value& spec) {
         fill(spec, "type", "ClusterIP");
         fill(spec, "sessionAffinity", "None");
         if (std::as_const(spec)["sessionAffinity"] == Value{"ClientIP"}) {
           Value& limit = part(part(spec, "sessionAffinityConfig"), "clientIP");
           fill(limit, "timeoutSeconds", 10800);
         } else {
           spec.erase("sessionAffinityConfig");
         }
         if (!(std::as_const(spec)["type"] == Value{"ExternalName"}))
           fill(spec, "internalTrafficPolicy", "Cluster");
         const bool balanced = std::as_const(spec)["type"] == Value{"LoadBalancer"};
         if (balanced || std::as_const(spec)["type"] == Value{"NodePort"})
           fill(spec, "externalTrafficPolicy", "Cluster");
         if (balanced) fill(spec, "allocateLoadBalancerNodePorts", true);
         each(spec, "ports", [](Value& port) {
           fill(port, "protocol", "TCP");
           const Value target = std::as_const(port)["targetPort"];
           if (is_unset(target) || target == Value{0} || target == Value{""}) {
             port["targetPort"] = Value{std::as_const(port)["port"]};
           }
         });
       }},
      {"persistentvolumeclaims",
       [](Value&, Value& spec) { fill(spec, "volumeMode", "Filesystem"); }},
      {"persistentvolumes",
       [](Value&, Value& spec) {
         fill(spec, "persistentVolumeReclaimPolicy", "Retain");
         fill(spec, "volumeMode", "Filesystem");
       }},
      {"horizontalpodautoscalers.autoscaling",
       [](Value&, Value& spec) { fill(spec, "minReplicas", 1); }},
      {"networkpolicies.networking.k8s.io",
       [](Value&, Value& spec) {
         Value types = Value::array({"Ingress"});
         if (!is_unset(std::as_const(spec)["egress"])) types.push_back("Egress");
         fill(spec, "policyTypes", std::move(types));
       }},
      {"customresourcedefinitions.apiextensions.k8s.io",
       [](Value&, Value& spec) {
         fill(spec, "conversion", Value::object({{"strategy", "None"}}));
         Value& names = part(spec, "names");
         const Value& kind = std::as_const(names)["kind"];
         if (!kind.is_string()) return;
         const std::string name{kind.as_string()};
         if (name.empty()) return;
         fill(names, "listKind", name + "List");
         fill(names, "singular", kube::detail::lower_case(name));
       }},
      {"flowschemas.flowcontrol.apiserver.k8s.io",
       [](Value&, Value& spec) { fill(spec, "matchingPrecedence", 1000); }}};
  return kAll;
}

const std::map<std::string, std::function<void(Value&)>, std::less<>>& defaults_without_spec() {
  static const std::map<std::string, std::function<void(Value&)>, std::less<>> kAll{
      {"secrets", [](Value& object) { fill(object, "type", "Opaque"); }},
      {"namespaces",
       [](Value& object) {
         within(object, "status", [](Value& status) { fill(status, "phase", "Active"); });
         const Value& name = std::as_const(object)["metadata"]["name"];
         if (!is_unset(name)) {
           part(part(object, "metadata"), "labels")["kubernetes.io/metadata.name"] = Value{name};
         }
       }},
      {"nodes",
       [](Value& object) {
         within(object, "status", [](Value& status) {
           const Value& capacity = std::as_const(status)["capacity"];
           if (capacity.size() > 0) fill(status, "allocatable", capacity);
         });
         within(object, "spec", [](Value& spec) {
           const Value& range = std::as_const(spec)["podCIDR"];
           if (!is_unset(range)) fill(spec, "podCIDRs", Value::array({range}));
           const Value& ranges = std::as_const(spec)["podCIDRs"];
           if (ranges.size() > 0) fill(spec, "podCIDR", ranges[0]);
         });
       }},
      {"storageclasses.storage.k8s.io",
       [](Value& object) {
         fill(object, "reclaimPolicy", "Delete");
         fill(object, "volumeBindingMode", "Immediate");
       }},
      {"priorityclasses.scheduling.k8s.io",
       [](Value& object) { fill(object, "preemptionPolicy", "PreemptLowerPriority"); }}};
  return kAll;
}

}  // namespace

void apply_builtin_defaults(const Resource& resource, Value& object) {
  const std::string id = resource.id();
  if (const auto found = defaults_without_spec().find(id); found != defaults_without_spec().end()) {
    found->second(object);
  }
  const auto found = defaults_with_spec().find(id);
  if (found == defaults_with_spec().end()) return;
  if (std::as_const(object)["spec"].is_object()) {
    found->second(object, object["spec"]);
  } else if (id == "podtemplates") {
    Value none;
    found->second(object, none);
  }
}

}  // namespace kube::testkit::detail
