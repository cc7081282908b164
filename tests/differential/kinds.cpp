// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace kube::differential {

namespace {

Value labels(Dice& dice) {
  Value result = Value::object();
  if (dice.chance(80)) result["app"] = dice.text({"web", "db", "cache"});
  if (dice.chance(40)) result["tier"] = dice.text({"front", "back", ""});
  if (dice.chance(20)) result["example.com/rank"] = dice.text({"1", "2", "10"});
  return result;
}

Value data(Dice& dice, std::initializer_list<const char*> values) {
  Value result = Value::object();
  for (const char* key : {"a", "b", "c.txt"}) {
    if (dice.chance(60)) result[key] = dice.text(values);
  }
  return result;
}

Value config_map(Dice& dice) {
  Value object = Value::object();
  if (dice.chance(90)) object["data"] = data(dice, {"1", "2", "", "text\nwith lines", "\u00fc"});
  if (dice.chance(10)) object["binaryData"] = Value::object({{"bin", "AAEC"}});
  if (dice.chance(4)) object["immutable"] = dice.chance(50);
  return object;
}

Value secret(Dice& dice) {
  Value object = Value::object();
  if (dice.chance(80)) object["data"] = data(dice, {"MQ==", "Mg==", ""});
  if (dice.chance(30)) object["stringData"] = data(dice, {"plain", "x"});
  if (dice.chance(30)) object["type"] = dice.text({"Opaque", "example.com/kind"});
  return object;
}

Value container(Dice& dice, const std::string& name) {
  Value result = Value::object(
      {{"name", name}, {"image", dice.text({"nginx", "nginx:1.29", "a/b:latest", "x@sha256:00"})}});
  if (dice.chance(40)) {
    Value env = Value::array();
    for (const char* variable : {"A", "B"}) {
      if (dice.chance(60)) {
        env.push_back(Value::object({{"name", variable}, {"value", dice.text({"1", "2"})}}));
      }
    }
    if (dice.chance(20)) {
      env.push_back(Value::object(
          {{"name", "NODE"},
           {"valueFrom",
            Value::object({{"fieldRef", Value::object({{"fieldPath", "spec.nodeName"}})}})}}));
    }
    result["env"] = std::move(env);
  }
  if (dice.chance(40)) {
    Value ports = Value::array();
    ports.push_back(Value::object({{"containerPort", 80 + dice.below(3)}}));
    if (dice.chance(40)) {
      ports.push_back(Value::object(
          {{"containerPort", 9090}, {"name", "metrics"}, {"protocol", dice.text({"TCP", "UDP"})}}));
    }
    result["ports"] = std::move(ports);
  }
  if (dice.chance(30)) {
    Value resources = Value::object();
    resources["requests"] =
        Value::object({{"cpu", dice.text({"100m", "0.1", "1"})}, {"memory", "64Mi"}});
    if (dice.chance(50)) {
      resources["limits"] = Value::object(
          {{"cpu", dice.text({"1", "1000m", "2"})}, {"memory", dice.text({"64Mi", "128Mi"})}});
    }
    result["resources"] = std::move(resources);
  }
  if (dice.chance(15)) {
    result["livenessProbe"] = Value::object(
        {{"httpGet", Value::object({{"port", dice.chance(50) ? Value{80} : Value{"http"}}})}});
  }
  if (dice.chance(15)) result["command"] = Value::array({"sh", "-c", "true"});
  return result;
}

Value pod(Dice& dice) {
  Value object = Value::object({{"spec", pod_spec(dice)}});
  if (dice.chance(10)) object["spec"]["nodeName"] = "node-1";
  if (dice.chance(10)) object["status"] = Value::object({{"phase", "Running"}});
  return object;
}

/// Creates a selector and a matching template.
Value workload(Dice& dice) {
  const std::string app = dice.text({"web", "db"});
  Value spec = Value::object(
      {{"selector", Value::object({{"matchLabels", Value::object({{"app", app}})}})},
       {"template",
        Value::object({{"metadata", Value::object({{"labels", Value::object({{"app", app}})}})},
                       {"spec", pod_spec(dice)}})}});
  Value& pods = spec["template"]["spec"];
  pods.erase("restartPolicy");
  pods.erase("activeDeadlineSeconds");
  return spec;
}

Value deployment(Dice& dice) {
  Value spec = workload(dice);
  if (dice.chance(70)) spec["replicas"] = dice.below(4);
  if (dice.chance(15)) spec["paused"] = true;
  if (dice.chance(15)) spec["strategy"] = Value::object({{"type", "Recreate"}});
  if (dice.chance(15)) {
    spec["strategy"] =
        Value::object({{"rollingUpdate",
                        Value::object({{"maxSurge", dice.chance(50) ? Value{2} : Value{"50%"}}})}});
  }
  if (dice.chance(15)) spec["minReadySeconds"] = dice.below(10);
  return Value::object({{"spec", spec}});
}

Value replica_set(Dice& dice) {
  Value spec = workload(dice);
  if (dice.chance(70)) spec["replicas"] = dice.below(4);
  return Value::object({{"spec", spec}});
}

Value stateful_set(Dice& dice) {
  Value spec = workload(dice);
  spec["serviceName"] = "db";
  if (dice.chance(70)) spec["replicas"] = dice.below(4);
  return Value::object({{"spec", spec}});
}

Value daemon_set(Dice& dice) { return Value::object({{"spec", workload(dice)}}); }

Value job(Dice& dice) {
  Value pods = pod_spec(dice);
  pods["restartPolicy"] = dice.text({"Never", "OnFailure"});
  Value spec = Value::object({{"template", Value::object({{"spec", pods}})}});
  if (dice.chance(30)) spec["parallelism"] = 1 + dice.below(3);
  if (dice.chance(30)) spec["completions"] = 1 + dice.below(3);
  if (dice.chance(30)) spec["backoffLimit"] = dice.below(5);
  if (dice.chance(20)) spec["suspend"] = true;
  return Value::object({{"spec", spec}});
}

Value service(Dice& dice) {
  Value spec = Value::object();
  Value ports = Value::array();
  ports.push_back(Value::object({{"name", "http"}, {"port", 80}}));
  if (dice.chance(40)) {
    ports.push_back(Value::object({{"name", "dns"},
                                   {"port", 53},
                                   {"protocol", dice.text({"UDP", "TCP"})},
                                   {"targetPort", dice.chance(50) ? Value{5353} : Value{"dns"}}}));
  }
  spec["ports"] = std::move(ports);
  spec["selector"] = Value::object({{"app", dice.text({"web", "db"})}});
  if (dice.chance(15)) spec["clusterIP"] = "None";
  if (dice.chance(15)) spec["type"] = "ClusterIP";
  if (dice.chance(15)) spec["sessionAffinity"] = "ClientIP";
  if (dice.chance(10)) {
    spec = Value::object({{"type", "ExternalName"}, {"externalName", "db.example.com"}});
  }
  return Value::object({{"spec", spec}});
}

Value lease(Dice& dice) {
  Value spec = Value::object();
  if (dice.chance(80)) spec["holderIdentity"] = dice.text({"one", "two", ""});
  if (dice.chance(80)) spec["leaseDurationSeconds"] = 1 + dice.below(30);
  if (dice.chance(50)) spec["leaseTransitions"] = dice.below(3);
  if (dice.chance(50)) spec["renewTime"] = "2026-11-15T10:00:00.123456Z";
  return Value::object({{"spec", spec}});
}

Value namespace_(Dice&) { return Value::object(); }

Value node(Dice& dice) {
  Value spec = Value::object();
  if (dice.chance(50)) spec["podCIDR"] = "10.1.0.0/24";
  if (dice.chance(50)) spec["unschedulable"] = dice.chance(50);
  if (dice.chance(30)) {
    spec["taints"] = Value::array({Value::object(
        {{"key", "dedicated"}, {"effect", dice.text({"NoSchedule", "NoExecute"})}})});
  }
  Value object = Value::object({{"spec", spec}});
  if (dice.chance(40)) {
    object["status"] =
        Value::object({{"capacity", Value::object({{"cpu", "4"}, {"pods", "110"}})}});
  }
  return object;
}

Value service_account(Dice& dice) {
  Value object = Value::object();
  if (dice.chance(30)) object["automountServiceAccountToken"] = dice.chance(50);
  if (dice.chance(30))
    object["imagePullSecrets"] = Value::array({Value::object({{"name", "pull"}})});
  return object;
}

Value role(Dice& dice) {
  Value rules = Value::array();
  rules.push_back(Value::object({{"apiGroups", Value::array({""})},
                                 {"resources", Value::array({dice.text({"pods", "secrets"})})},
                                 {"verbs", Value::array({"get", dice.text({"list", "watch"})})}}));
  return Value::object({{"rules", rules}});
}

Value claim(Dice& dice) {
  return Value::object(
      {{"spec",
        Value::object(
            {{"accessModes", Value::array({"ReadWriteOnce"})},
             {"resources",
              Value::object({{"requests", Value::object({{"storage", dice.text({"1Gi", "1024Mi",
                                                                                "2G"})}})}})}})}});
}

Value budget(Dice& dice) {
  return Value::object(
      {{"spec",
        Value::object(
            {{"minAvailable", dice.chance(50) ? Value{1} : Value{"50%"}},
             {"selector", Value::object({{"matchLabels", Value::object({{"app", "web"}})}})}})}});
}

Value event(Dice& dice) {
  Value object = Value::object({{"involvedObject", Value::object({{"kind", "Pod"},
                                                                  {"name", dice.text({"a", "b"})},
                                                                  {"namespace", "NAMESPACE"}})},
                                {"reason", dice.text({"Started", "Killed"})},
                                {"message", "something happened"},
                                {"type", dice.text({"Normal", "Warning"})},
                                {"count", 1 + dice.below(3)},
                                {"source", Value::object({{"component", "tester"}})}});
  return object;
}

/// Creates an object of the custom resource below.
Value widget(Dice& dice) {
  Value spec = Value::object();
  if (dice.chance(80)) spec["size"] = dice.below(5);
  if (dice.chance(50)) spec["color"] = dice.text({"red", "green"});
  if (dice.chance(50)) spec["tags"] = Value::array({dice.text({"x", "y"}), "z"});
  if (dice.chance(50)) {
    spec["parts"] =
        Value::array({Value::object({{"name", dice.text({"p", "q"})}, {"weight", dice.below(9)}})});
  }
  if (dice.chance(30)) spec["free"] = Value::object({{"any", Value::array({1, "two"})}});
  if (dice.chance(30)) spec["limit"] = dice.chance(50) ? Value{3} : Value{"30%"};
  if (dice.chance(20)) spec["maybe"] = nullptr;
  Value object = Value::object({{"spec", spec}});
  if (dice.chance(20)) object["status"] = Value::object({{"seen", dice.below(3)}});
  return object;
}

/// Cluster-scoped and without subresources; unknown fields are preserved.
Value gadget(Dice& dice) {
  Value object = Value::object({{"content", data(dice, {"1", "2"})}});
  if (dice.chance(30)) object["status"] = Value::object({{"seen", dice.below(3)}});
  if (dice.chance(30)) object["list"] = Value::array({1, 2, dice.below(3)});
  return object;
}

constexpr std::array kKinds{
    Kind{"", "v1", "configmaps", "ConfigMap", true, false, false, config_map},
    Kind{"", "v1", "secrets", "Secret", true, false, false, secret},
    Kind{"", "v1", "pods", "Pod", true, true, false, pod},
    Kind{"", "v1", "services", "Service", true, true, false, service},
    Kind{"", "v1", "serviceaccounts", "ServiceAccount", true, false, false, service_account},
    Kind{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true, false, claim},
    Kind{"", "v1", "events", "Event", true, false, false, event},
    Kind{"", "v1", "namespaces", "Namespace", false, true, false, namespace_},
    Kind{"", "v1", "nodes", "Node", false, true, false, node},
    Kind{"apps", "v1", "deployments", "Deployment", true, true, true, deployment},
    Kind{"apps", "v1", "replicasets", "ReplicaSet", true, true, true, replica_set},
    Kind{"apps", "v1", "statefulsets", "StatefulSet", true, true, true, stateful_set},
    Kind{"apps", "v1", "daemonsets", "DaemonSet", true, true, false, daemon_set},
    Kind{"batch", "v1", "jobs", "Job", true, true, false, job},
    Kind{"coordination.k8s.io", "v1", "leases", "Lease", true, false, false, lease},
    Kind{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true, false, budget},
    Kind{"rbac.authorization.k8s.io", "v1", "roles", "Role", true, false, false, role},
    Kind{"differential.example.com", "v1", "widgets", "Widget", true, true, true, widget},
    Kind{"differential.example.com", "v1", "gadgets", "Gadget", false, false, false, gadget},
};

/// Collects all values of a document.
void places(Value& value, std::vector<Value*>& found) {
  found.push_back(&value);
  if (value.is_object()) {
    std::vector<std::string> names;
    for (const auto& [name, member] : std::as_const(value).as_object()) names.push_back(name.str());
    for (const std::string& name : names) places(value[name], found);
  }
}

}  // namespace

std::string Kind::api_version() const {
  return group.empty() ? std::string{version} : fmt::format("{}/{}", group, version);
}

std::string Kind::collection(std::string_view namespace_) const {
  const std::string root =
      group.empty() ? fmt::format("/api/{}", version) : fmt::format("/apis/{}/{}", group, version);
  return namespaced && !namespace_.empty()
             ? fmt::format("{}/namespaces/{}/{}", root, namespace_, plural)
             : fmt::format("{}/{}", root, plural);
}

std::span<const Kind> kinds() { return kKinds; }

std::vector<std::string> definitions() {
  return {R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"widgets.differential.example.com"},
"spec":{"group":"differential.example.com","scope":"Namespaced",
"names":{"plural":"widgets","singular":"widget","kind":"Widget","shortNames":["wd"]},
"versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.seen"}},
"selectableFields":[{"jsonPath":".spec.color"}],
"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],
"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{
"size":{"type":"integer","minimum":0,"maximum":100},
"color":{"type":"string","enum":["red","green","blue"],"default":"blue"},
"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","maxLength":10}},
"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"weight":{"type":"integer","default":1}}}},
"limit":{"x-kubernetes-int-or-string":true},
"maybe":{"type":"string","nullable":true},
"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
"status":{"type":"object","properties":{"seen":{"type":"integer"}}}}}}}]}})",
          R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"gadgets.differential.example.com"},
"spec":{"group":"differential.example.com","scope":"Cluster",
"names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},
"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"};
}

Value pod_spec(Dice& dice) {
  Value spec = Value::object();
  Value containers = Value::array();
  containers.push_back(container(dice, "main"));
  if (dice.chance(25)) containers.push_back(container(dice, "side"));
  spec["containers"] = std::move(containers);
  if (dice.chance(10)) spec["initContainers"] = Value::array({container(dice, "init")});
  if (dice.chance(20)) spec["restartPolicy"] = dice.text({"Always", "Never"});
  if (dice.chance(20)) spec["terminationGracePeriodSeconds"] = dice.below(60);
  if (dice.chance(15)) spec["nodeSelector"] = Value::object({{"disk", "ssd"}});
  if (dice.chance(15)) spec["serviceAccountName"] = "runner";
  if (dice.chance(15)) {
    spec["tolerations"] = Value::array(
        {Value::object({{"key", "dedicated"}, {"operator", "Exists"}, {"effect", "NoSchedule"}})});
  }
  if (dice.chance(25)) {
    Value volumes = Value::array();
    volumes.push_back(
        Value::object({{"name", "config"}, {"configMap", Value::object({{"name", "a"}})}}));
    if (dice.chance(50))
      volumes.push_back(Value::object({{"name", "scratch"}, {"emptyDir", Value::object()}}));
    spec["volumes"] = std::move(volumes);
  }
  if (dice.chance(10)) spec["activeDeadlineSeconds"] = 100;
  if (dice.chance(10)) spec["hostNetwork"] = false;
  return spec;
}

Value make_object(Dice& dice, const Kind& kind, std::string_view name) {
  Value object = kind.body(dice);
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  Value metadata = Value::object();
  if (!name.empty()) metadata["name"] = name;
  if (dice.chance(70)) metadata["labels"] = labels(dice);
  if (dice.chance(30)) {
    metadata["annotations"] = Value::object({{"example.com/note", dice.text({"one", "two"})}});
  }
  if (dice.chance(8)) metadata["finalizers"] = Value::array({"example.com/wait"});
  if (dice.chance(6)) {
    metadata["ownerReferences"] = Value::array(
        {Value::object({{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"name", "owner"},
                        {"uid", dice.text({"11111111-0000-4000-8000-000000000000",
                                           "22222222-0000-4000-8000-000000000000"})}})});
  }
  object["metadata"] = std::move(metadata);
  return object;
}

void spoil(Dice& dice, Value& document) {
  std::vector<Value*> found;
  places(document, found);
  Value& target = *found[dice.below(found.size())];
  if (target.is_object()) {
    std::vector<std::string> names;
    for (const auto& [name, member] : std::as_const(target).as_object())
      names.push_back(name.str());
    const std::string name = names.empty() ? "bogus" : names[dice.below(names.size())];
    switch (dice.below(6)) {
      case 0:
        target["bogus"] = 1;
        break;
      case 1:
        target.erase(name);
        break;
      case 2:
        target[name] = nullptr;
        break;
      case 3:
        target[name] = "text";
        break;
      case 4:
        target[name] = Value::array({1});
        break;
      default:
        target["bogus"] = Value::object({{"deep", "down"}});
        break;
    }
  } else if (target.kind() == Value::Kind::kInteger) {
    target = dice.pick({Value{-1}, Value{1000000}, Value{"5"}, Value{1.5}});
  } else {
    target = dice.pick({Value{""}, Value{7}, Value{true}, Value{"Not Valid!"}, Value{nullptr}});
  }
}

}  // namespace kube::differential
