// SPDX-License-Identifier: Apache-2.0
// batch/v1.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "testkit/validation/cron_schedule.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kLongestCronJobName = 52;

void check_exit_codes(const Field& codes) {
  check_one_of(codes["operator"], {"In", "NotIn"});
  const Field values = codes["values"];
  if (values.size() == 0) values.invalid(Value::array(), "at least one value is required");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (codes["operator"].is("In") && values.at(i).number() == 0) {
      values.at(i).invalid("must not be 0 for the In operator");
    }
  }
}

void check_failure_policy(const Field& policy, const Field& spec) {
  for (std::size_t i = 0; i < policy["rules"].size(); ++i) {
    const Field rule = policy["rules"].at(i);
    const Field action = rule["action"];
    if (action.text().empty()) {
      action.required("valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    } else if (action.is("FailIndex")) {
      if (!spec["backoffLimitPerIndex"].is_set()) {
        action.invalid("requires the backoffLimitPerIndex to be set");
      }
    } else {
      check_one_of(action, {"Count", "FailIndex", "FailJob", "Ignore"});
    }
    const bool by_code = rule["onExitCodes"].is_set();
    const bool by_condition = rule["onPodConditions"].size() > 0;
    if (by_code) check_exit_codes(rule["onExitCodes"]);
    if (by_code == by_condition) {
      rule.errors().add(
          {std::string{meta::v1::cause_type::kFieldValueInvalid}, rule.path(),
           by_code
               ? "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"
               : "Invalid value: specifying one of OnExitCodes and OnPodConditions is "
                 "required"});
    }
  }
}

void check_restart_policy(const Field& spec) {
  const Field restart = spec["template"]["spec"]["restartPolicy"];
  if (restart.text().empty() || restart.is("Always")) {
    restart.required("valid values: \"OnFailure\", \"Never\"");
  } else if (!restart.is("OnFailure") && !restart.is("Never")) {
    restart.unsupported({"OnFailure", "Never"});
  } else if (spec["podFailurePolicy"].is_set() && !restart.is("Never")) {
    restart.invalid("only \"Never\" is supported when podFailurePolicy is specified");
  }
}

/// Checks the spec of a job or of a job template.
void check_job_spec(const Field& spec) {
  for (const char* member :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    check_not_negative(spec[member]);
  }
  const Field per_index = spec["backoffLimitPerIndex"];
  const Field failed = spec["maxFailedIndexes"];
  if (failed.is_set() && !per_index.is_set()) {
    per_index.required("when maxFailedIndexes is specified");
  }
  if (spec["managedBy"].is_set()) check_text(spec["managedBy"], domain_path_problems);
  const Field mode = spec["completionMode"];
  check_one_of(mode, {"NonIndexed", "Indexed"});
  if (mode.is("Indexed")) {
    const Field completions = spec["completions"];
    if (!completions.is_set()) completions.required("when completion mode is Indexed");
    if (completions.number() && failed.number() && *failed.number() > *completions.number()) {
      failed.invalid("must be less than or equal to completions");
    }
  } else if (mode.text().empty() || mode.is("NonIndexed")) {
    for (const Field& one : {per_index, failed}) {
      if (one.is_set()) one.invalid("requires indexed completion mode");
    }
    if (const Field success = spec["successPolicy"]; success.is_set()) {
      success.invalid("requires indexed completion mode");
    }
  }
  if (const Field policy = spec["podFailurePolicy"]; policy.is_set()) {
    check_failure_policy(policy, spec);
  }
  check_one_of(spec["podReplacementPolicy"], {"Failed", "TerminatingOrFailed"});
  check_pod_template(spec["template"]);
  check_restart_policy(spec);
}

/// Checks the labels that the server generates for the selector of a job.
void check_generated_labels(const Field& object) {
  const Value& metadata = object["metadata"].value();
  const Field labels = object["spec"]["template"]["metadata"]["labels"];
  Value expected = Value::object();
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    expected[fmt::format("{}controller-uid", prefix)] = metadata["uid"];
    expected[fmt::format("{}job-name", prefix)] = metadata["name"];
  }
  for (const auto& [name, value] : std::as_const(expected).as_object()) {
    const std::string wanted =
        fmt::format("must be '{}'", value.is_string() ? value.as_string() : "");
    const Field label = labels.key(name);
    if (label.value().is_absent()) {
      label.required(wanted);
    } else if (!(label.value() == value)) {
      label.invalid(labels.value(), wanted);
    }
  }
  const Field selector = object["spec"]["selector"];
  if (!selects(selector.value(), expected)) selector.invalid("`selector` not auto-generated");
}

/// Returns the template without the fields that may change while a job is suspended.
Value fixed_part(const Value& shape, bool suspended) {
  Value result = shape;
  if (!suspended) return result;
  for (const char* member : {"labels", "annotations"}) result["metadata"].erase(member);
  for (const char* member : {"affinity", "nodeSelector", "tolerations", "schedulingGates"}) {
    result["spec"].erase(member);
  }
  for (const char* list : {"containers", "initContainers"}) {
    if (!std::as_const(result)["spec"][list].is_array()) continue;
    for (Value& container : elements(result["spec"][list])) container.erase("resources");
  }
  return result;
}

void check_job_change(const Field& spec, const Value& before) {
  const Field completions = spec["completions"];
  if (!spec["completionMode"].is("Indexed")) {
    check_same(completions, before["completions"]);
  } else if (completions.is_set() && !(completions.value() == before["completions"]) &&
             completions.number() != spec["parallelism"].number()) {
    completions.invalid("can only be modified in tandem with spec.parallelism");
  }
  const bool suspended = before["suspend"] == Value{true};
  if (!(fixed_part(spec["template"].value(), suspended) ==
        fixed_part(before["template"], suspended))) {
    const Field shape = spec["template"];
    (suspended ? shape["spec"] : shape).invalid(shape.value(), "field is immutable");
  }
  for (const char* member : {"selector", "completionMode", "podFailurePolicy",
                             "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    check_same(spec[member], before[member]);
  }
}

}  // namespace

void validate_job(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_job_spec(spec);
  const Field selector = spec["selector"];
  if (!selector.is_set()) {
    selector.required();
  } else {
    check_label_selector(selector);
    if (!spec["manualSelector"].is_true()) check_generated_labels(object);
  }
  const Field labels = spec["template"]["metadata"]["labels"];
  if (!selects(selector.value(), labels.value())) {
    labels.invalid("`selector` does not match template `labels`");
  }
  if (live != nullptr) check_job_change(spec, (*live)["spec"]);
}

void validate_cron_job(const Field& object, const Value* live) {
  const Field name = object["metadata"]["name"];
  if (live == nullptr && name.text().size() > kLongestCronJobName) {
    // The controller appends eleven characters.
    name.invalid(fmt::format("must be no more than {} characters", kLongestCronJobName));
  }
  const Field spec = object["spec"];
  if (const Field schedule = spec["schedule"]; check_required(schedule)) {
    if (schedule.text().find("TZ") != std::string_view::npos) {
      schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    } else if (const std::string problem = cron_schedule_problem(schedule.text());
               !problem.empty()) {
      schedule.invalid(problem);
    }
  }
  if (const Field zone = spec["timeZone"]; zone.is_set()) {
    if (zone.text().empty()) {
      zone.invalid("timeZone must be nil or non-empty string");
    } else if (zone.is("Local") || !is_known_time_zone(zone.text())) {
      zone.invalid(fmt::format("unknown time zone {}", zone.text()));
    }
  }
  check_one_of(spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"});
  for (const char* member :
       {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    check_not_negative(spec[member]);
  }
  const Field job = spec["jobTemplate"]["spec"];
  check_job_spec(job);
  if (job["manualSelector"].is_true()) job["manualSelector"].unsupported({"nil", "false"});
  if (job["selector"].is_set()) job["selector"].invalid("`selector` will be auto-generated");
}

}  // namespace kube::testkit::detail
