// SPDX-License-Identifier: Apache-2.0
// ResourceQuotas and LimitRanges of core/v1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::array<std::string_view, 7> kScopes{
    "Terminating",          "NotTerminating", "BestEffort",
    "NotBestEffort",        "PriorityClass",  "CrossNamespacePodAffinity",
    "VolumeAttributesClass"};

/// Returns whether the quota for this resource is summed over pods.
bool is_compute(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames{
      "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool scope_fits(std::string_view scope, std::string_view resource) {
  if (!is_standard_resource(resource)) return true;
  if (scope == "BestEffort") return resource == "pods";
  if (scope == "VolumeAttributesClass") {
    return resource == "persistentvolumeclaims" || resource == "requests.storage";
  }
  if (std::ranges::find(kScopes, scope) == kScopes.end()) return true;
  return resource == "pods" || is_compute(resource);
}

void check_resource_name(const Field& amount, std::string_view name) {
  const Problems problems = qualified_name_problems(name);
  for (const std::string& problem : problems) amount.invalid(name, problem);
  if (problems.empty() && name.find('/') == std::string_view::npos && !is_standard_resource(name)) {
    amount.invalid(name, "must be a standard resource type or fully qualified");
  }
}

void check_hard(const Field& hard) {
  if (!hard.value().is_object()) return;
  for (const auto& [name, value] : hard.value().as_object()) {
    const Field amount = hard.key(name);
    check_resource_name(amount, name);
    if (name.view().find('/') == std::string_view::npos && !is_standard_resource(name)) {
      amount.invalid(name, "must be a standard resource for quota");
    }
    check_amount(amount, name);
  }
}

bool conflict(const std::set<std::string, std::less<>>& scopes) {
  return (scopes.contains("BestEffort") && scopes.contains("NotBestEffort")) ||
         (scopes.contains("Terminating") && scopes.contains("NotTerminating"));
}

bool all_fit(const Value& hard, std::string_view scope) {
  if (!hard.is_object()) return true;
  for (const auto& [name, value] : hard.as_object()) {
    if (!scope_fits(scope, name)) return false;
  }
  return true;
}

void check_scopes(const Field& spec) {
  const Field scopes = spec["scopes"];
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const std::string_view scope = scopes.at(i).text();
    if (std::ranges::find(kScopes, scope) == kScopes.end()) scopes.invalid("unsupported scope");
    if (!all_fit(spec["hard"].value(), scope)) {
      scopes.invalid("unsupported scope applied to resource");
    }
    seen.emplace(scope);
  }
  if (conflict(seen)) scopes.invalid("conflicting scopes");
}

void check_scope_selector(const Field& spec) {
  const Field expressions = spec["scopeSelector"]["matchExpressions"];
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Value& expression = expressions.value()[i];
    const Field scope = expressions["scopeName"].with(expression["scopeName"]);
    const Field operation = expressions["operator"].with(expression["operator"]);
    const Field values = expressions["values"].with(expression["values"]);
    if (std::ranges::find(kScopes, scope.text()) == kScopes.end())
      scope.invalid("unsupported scope");
    if (!all_fit(spec["hard"].value(), scope.text())) {
      expressions.invalid(spec["scopeSelector"].value(), "unsupported scope applied to resource");
    }
    if (!scope.is("PriorityClass") && !scope.is("VolumeAttributesClass") &&
        !operation.is("Exists")) {
      operation.invalid(
          operation.text(),
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
          "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
          "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    if (operation.is("In") || operation.is("NotIn")) {
      if (values.size() == 0) {
        values.required(
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
      }
    } else if (operation.is("Exists") || operation.is("DoesNotExist")) {
      if (values.size() > 0) {
        values.invalid(
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
      }
    } else {
      operation.invalid(operation.text(), "not a valid selector operator");
    }
    seen.emplace(scope.text());
  }
  if (conflict(seen)) expressions.invalid(spec["scopes"].value(), "conflicting scopes");
}

std::set<std::string> texts_in(const Value& list) {
  std::set<std::string> texts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string()) texts.emplace(list[i].as_string());
  }
  return texts;
}

/// The amounts for one resource in an entry of a limit range.
class Limits {
 public:
  Limits(const Field& limit, std::string_view resource) : limit_(limit), resource_(resource) {}

  void check() const {
    const auto least = amount("min");
    const auto most = amount("max");
    const auto standard = amount("default");
    const auto request = amount("defaultRequest");
    const auto ratio = amount("maxLimitRequestRatio");
    if (least && most && *least > *most) {
      fail("min", *least, "min value {} is greater than max value {}", *least, *most);
    }
    if (request && least && *least > *request) {
      fail("defaultRequest", *request, "min value {} is greater than default request value {}",
           *least, *request);
    }
    if (request && most && *request > *most) {
      fail("defaultRequest", *request, "default request value {} is greater than max value {}",
           *request, *most);
    }
    if (request && standard && *request > *standard) {
      fail("defaultRequest", *request,
           "default request value {} is greater than default limit value {}", *request, *standard);
    }
    if (standard && least && *least > *standard) {
      fail("default", *least, "min value {} is greater than default value {}", *least, *standard);
    }
    if (standard && most && *standard > *most) {
      fail("default", *most, "default value {} is greater than max value {}", *standard, *most);
    }
    if (ratio && *ratio < Quantity{"1"}) {
      limit_["maxLimitRequestRatio"].key(resource_).invalid(
          ratio->text(), fmt::format("ratio {} is less than 1", ratio->text()));
    }
  }

 private:
  [[nodiscard]] std::optional<Quantity> amount(std::string_view member) const {
    return quantity_of(limit_.value()[member][resource_]);
  }
  void fail(std::string_view member, const Quantity& shown, std::string_view detail,
            const Quantity& first, const Quantity& second) const {
    limit_[member].key(resource_).invalid(
        shown.text(), fmt::format(fmt::runtime(detail), first.text(), second.text()));
  }

  Field limit_;
  std::string_view resource_;
};

void check_limit(const Field& limit) {
  const Field type = limit["type"];
  const Problems problems = qualified_name_problems(type.text());
  for (const std::string& problem : problems) type.invalid(type.text(), problem);
  const bool is_pod = type.is("Pod");
  const bool is_container = type.is("Container");
  const bool is_claim = type.is("PersistentVolumeClaim");
  if (problems.empty() && type.text().find('/') == std::string_view::npos && !is_pod &&
      !is_container && !is_claim) {
    type.invalid("must be a standard limit type or fully qualified");
  }
  std::set<std::string_view> resources;
  for (const char* member : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
    const Field amounts = limit[member];
    if (!amounts.value().is_object() || amounts.size() == 0) continue;
    if (is_pod && std::string_view{member}.starts_with("default")) {
      amounts.forbidden("may not be specified when `type` is 'Pod'");
      continue;
    }
    for (const auto& [name, value] : amounts.value().as_object()) {
      resources.insert(name);
      if (is_pod || is_container) {
        check_container_resource_name(amounts.key(name), name);
      } else {
        check_resource_name(amounts.key(name), name);
      }
    }
  }
  if (is_claim && limit["min"].value()["storage"].is_absent() &&
      limit["max"].value()["storage"].is_absent()) {
    limit["limits"].required(
        "either minimum or maximum storage value is required, but neither was provided");
  }
  for (const std::string_view resource : resources) Limits{limit, resource}.check();
}

}  // namespace

void validate_resource_quota(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_hard(spec["hard"]);
  check_scopes(spec);
  if (spec["scopeSelector"].is_set()) check_scope_selector(spec);
  if (live != nullptr && texts_in(spec["scopes"].value()) != texts_in((*live)["spec"]["scopes"])) {
    spec["scopes"].invalid("field is immutable");
  }
}

void validate_limit_range(const Field& object, const Value* /*live*/) {
  const Field limits = object["spec"]["limits"];
  std::set<std::string, std::less<>> types;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    check_limit(limits.at(i));
    if (!types.emplace(limits.at(i)["type"].text()).second) limits.at(i)["type"].duplicate();
  }
}

}  // namespace kube::testkit::detail
