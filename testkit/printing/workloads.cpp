// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/cells.hpp"

#include "base/text.hpp"
#include <kube/api/time_text.hpp>

namespace kube::testkit::detail {

namespace {

using namespace cells;

// Workloads

Value ready_of_desired(const Value& object, Time) {
  return fmt::format("{}/{}", number_at(object, "status.readyReplicas"),
                     number_at(object, "spec.replicas"));
}

Value job_status(const Value& job, Time) {
  if (condition_is_true(job, "Complete")) return "Complete";
  if (condition_is_true(job, "Failed")) return "Failed";
  if (!text_at(job, "metadata.deletionTimestamp").empty()) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (condition_is_true(job, type)) return type;
  }
  return "Running";
}

Value job_completions(const Value& job, Time) {
  const std::int64_t succeeded = number_at(job, "status.succeeded");
  if (job.find("spec.completions") != nullptr) {
    return fmt::format("{}/{}", succeeded, number_at(job, "spec.completions"));
  }
  const std::int64_t parallelism = number_at(job, "spec.parallelism");
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

Value job_duration(const Value& job, Time now) {
  const std::string_view start = text_at(job, "status.startTime");
  const std::string_view end = text_at(job, "status.completionTime");
  if (start.empty()) return "";
  const auto finished = time_text::parse_seconds(end);
  return since_text(start, finished ? time_text::time_point_from_seconds(*finished) : now);
}

Value cron_suspend(const Value& cron_job, Time) {
  if (cron_job.find("spec.suspend") == nullptr) return "<unset>";
  return bool_at(cron_job, "spec.suspend") ? "True" : "False";
}

Value cron_last(const Value& cron_job, Time now) {
  const std::string_view last = text_at(cron_job, "status.lastScheduleTime");
  return last.empty() ? "<none>" : since_text(last, now);
}

template <PathText Path>
Value number_or_text(const Value& object, Time) {
  const Value* found = object.find(Path);
  if (found == nullptr || found->is_null()) return "N/A";
  return found->is_string() ? Value{found->as_string()} : Value{encode_json(*found)};
}

std::string metric_text(const Value& value) {
  return value.is_string()   ? std::string{value.as_string()}
         : value.is_absent() ? ""
                             : encode_json(value);
}

/// Formats one metric of an autoscaler: current and target value.
std::string metric_target(const Value& spec, const Value& status) {
  static constexpr struct {
    const char* type;
    const char* key;
  } kSources[] = {{"External", "external"},
                  {"Pods", "pods"},
                  {"Object", "object"},
                  {"Resource", "resource"},
                  {"ContainerResource", "containerResource"}};
  const std::string_view type = text_member(spec, "type");
  for (const auto& source : kSources) {
    if (type != source.type) continue;
    const Value& target = spec[source.key]["target"];
    const Value& current = status[source.key]["current"];
    const bool named = type == "Resource" || type == "ContainerResource";
    const std::string prefix =
        named ? fmt::format("{}: ", text_member(spec[source.key], "name")) : "";
    const auto or_unknown = [](const Value& value, std::string_view suffix) {
      return value.is_absent() ? "<unknown>" : metric_text(value) + std::string{suffix};
    };
    if (!target["averageValue"].is_absent()) {
      const bool marked = type == "External" || type == "Object";
      return fmt::format("{}{}/{}{}", prefix, or_unknown(current["averageValue"], ""),
                         metric_text(target["averageValue"]), marked ? " (avg)" : "");
    }
    if (named) {
      const Value& wanted = target["averageUtilization"];
      return fmt::format("{}{}/{}", prefix, or_unknown(current["averageUtilization"], "%"),
                         wanted.is_absent() ? "<auto>" : metric_text(wanted) + '%');
    }
    return fmt::format("{}/{}", or_unknown(current["value"], ""), metric_text(target["value"]));
  }
  return "<unknown type>";
}

Value hpa_targets(const Value& hpa, Time) {
  Texts texts;
  const auto& specs = list_at(hpa, "spec.metrics");
  const auto& statuses = list_at(hpa, "status.currentMetrics");
  static const Value kNone;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    texts.push_back(metric_target(specs[i], i < statuses.size() ? statuses[i] : kNone));
  }
  if (const Value* wanted = hpa.find("spec.targetCPUUtilizationPercentage")) {  // autoscaling/v1
    const Value* current = hpa.find("status.currentCPUUtilizationPercentage");
    texts.push_back(fmt::format("cpu: {}/{}%",
                                current == nullptr ? "<unknown>" : metric_text(*current) + '%',
                                metric_text(*wanted)));
  }
  if (texts.empty()) return "<none>";
  const std::size_t shown = std::min<std::size_t>(texts.size(), 2);
  std::string result = shown == 1 ? texts[0] : texts[0] + ", " + texts[1];
  if (texts.size() > shown) result += fmt::format(" + {} more...", texts.size() - shown);
  return result;
}

Value hpa_reference(const Value& hpa, Time) {
  return fmt::format("{}/{}", text_at(hpa, "spec.scaleTargetRef.kind"),
                     text_at(hpa, "spec.scaleTargetRef.name"));
}

Value hpa_min(const Value& hpa, Time) {
  const Value* least = hpa.find("spec.minReplicas");
  return least == nullptr ? "<unset>" : encode_json(*least);
}

Value revision_controller(const Value& revision, Time) {
  for (const Value& owner : list_at(revision, "metadata.ownerReferences")) {
    if (!bool_at(owner, "controller")) continue;
    const std::string_view version = text_member(owner, "apiVersion");
    const std::size_t slash = version.find('/');
    std::string kind{text_member(owner, "kind")};
    if (slash != std::string_view::npos) kind += fmt::format(".{}", version.substr(0, slash));
    return fmt::format("{}/{}", kube::detail::lower_case(kind), text_member(owner, "name"));
  }
  return "<none>";
}

/// Formats the selector of a deployment: empty where other kinds have "<none>".
Value deployment_selector(const Value& object, Time now) {
  const Value text = selector_of<"spec.selector">(object, now);
  return text == Value{"<none>"} ? Value{""} : text;
}

constexpr TableColumn kDeployment[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Ready", "string", ready_of_desired},
    {"Up-to-date", "string", number<"status.updatedReplicas">},
    {"Available", "string", number<"status.availableReplicas">},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
    {"Selector", "string", deployment_selector, 1},
};

constexpr TableColumn kReplicaSet[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Desired", "integer", number<"spec.replicas">},
    {"Current", "integer", number<"status.replicas">},
    {"Ready", "integer", number<"status.readyReplicas">},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
    {"Selector", "string", selector_of<"spec.selector">, 1},
};

constexpr TableColumn kReplicationController[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Desired", "integer", number<"spec.replicas">},
    {"Current", "integer", number<"status.replicas">},
    {"Ready", "integer", number<"status.readyReplicas">},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
    {"Selector", "string", labels_of<"spec.selector">, 1},
};

constexpr TableColumn kStatefulSet[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Ready", "string", ready_of_desired},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
};

constexpr TableColumn kDaemonSet[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Desired", "integer", number<"status.desiredNumberScheduled">},
    {"Current", "integer", number<"status.currentNumberScheduled">},
    {"Ready", "integer", number<"status.numberReady">},
    {"Up-to-date", "integer", number<"status.updatedNumberScheduled">},
    {"Available", "integer", number<"status.numberAvailable">},
    {"Node Selector", "string", labels_of<"spec.template.spec.nodeSelector">},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
    {"Selector", "string", selector_of<"spec.selector">, 1},
};

constexpr TableColumn kJob[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Status", "string", job_status},
    {"Completions", "string", job_completions},
    {"Duration", "string", job_duration},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.template.spec.containers">, 1},
    {"Selector", "string", selector_of<"spec.selector">, 1},
};

constexpr TableColumn kCronJob[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Schedule", "string", text<"spec.schedule">},
    {"Timezone", "string", text_else<"spec.timeZone", "<none>">},
    {"Suspend", "boolean", cron_suspend},
    {"Active", "integer", count<"status.active">},
    {"Last Schedule", "string", cron_last},
    {"Age", "string", age_cell},
    {"Containers", "string", container_names<"spec.jobTemplate.spec.template.spec.containers">, 1},
    {"Images", "string", container_images<"spec.jobTemplate.spec.template.spec.containers">, 1},
    {"Selector", "string", selector_of<"spec.jobTemplate.spec.selector">, 1},
};

constexpr TableColumn kPodTemplate[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Containers", "string", container_names<"template.spec.containers">},
    {"Images", "string", container_images<"template.spec.containers">},
    {"Pod Labels", "string", labels_of<"template.metadata.labels">},
};

constexpr TableColumn kPodDisruptionBudget[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Min Available", "string", number_or_text<"spec.minAvailable">},
    {"Max Unavailable", "string", number_or_text<"spec.maxUnavailable">},
    {"Allowed Disruptions", "integer", number<"status.disruptionsAllowed">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kHorizontalPodAutoscaler[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Reference", "string", hpa_reference},
    {"Targets", "string", hpa_targets},
    {"MinPods", "string", hpa_min},
    {"MaxPods", "string", number<"spec.maxReplicas">},
    {"Replicas", "string", number<"status.currentReplicas">},
    {"Age", "string", age_cell},
};

constexpr TableColumn kControllerRevision[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Controller", "string", revision_controller},
    {"Revision", "string", number<"revision">},
    {"Age", "string", age_cell},
};

constexpr Table kTables[] = {
    {"apps", "Deployment", kDeployment},
    {"apps", "ReplicaSet", kReplicaSet},
    {"apps", "StatefulSet", kStatefulSet},
    {"apps", "DaemonSet", kDaemonSet},
    {"apps", "ControllerRevision", kControllerRevision},
    {"", "ReplicationController", kReplicationController},
    {"", "PodTemplate", kPodTemplate},
    {"batch", "Job", kJob},
    {"batch", "CronJob", kCronJob},
    {"policy", "PodDisruptionBudget", kPodDisruptionBudget},
    {"autoscaling", "HorizontalPodAutoscaler", kHorizontalPodAutoscaler},
};

}  // namespace

std::span<const TableColumn> workload_columns(std::string_view group, std::string_view kind) {
  for (const Table& table : kTables) {
    if (table.group == group && table.kind == kind) return table.columns;
  }
  return {};
}

}  // namespace kube::testkit::detail
