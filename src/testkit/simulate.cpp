// SPDX-License-Identifier: Apache-2.0
#include "simulate.hpp"

#include <kube/api/errors.hpp>
#include <kube/api/time.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "value_edit.hpp"

namespace kube::testkit::detail {
namespace {

const GroupResource kDeployments{"apps", "deployments"};
const GroupResource kReplicaSets{"apps", "replicasets"};
const GroupResource kPods{"", "pods"};
const GroupResource kQuotas{"", "resourcequotas"};
constexpr std::string_view kNode = "kubecxx-node";
constexpr std::string_view kHashLabel = "pod-template-hash";
constexpr std::string_view kMergePatch = "application/merge-patch+json";

std::string_view text_at(const Value& object, std::string_view path) {
  return object.get_string(path).value_or("");
}

bool is_deleted(const Value& object) {
  return object.get_string("metadata.deletionTimestamp").has_value();
}

bool is_ready(const Value& pod) { return text_at(pod, "status.phase") == "Running"; }

const Value* controller_of(const Value& object) {
  for (const Value& owner : object.get_array("metadata.ownerReferences")) {
    if (owner.get_bool("controller").value_or(false)) return &owner;
  }
  return nullptr;
}

Value owner_reference(std::string_view kind, const Value& owner) {
  return Value::array({Value::object({{"apiVersion", "apps/v1"},
                                      {"kind", kind},
                                      {"name", owner["metadata"]["name"]},
                                      {"uid", owner["metadata"]["uid"]},
                                      {"controller", true},
                                      {"blockOwnerDeletion", true}})});
}

/// Ten characters that change with the template, in the alphabet of generated names.
std::string template_hash(const Value& pod_template) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::size_t hash = std::hash<std::string>{}(encode_json(pod_template));
  std::string text;
  for (int i = 0; i < 10; ++i, hash /= kAlphabet.size()) text += kAlphabet[hash % kAlphabet.size()];
  return text;
}

std::string target_of(std::string_view prefix, const Value& object, std::string_view resource,
                      std::string_view rest = "") {
  return fmt::format("{}/namespaces/{}/{}/{}{}", prefix, text_at(object, "metadata.namespace"),
                     resource, text_at(object, "metadata.name"), rest);
}

Value condition(std::string_view type, std::string_view reason, const std::string& now) {
  return Value::object({{"type", type},
                        {"status", "True"},
                        {"reason", reason},
                        {"lastTransitionTime", now},
                        {"lastUpdateTime", now}});
}

}  // namespace

Simulation::Simulation(Engine& engine, Clock& clock, const Logger& logger)
    : engine_(engine), clock_(clock), logger_(logger.named("simulation")) {
  engine_.seed(Value::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Value::object({{"name", kNode}})},
       {"status", Value::object({{"conditions", Value::array({Value::object(
                                                    {{"type", "Ready"}, {"status", "True"}})})},
                                 {"nodeInfo", Value::object({{"kubeletVersion", "v1.36.4"}})}})}}));
  for (const Kind kind : {Kind::kDeployment, Kind::kReplicaSet, Kind::kPod}) watch(kind);
  // There may be room for pods that were refused.
  subscriptions_.push_back(engine_.on_change(kQuotas, [this](const Change& change) {
    for (const Ref<Value>& set : engine_.list(kReplicaSets, change.namespace_)) {
      enqueue({Kind::kReplicaSet, std::string{change.namespace_},
               std::string{text_at(*set, "metadata.name")}});
    }
  }));
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

Simulation::~Simulation() {
  subscriptions_.clear();
  thread_.request_stop();
}

void Simulation::watch(Kind kind) {
  const GroupResource& resource = kind == Kind::kDeployment   ? kDeployments
                                  : kind == Kind::kReplicaSet ? kReplicaSets
                                                              : kPods;
  subscriptions_.push_back(engine_.on_change(resource, [this, kind](const Change& change) {
    enqueue({kind, std::string{change.namespace_}, std::string{change.name}});
    if (kind == Kind::kDeployment) return;
    const Ref<Value> object = decode_json<Value>(change.json());
    if (kind == Kind::kPod) {
      enqueue_owner(*object, "ReplicaSet", Kind::kReplicaSet);
    } else {
      enqueue_owner(*object, "Deployment", Kind::kDeployment);
    }
  }));
  for (const Ref<Value>& object : engine_.list(resource)) {
    enqueue({kind, std::string{text_at(*object, "metadata.namespace")},
             std::string{text_at(*object, "metadata.name")}});
  }
}

void Simulation::enqueue(Key key) {
  const std::lock_guard guard{mutex_};
  dirty_.insert(std::move(key));
  changed_.notify_all();
}

void Simulation::enqueue_owner(const Value& object, std::string_view owner_kind, Kind kind) {
  const Value* owner = controller_of(object);
  if (owner == nullptr || text_at(*owner, "kind") != owner_kind) return;
  enqueue({kind, std::string{text_at(object, "metadata.namespace")},
           std::string{text_at(*owner, "name")}});
}

bool Simulation::settle(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [this] { return dirty_.empty() && !working_; });
}

void Simulation::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (changed_.wait(lock, stop, [this] { return !dirty_.empty(); }) && !stop.stop_requested()) {
    const Key key = dirty_.extract(dirty_.begin()).value();
    working_ = true;
    lock.unlock();
    work_on(key);
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

void Simulation::work_on(const Key& key) {
  try {
    switch (key.kind) {
      case Kind::kDeployment:
        return sync_deployment(key);
      case Kind::kReplicaSet:
        return sync_replica_set(key);
      case Kind::kPod:
        return sync_pod(key);
    }
  } catch (const ApiError& error) {
    // Somebody was faster; what they wrote comes as a change, and is looked at again.
    logger_.debug("{}/{}: {}", key.namespace_, key.name, error.what());
  } catch (const std::exception& error) {
    logger_.warning("{}/{}: {}", key.namespace_, key.name, error.what());
  } catch (...) {
    logger_.warning("{}/{}: not an exception", key.namespace_, key.name);
  }
}

std::vector<Ref<Value>> Simulation::owned(const GroupResource& resource, const Value& owner) const {
  std::vector<Ref<Value>> all = engine_.list(resource, text_at(owner, "metadata.namespace"));
  std::erase_if(all, [&](const Ref<Value>& object) {
    const Value* controller = controller_of(*object);
    return controller == nullptr || text_at(*controller, "uid") != text_at(owner, "metadata.uid");
  });
  return all;
}

std::string Simulation::now_text() const { return Time{clock_.wall_now()}.str(); }

void Simulation::set_status(const std::string& target, const Value& object, const Value& status) {
  // Unchanged but for the times in it: not written, or the change would bring us here again for ever.
  for (const auto& [key, value] : status.as_object()) {
    if (std::string_view{key} != "conditions" && object["status"][std::string_view{key}] != value) {
      engine_.request("PATCH", target, Value::object({{"status", status}}), kMergePatch);
      return;
    }
  }
}

void Simulation::sync_deployment(const Key& key) {
  const Ref<Value> found = engine_.find(kDeployments, key.namespace_, key.name);
  if (!found || is_deleted(*found)) return;
  const Value& deployment = *found;
  const Value& pod_template = deployment["spec"]["template"];
  const std::int64_t replicas = deployment.get_integer("spec.replicas").value_or(1);
  const std::string hash = template_hash(pod_template);

  bool current_exists = false;
  std::int64_t total = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  for (const Ref<Value>& set : owned(kReplicaSets, deployment)) {
    const bool current = (*set)["metadata"]["labels"][kHashLabel] == Value{hash};
    current_exists |= current;
    const std::int64_t wanted = current ? replicas : 0;
    if (set->get_integer("spec.replicas").value_or(1) != wanted) {
      engine_.request("PATCH", target_of("/apis/apps/v1", *set, "replicasets"),
                      Value::object({{"spec", Value::object({{"replicas", wanted}})}}),
                      kMergePatch);
    }
    total += set->get_integer("status.replicas").value_or(0);
    ready += set->get_integer("status.readyReplicas").value_or(0);
    if (current) updated = set->get_integer("status.replicas").value_or(0);
  }
  if (!current_exists) {
    Value pods = pod_template;
    pods["metadata"]["labels"][kHashLabel] = hash;
    Value selector = deployment["spec"]["selector"];
    selector["matchLabels"][kHashLabel] = hash;
    engine_.request(
        "POST", fmt::format("/apis/apps/v1/namespaces/{}/replicasets", key.namespace_),
        Value::object(
            {{"apiVersion", "apps/v1"},
             {"kind", "ReplicaSet"},
             {"metadata",
              Value::object({{"name", key.name + '-' + hash},
                             {"labels", pods["metadata"]["labels"]},
                             {"ownerReferences", owner_reference("Deployment", deployment)}})},
             {"spec", Value::object(
                          {{"replicas", replicas}, {"selector", selector}, {"template", pods}})}}));
  }
  const std::string now = now_text();
  set_status(
      target_of("/apis/apps/v1", deployment, "deployments", "/status"), deployment,
      Value::object({{"observedGeneration", deployment["metadata"]["generation"]},
                     {"replicas", total},
                     {"updatedReplicas", updated},
                     {"readyReplicas", ready},
                     {"availableReplicas", ready},
                     {"conditions",
                      ready >= replicas
                          ? Value::array({condition("Available", "MinimumReplicasAvailable", now),
                                          condition("Progressing", "NewReplicaSetAvailable", now)})
                          : Value::array({condition("Progressing", "ReplicaSetUpdated", now)})}}));
}

void Simulation::sync_replica_set(const Key& key) {
  const Ref<Value> set = engine_.find(kReplicaSets, key.namespace_, key.name);
  if (!set || is_deleted(*set)) return;
  const std::int64_t wanted = set->get_integer("spec.replicas").value_or(1);
  std::vector<Ref<Value>> pods = owned(kPods, *set);
  std::erase_if(pods, [](const Ref<Value>& pod) { return is_deleted(*pod); });

  Value conditions = Value::array();
  for (auto have = static_cast<std::int64_t>(pods.size()); have < wanted; ++have) {
    Value pod = (*set)["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["generateName"] = key.name + '-';
    pod["metadata"]["ownerReferences"] = owner_reference("ReplicaSet", *set);
    try {
      engine_.request("POST", fmt::format("/api/v1/namespaces/{}/pods", key.namespace_), pod);
    } catch (const ApiError& error) {
      if (!is_forbidden(error) && !is_invalid(error)) throw;
      conditions.push_back(condition("ReplicaFailure", "FailedCreate", now_text()));
      elements(conditions).back()["message"] = error.status().message.view();
      break;
    }
  }
  // Those that do not run yet go first, as with the real controller.
  std::stable_partition(pods.begin(), pods.end(),
                        [](const Ref<Value>& pod) { return !is_ready(*pod); });
  for (std::size_t i = 0;
       static_cast<std::int64_t>(pods.size() - i) > std::max<std::int64_t>(wanted, 0); ++i) {
    engine_.request("DELETE", target_of("/api/v1", *pods[i], "pods"));
  }
  const std::int64_t ready =
      std::ranges::count_if(pods, [](const Ref<Value>& pod) { return is_ready(*pod); });
  set_status(target_of("/apis/apps/v1", *set, "replicasets", "/status"), *set,
             Value::object({{"observedGeneration", (*set)["metadata"]["generation"]},
                            {"replicas", pods.size()},
                            {"fullyLabeledReplicas", pods.size()},
                            {"readyReplicas", ready},
                            {"availableReplicas", ready},
                            {"conditions", std::move(conditions)}}));
}

void Simulation::sync_pod(const Key& key) {
  const Ref<Value> pod = engine_.find(kPods, key.namespace_, key.name);
  if (!pod) return;
  const std::string target = target_of("/api/v1", *pod, "pods");
  if (is_deleted(*pod)) {
    if (pod->get_integer("metadata.deletionGracePeriodSeconds").value_or(0) > 0) {
      engine_.request("DELETE", target, Value::object({{"gracePeriodSeconds", 0}}));
    }
    return;
  }
  if (text_at(*pod, "spec.nodeName").empty()) {
    engine_.request(
        "POST", target + "/binding",
        Value::object(
            {{"apiVersion", "v1"},
             {"kind", "Binding"},
             {"metadata", Value::object({{"name", key.name}})},
             {"target",
              Value::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", kNode}})}}));
    return;
  }
  if (text_at(*pod, "status.phase") != "Pending") return;
  const std::string now = now_text();
  Value statuses = Value::array();
  for (const Value& container : pod->get_array("spec.containers")) {
    statuses.push_back(Value::object(
        {{"name", container["name"]},
         {"image", container["image"]},
         {"imageID", container["image"]},
         {"ready", true},
         {"started", true},
         {"restartCount", 0},
         {"state", Value::object({{"running", Value::object({{"startedAt", now}})}})}}));
  }
  const std::size_t number = std::hash<std::string>{}(std::string{text_at(*pod, "metadata.uid")});
  const std::string address = fmt::format("10.244.{}.{}", number / 254 % 256, number % 254 + 1);
  Value conditions = Value::array();
  for (const std::string_view type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    conditions.push_back(
        Value::object({{"type", type}, {"status", "True"}, {"lastTransitionTime", now}}));
  }
  engine_.request("PATCH", target + "/status",
                  Value::object({{"status", Value::object({{"phase", "Running"},
                                                           {"conditions", conditions},
                                                           {"containerStatuses", statuses},
                                                           {"hostIP", "127.0.0.1"},
                                                           {"podIP", address},
                                                           {"startTime", now}})}}),
                  kMergePatch);
}

}  // namespace kube::testkit::detail
