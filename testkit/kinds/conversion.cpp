// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/conversion.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace kube::testkit::detail {

namespace {

using Renames = std::array<std::pair<const char*, const char*>, 7>;

/// Field names of an Event in core/v1 and in events.k8s.io/v1 (BK-3).
constexpr Renames kEventFields{{{"involvedObject", "regarding"},
                                {"message", "note"},
                                {"reportingComponent", "reportingController"},
                                {"source", "deprecatedSource"},
                                {"firstTimestamp", "deprecatedFirstTimestamp"},
                                {"lastTimestamp", "deprecatedLastTimestamp"},
                                {"count", "deprecatedCount"}}};

Value take(Value& object, std::string_view member) {
  if (object[std::string_view{member}].is_absent()) {
    object.erase(member);
    return {};
  }
  Value taken = std::move(object[member]);
  object.erase(member);
  return taken;
}

void rename(Value& object, const char* from, const char* to) {
  Value moved = take(object, from);
  if (!moved.is_absent()) object[to] = std::move(moved);
}

Value event_to_events_group(Value event) {
  for (const auto& [core, other] : kEventFields) rename(event, core, other);
  event["apiVersion"] = "events.k8s.io/v1";
  return event;
}

Value event_to_core(Value event) {
  for (const auto& [core, other] : kEventFields) rename(event, other, core);
  event["apiVersion"] = "v1";
  return event;
}

/// autoscaling/v1 has only the CPU metric.
Value autoscaler_to_v1(Value object) {
  Value metrics = take(object["spec"], "metrics");
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Value& resource = std::as_const(metrics)[i]["resource"];
    const Value& target = resource["target"]["averageUtilization"];
    if (resource["name"] == Value{"cpu"} && !target.is_absent()) {
      object["spec"]["targetCPUUtilizationPercentage"] = target;
    }
  }
  if (object["status"].is_object()) {
    Value current = take(object["status"], "currentMetrics");
    for (std::size_t i = 0; i < current.size(); ++i) {
      const Value& resource = std::as_const(current)[i]["resource"];
      if (resource["name"] == Value{"cpu"}) {
        object["status"]["currentCPUUtilizationPercentage"] =
            resource["current"]["averageUtilization"];
      }
    }
    object["status"].erase("conditions");
  }
  object["spec"].erase("behavior");
  object["apiVersion"] = "autoscaling/v1";
  return object;
}

Value autoscaler_to_v2(Value object) {
  const auto cpu = [](const char* part, Value percentage) {
    return Value::array({Value::object(
        {{"type", "Resource"},
         {"resource", Value::object({{"name", "cpu"},
                                     {part, Value::object({{"type", "Utilization"},
                                                           {"averageUtilization",
                                                            std::move(percentage)}})}})}})});
  };
  if (object["spec"].is_object()) {
    Value target = take(object["spec"], "targetCPUUtilizationPercentage");
    if (!target.is_absent()) object["spec"]["metrics"] = cpu("target", std::move(target));
  }
  if (object["status"].is_object()) {
    Value current = take(object["status"], "currentCPUUtilizationPercentage");
    if (!current.is_absent())
      object["status"]["currentMetrics"] = cpu("current", std::move(current));
  }
  object["apiVersion"] = "autoscaling/v2";
  return object;
}

}  // namespace

StoredObject as_served(ObjectCodec& codec, const Resource& resource, const StoredObject& stored) {
  if (!stored) return stored;
  if (resource.is_custom()) {
    const CustomVersion& custom = *resource.custom;
    const bool same_version = stored.dynamic()["apiVersion"] == Value{resource.api_version()};
    if (same_version && stored.schema_id == custom.schema_id) return stored;
    Value object = stored.dynamic();
    object["apiVersion"] = resource.api_version();
    if (custom.schema) {
      custom.schema->prune(object);
      custom.schema->apply_defaults(object);
    }
    StoredObject shown = codec.from_value(*resource.type, object);
    shown.schema_id = custom.schema_id;
    return codec.with_revision(std::move(shown), stored.revision());
  }
  if (resource.type == resource.storage_type) return stored;
  Value object = *stored.value();
  object = resource.group == "events.k8s.io" ? event_to_events_group(std::move(object))
                                             : autoscaler_to_v1(std::move(object));
  return codec.with_revision(codec.from_value(*resource.type, object), stored.revision());
}

Value to_storage_form(const Resource& resource, Value object) {
  if (resource.is_custom()) {
    object["apiVersion"] = resource.custom->storage_api_version;
    return object;
  }
  if (resource.type == resource.storage_type) return object;
  return resource.group == "events.k8s.io" ? event_to_core(std::move(object))
                                           : autoscaler_to_v2(std::move(object));
}

}  // namespace kube::testkit::detail
