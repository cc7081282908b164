// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/limit_ranges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/admission/admission.hpp"
#include "testkit/admission/pod_resources.hpp"
#include "testkit/defaults/value_defaults.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

std::vector<Ref<Value>> limit_ranges_of(Services& services, const Value& object) {
  std::vector<Ref<Value>> ranges;
  if (services.limit_ranges().size() == 0) return ranges;
  Store::ListQuery query;
  query.scope.prefix = metadata_text(object, "namespace") + '/';
  for (const auto& [key, range] : services.store.list(services.limit_ranges(), query).objects) {
    ranges.push_back(range.value());
  }
  return ranges;
}

/// Sets missing amounts of a container. Returns the names of those set, in order.
std::vector<std::string> fill_amounts(Value& container, const char* list, const Value& defaults) {
  std::vector<std::string> names;
  if (defaults.size() == 0) return names;
  Value& amounts = part(part(container, "resources"), list);
  for (const auto& [name, amount] : defaults.as_object()) {
    if (!std::as_const(amounts)[name].is_absent()) continue;
    amounts[name.view()] = amount;
    names.emplace_back(name.view());
  }
  return names;
}

/// Compares the observed amounts of one container, pod or claim with its limits.
class Checker {
 public:
  Checker(std::string_view type, ResourceAmounts requests, ResourceAmounts limits)
      : type_(type), requests_(std::move(requests)), limits_(std::move(limits)) {}

  void check_minimum(const ResourceAmounts& least, std::vector<std::string>& problems) const {
    for (const auto& [name, enforced] : least) {
      const std::string rule =
          fmt::format("minimum {} usage per {} is {}", name, type_, enforced.canonical().text());
      const auto request = requests_.find(name);
      const auto limit = limits_.find(name);
      if (request == requests_.end()) {
        problems.push_back(rule + ".  No request is specified");
      } else if (request->second < enforced) {
        problems.push_back(but(rule, "request", request->second));
      } else if (limit != limits_.end() && limit->second < enforced) {
        problems.push_back(but(rule, "limit", limit->second));
      }
    }
  }

  /// `of_limits`: compares limits first, which must be set. Claims have no limits.
  void check_maximum(const ResourceAmounts& most, bool of_limits,
                     std::vector<std::string>& problems) const {
    for (const auto& [name, enforced] : most) {
      const std::string rule =
          fmt::format("maximum {} usage per {} is {}", name, type_, enforced.canonical().text());
      const auto request = requests_.find(name);
      const auto limit = limits_.find(name);
      if (of_limits ? limit == limits_.end() : request == requests_.end()) {
        problems.push_back(
            fmt::format("{}.  No {} is specified", rule, of_limits ? "limit" : "request"));
      } else if (of_limits && limit->second > enforced) {
        problems.push_back(but(rule, "limit", limit->second));
      } else if (request != requests_.end() && request->second > enforced) {
        problems.push_back(but(rule, "request", request->second));
      }
    }
  }

  void check_ratio(const ResourceAmounts& most, std::vector<std::string>& problems) const {
    for (const auto& [name, enforced] : most) {
      const std::string rule = fmt::format("{} max limit to request ratio per {} is {}", name,
                                           type_, enforced.canonical().text());
      const auto request = requests_.find(name);
      const auto limit = limits_.find(name);
      if (request == requests_.end() || request->second == Quantity{}) {
        problems.push_back(rule + ", but no request is specified or request is 0");
      } else if (limit == limits_.end() || limit->second == Quantity{}) {
        problems.push_back(rule + ", but no limit is specified or limit is 0");
      } else if (const double ratio = limit->second.as_double() / request->second.as_double();
                 ratio > enforced.as_double()) {
        problems.push_back(fmt::format("{}, but provided ratio is {:f}", rule, ratio));
      }
    }
  }

 private:
  static std::string but(const std::string& rule, const char* what, const Quantity& amount) {
    return fmt::format("{}, but {} is {}", rule, what, amount.canonical().text());
  }

  std::string type_;
  ResourceAmounts requests_;
  ResourceAmounts limits_;
};

ResourceAmounts without_overhead(Value pod, ResourceAmounts (*sum)(const Value&)) {
  if (pod["spec"].is_object()) pod["spec"].erase("overhead");
  return sum(pod);
}

void check_limit(const Value& limit, const Value& object, std::vector<std::string>& problems) {
  const std::string_view type = text_member(limit, "type");
  const bool is_claim = object["kind"] == Value{"PersistentVolumeClaim"};
  std::vector<Checker> checkers;
  if (type == "Container" && !is_claim) {
    for (const char* list : {"spec.containers", "spec.initContainers"}) {
      for (const Value& container : object.get_array(list)) {
        checkers.emplace_back(type, amounts_of(container["resources"]["requests"]),
                              amounts_of(container["resources"]["limits"]));
      }
    }
  } else if (type == "Pod" && !is_claim) {
    checkers.emplace_back(type, without_overhead(object, pod_requests),
                          without_overhead(object, pod_limits));
  } else if (type == "PersistentVolumeClaim" && is_claim) {
    checkers.emplace_back(type, amounts_of(object["spec"]["resources"]["requests"]),
                          ResourceAmounts{});
  }
  for (const Checker& checker : checkers) {
    checker.check_minimum(amounts_of(limit["min"]), problems);
    checker.check_maximum(amounts_of(limit["max"]), !is_claim, problems);
    if (!is_claim) checker.check_ratio(amounts_of(limit["maxLimitRequestRatio"]), problems);
  }
}

}  // namespace

void apply_limit_ranges(Services& services, Value& pod) {
  std::vector<std::string> notes;
  for (const Ref<Value>& range : limit_ranges_of(services, pod)) {
    notes.clear();  // a real server, too, reports only the last range
    for (const auto& [list, word] :
         {std::pair{"containers", "container"}, std::pair{"initContainers", "init container"}}) {
      each(pod["spec"], list, [&](Value& container) {
        std::vector<std::string> requests;
        std::vector<std::string> limits;
        for (const Value& limit : range->get_array("spec.limits")) {
          if (text_member(limit, "type") != "Container") continue;
          limits = fill_amounts(container, "limits", limit["default"]);
          requests = fill_amounts(container, "requests", limit["defaultRequest"]);
        }
        const std::string_view name = text_member(container, "name");
        if (!requests.empty()) {
          notes.push_back(
              fmt::format("{} request for {} {}", fmt::join(requests, ", "), word, name));
        }
        if (!limits.empty()) {
          notes.push_back(fmt::format("{} limit for {} {}", fmt::join(limits, ", "), word, name));
        }
      });
    }
    if (notes.empty()) continue;
    part(part(pod, "metadata"), "annotations")["kubernetes.io/limit-ranger"] =
        fmt::format("LimitRanger plugin set: {}", fmt::join(notes, "; "));
  }
}

void check_limit_ranges(Services& services, const Resource& resource, const Value& object) {
  for (const Ref<Value>& range : limit_ranges_of(services, object)) {
    std::vector<std::string> problems;
    for (const Value& limit : range->get_array("spec.limits")) {
      check_limit(limit, object, problems);
    }
    if (problems.empty()) continue;
    throw not_allowed(
        resource, object,
        problems.size() == 1 ? problems.front() : fmt::format("[{}]", fmt::join(problems, ", ")));
  }
}

}  // namespace kube::testkit::detail
