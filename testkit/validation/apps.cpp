// SPDX-License-Identifier: Apache-2.0
// apps/v1, and the replication controller of core/v1.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

/// Checks a template whose pods run for ever and are matched by `selector`.
void check_running_template(const Field& shape, bool selected, std::string_view kind) {
  const Field labels = shape["metadata"]["labels"];
  if (!selected) labels.invalid("`selector` does not match template `labels`");
  check_pod_template(shape);
  const Field restart = shape["spec"]["restartPolicy"];
  if (!restart.text().empty() && !restart.is("Always")) restart.unsupported({"Always"});
  if (const Field deadline = shape["spec"]["activeDeadlineSeconds"]; deadline.is_set()) {
    deadline.forbidden(fmt::format("activeDeadlineSeconds in {} is not Supported", kind));
  }
}

/// Checks selector and template with the rules of all kinds except daemon sets. `kind` is the
/// owner's kind in messages.
void check_selector_and_template(const Field& spec, std::string_view kind,
                                 std::string_view named_in_selector) {
  const Field selector = spec["selector"];
  const std::size_t before = selector.errors().count();
  bool is_readable = true;
  if (!selector.is_set()) {
    if (kind != "DaemonSet") selector.required();
  } else {
    check_label_selector(selector);
    is_readable = selector.errors().count() == before;
    if (selects_all(selector.value())) {
      selector.invalid(fmt::format("empty selector is invalid for {}", named_in_selector));
    }
  }
  if (is_readable) {
    check_running_template(
        spec["template"], selects(selector.value(), spec.value()["template"]["metadata"]["labels"]),
        kind);
  } else if (kind == "DaemonSet") {
    check_running_template(spec["template"], true, kind);
  } else {
    selector.invalid("invalid label selector");
  }
}

/// Returns the spec of a stateful set with a volume added to its template for each claim, so that
/// containers may mount the claims.
Value with_claimed_volumes(const Value& spec) {
  Value result = spec;
  const Value& claims = spec["volumeClaimTemplates"];
  if (claims.size() == 0 || !spec["template"]["spec"].is_object()) return result;
  Value& pod = result["template"]["spec"];
  if (!pod["volumes"].is_array()) pod["volumes"] = Value::array({});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string_view name = text_member(claims[i]["metadata"], "name");
    if (name.empty() || find_volume(std::as_const(pod), name) != nullptr) continue;
    pod["volumes"].push_back(Value::object({{"name", name}, {"emptyDir", Value::object()}}));
  }
  return result;
}

void check_deployment_strategy(const Field& strategy) {
  if (!strategy.is_set()) return;
  const Field type = strategy["type"];
  const Field rolling = strategy["rollingUpdate"];
  if (type.is("Recreate")) {
    if (rolling.is_set()) {
      rolling.forbidden("may not be specified when strategy `type` is 'Recreate'");
    }
    return;
  }
  if (!type.text().empty() && !type.is("RollingUpdate")) {
    strategy.unsupported(strategy.value(), {"Recreate", "RollingUpdate"});
    return;
  }
  const Field unavailable = rolling["maxUnavailable"];
  check_int_or_percent(unavailable);
  check_int_or_percent(rolling["maxSurge"]);
  if (is_zero(unavailable.value()) && is_zero(rolling["maxSurge"].value())) {
    unavailable.invalid("may not be 0 when `maxSurge` is 0");
  }
  check_not_above_100_percent(unavailable);
}

void check_daemon_strategy(const Field& strategy) {
  if (!strategy.is_set()) return;
  const Field type = strategy["type"];
  if (!type.text().empty() && !type.is("RollingUpdate") && !type.is("OnDelete")) {
    strategy.unsupported(strategy.value(), {"RollingUpdate", "OnDelete"});
    return;
  }
  const Field rolling = strategy["rollingUpdate"];
  if (!type.is("RollingUpdate") || !rolling.is_set()) return;
  const Field unavailable = rolling["maxUnavailable"];
  const Field surge = rolling["maxSurge"];
  for (const Field& one : {unavailable, surge}) {
    check_int_or_percent(one);
    check_not_above_100_percent(one);
  }
  const bool no_unavailable = is_zero(unavailable.value());
  const bool no_surge = !surge.is_set() || is_zero(surge.value());
  if (no_unavailable && no_surge) {
    unavailable.required("cannot be 0 when maxSurge is 0");
  } else if (!no_unavailable && !no_surge) {
    surge.invalid("may not be set when maxUnavailable is non-zero");
  }
}

void check_stateful_strategy(const Field& strategy) {
  if (!strategy.is_set()) return;
  const Field type = strategy["type"];
  const Field rolling = strategy["rollingUpdate"];
  if (type.is("OnDelete")) {
    if (rolling.is_set()) rolling.invalid("only allowed for updateStrategy 'RollingUpdate'");
  } else if (type.text().empty() || type.is("RollingUpdate")) {
    check_not_negative(rolling["partition"]);
  } else {
    strategy.invalid("must be 'RollingUpdate' or 'OnDelete'");
  }
}

}  // namespace

void validate_deployment(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_not_negative(spec["replicas"]);
  check_selector_and_template(spec, "ReplicaSet", "deployment");
  check_deployment_strategy(spec["strategy"]);
  check_not_negative(spec["minReadySeconds"]);
  check_not_negative(spec["revisionHistoryLimit"]);
  const Field deadline = spec["progressDeadlineSeconds"];
  check_not_negative(deadline);
  if (deadline.number() && *deadline.number() <= spec["minReadySeconds"].number().value_or(0)) {
    deadline.invalid("must be greater than minReadySeconds");
  }
  if (live != nullptr) check_same(spec["selector"], (*live)["spec"]["selector"]);
}

void validate_replica_set(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_not_negative(spec["replicas"]);
  check_not_negative(spec["minReadySeconds"]);
  check_selector_and_template(spec, "ReplicaSet", "deployment");
  if (live != nullptr) check_same(spec["selector"], (*live)["spec"]["selector"]);
}

void validate_stateful_set(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  if (const Field policy = spec["podManagementPolicy"];
      !policy.text().empty() && !policy.is("OrderedReady") && !policy.is("Parallel")) {
    policy.invalid("must be 'OrderedReady' or 'Parallel'");
  }
  check_stateful_strategy(spec["updateStrategy"]);
  const Field retention = spec["persistentVolumeClaimRetentionPolicy"];
  check_one_of(retention["whenDeleted"], {"Retain", "Delete"});
  check_one_of(retention["whenScaled"], {"Retain", "Delete"});
  check_not_negative(spec["replicas"]);
  check_not_negative(spec["minReadySeconds"]);
  check_not_negative(spec["ordinals"]["start"]);
  check_optional_text(spec["serviceName"], dns1123_label_problems);
  const Value with_claims = with_claimed_volumes(spec.value());
  check_selector_and_template(spec.with(with_claims), "StatefulSet", "statefulset");
  if (live == nullptr) return;
  Value before = (*live)["spec"];
  Value after = spec.value();
  for (const char* member :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    before.erase(member);
    after.erase(member);
  }
  if (!(before == after)) {
    spec.forbidden(
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
        "'minReadySeconds' are forbidden");
  }
}

void validate_daemon_set(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_selector_and_template(spec, "DaemonSet", "daemonset");
  check_not_negative(spec["minReadySeconds"]);
  check_not_negative(spec["revisionHistoryLimit"]);
  check_daemon_strategy(spec["updateStrategy"]);
  if (live != nullptr) check_same(spec["selector"], (*live)["spec"]["selector"]);
}

void validate_controller_revision(const Field& object, const Value* live) {
  if (!object["data"].is_set()) object["data"].required("data is mandatory");
  check_not_negative(object["revision"]);
  if (live != nullptr && !(object["data"].value() == (*live)["data"])) {
    object["data"].invalid("field is immutable");
  }
}

void validate_replication_controller(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  check_not_negative(spec["minReadySeconds"]);
  check_not_negative(spec["replicas"]);
  const Field selector = spec["selector"];
  if (selector.size() == 0) selector.required();
  const Field shape = spec["template"];
  if (!shape.is_set()) {
    shape.required();
    return;
  }
  const Value& labels = shape.value()["metadata"]["labels"];
  bool selected = true;
  if (selector.value().is_object()) {
    for (const auto& [key, value] : selector.value().as_object()) {
      selected = selected && labels[key] == value;
    }
  }
  check_running_template(shape, selected, "ReplicationController");
}

}  // namespace kube::testkit::detail
