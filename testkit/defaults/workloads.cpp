// SPDX-License-Identifier: Apache-2.0
// Defaults of apps, batch and autoscaling.
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/pods.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

const Value kRollingUpdate{"RollingUpdate"};

void default_deployments(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "replicas", 1);
    Value& strategy = part(spec, "strategy");
    fill_empty(strategy, "type", kRollingUpdate);
    if (std::as_const(strategy)["type"] == kRollingUpdate) {
      Value& rolling = part(strategy, "rollingUpdate");
      fill(rolling, "maxUnavailable", "25%");
      fill(rolling, "maxSurge", "25%");
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    default_pod_template(spec);
  });
}

void default_replica_sets(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "replicas", 1);
    default_pod_template(spec);
  });
}

void default_stateful_sets(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "replicas", 1);
    fill_empty(spec, "podManagementPolicy", "OrderedReady");
    Value& strategy = part(spec, "updateStrategy");
    if (is_empty(std::as_const(strategy)["type"])) {
      strategy["type"] = kRollingUpdate;
      fill(strategy, "rollingUpdate", Value::object());
    }
    if (std::as_const(strategy)["type"] == kRollingUpdate) {
      within(strategy, "rollingUpdate", [](Value& rolling) { fill(rolling, "partition", 0); });
    }
    fill(spec, "revisionHistoryLimit", 10);
    Value& retention = part(spec, "persistentVolumeClaimRetentionPolicy");
    fill_empty(retention, "whenDeleted", "Retain");
    fill_empty(retention, "whenScaled", "Retain");
    each(spec, "volumeClaimTemplates", [](Value& claim) {
      fill_empty(claim, "apiVersion", "v1");
      fill_empty(claim, "kind", "PersistentVolumeClaim");
      within(claim, "spec", default_claim_spec);
      fill_empty(part(claim, "status"), "phase", "Pending");
    });
    default_pod_template(spec);
  });
}

void default_daemon_sets(const Resource&, Value& object) {
  within(object, "spec", [&](Value& spec) {
    Value& strategy = part(spec, "updateStrategy");
    fill_empty(strategy, "type", kRollingUpdate);
    if (std::as_const(strategy)["type"] == kRollingUpdate) {
      Value& rolling = part(strategy, "rollingUpdate");
      fill(rolling, "maxUnavailable", 1);
      fill(rolling, "maxSurge", 0);
    }
    fill(part(part(object, "metadata"), "annotations"), "deprecated.daemonset.template.generation",
         "0");
    fill(spec, "revisionHistoryLimit", 10);
    default_pod_template(spec);
  });
}

void default_pod_failure_policy(Value& spec) {
  within(spec, "podFailurePolicy", [](Value& policy) {
    each(policy, "rules", [](Value& rule) {
      each(rule, "onPodConditions",
           [](Value& condition) { fill_empty(condition, "status", "True"); });
    });
  });
}

void default_jobs(const Resource&, Value& object) {
  within(object, "spec", [&](Value& spec) {
    const Value& given = spec;
    if (is_unset(given["completions"]) && is_unset(given["parallelism"])) spec["completions"] = 1;
    fill(spec, "parallelism", 1);
    fill(spec, "backoffLimit",
         is_unset(given["backoffLimitPerIndex"]) ? 6 : std::numeric_limits<std::int32_t>::max());
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    fill(spec, "podReplacementPolicy",
         given["podFailurePolicy"].is_object() ? "Failed" : "TerminatingOrFailed");
    default_pod_failure_policy(spec);
    default_pod_template(spec);
    const Value labels = given["template"]["metadata"]["labels"];
    if (labels.size() > 0 && std::as_const(object)["metadata"]["labels"].size() == 0) {
      part(object, "metadata")["labels"] = labels;
    }
  });
}

void default_cron_jobs(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill_empty(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    within(spec, "jobTemplate", [](Value& shape) {
      within(shape, "spec", [](Value& job) {
        default_pod_failure_policy(job);
        default_pod_template(job);
      });
    });
  });
}

Value scaling_policy(const char* type, int value) {
  return Value::object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

void default_behavior(Value& behavior) {
  Value& up = part(behavior, "scaleUp");
  fill(up, "stabilizationWindowSeconds", 0);
  fill_empty(up, "selectPolicy", "Max");
  fill(up, "policies", Value::array({scaling_policy("Pods", 4), scaling_policy("Percent", 100)}));
  Value& down = part(behavior, "scaleDown");
  fill_empty(down, "selectPolicy", "Max");
  fill(down, "policies", Value::array({scaling_policy("Percent", 100)}));
}

void default_autoscalers(const Resource& resource, Value& object) {
  constexpr int kCpuUtilization = 80;
  const bool has_metrics =
      !std::as_const(object)["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"]
           .is_absent();
  within(object, "spec", [&](Value& spec) {
    fill(spec, "minReplicas", 1);
    if (resource.version == "v1") {
      if (!has_metrics) fill(spec, "targetCPUUtilizationPercentage", kCpuUtilization);
      return;
    }
    if (std::as_const(spec)["metrics"].size() == 0) {
      spec["metrics"] = Value::array({Value::object(
          {{"type", "Resource"},
           {"resource", Value::object({{"name", "cpu"},
                                       {"target", Value::object({{"type", "Utilization"},
                                                                 {"averageUtilization",
                                                                  kCpuUtilization}})}})}})});
    }
    within(spec, "behavior", default_behavior);
  });
}

constexpr std::array kWorkloads{
    KindDefaults{"deployments.apps", default_deployments},
    KindDefaults{"replicasets.apps", default_replica_sets},
    KindDefaults{"statefulsets.apps", default_stateful_sets},
    KindDefaults{"daemonsets.apps", default_daemon_sets},
    KindDefaults{"jobs.batch", default_jobs},
    KindDefaults{"cronjobs.batch", default_cron_jobs},
    KindDefaults{"horizontalpodautoscalers.autoscaling", default_autoscalers}};

}  // namespace

std::span<const KindDefaults> workload_defaults() { return kWorkloads; }

}  // namespace kube::testkit::detail
