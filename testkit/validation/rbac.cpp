// SPDX-License-Identifier: Apache-2.0
// rbac.authorization.k8s.io/v1.
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

void check_rules(const Field& rules, bool namespaced) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Field rule = rules.at(i);
    if (rule["verbs"].size() == 0) {
      rule["verbs"].required("verbs must contain at least one value");
    }
    const Field urls = rule["nonResourceURLs"];
    if (urls.size() > 0) {
      if (namespaced) {
        urls.invalid("namespaced rules cannot apply to non-resource URLs");
      }
      if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
        urls.invalid("rules cannot apply to both regular resources and non-resource URLs");
      }
      continue;
    }
    if (rule["apiGroups"].size() == 0) {
      rule["apiGroups"].required("resource rules must supply at least one api group");
    }
    if (rule["resources"].size() == 0) {
      rule["resources"].required("resource rules must supply at least one resource");
    }
  }
}

void check_subject(const Field& subject, bool namespaced) {
  const Field name = subject["name"];
  const Field group = subject["apiGroup"];
  check_required(name);
  if (subject["kind"].is("ServiceAccount")) {
    check_optional_text(name, dns1123_subdomain_problems);
    if (!group.text().empty()) group.unsupported({""});
    if (!namespaced) check_required(subject["namespace"]);
  } else if (subject["kind"].is("User") || subject["kind"].is("Group")) {
    if (group.text() != kGroup) group.unsupported({kGroup});
  } else {
    subject["kind"].unsupported({"ServiceAccount", "User", "Group"});
  }
}

void check_binding(const Field& object, const Value* live, bool namespaced) {
  const Field role = object["roleRef"];
  if (!role["apiGroup"].text().empty() && role["apiGroup"].text() != kGroup) {
    role["apiGroup"].unsupported({kGroup});
  }
  const Field kind = role["kind"];
  if (namespaced && !kind.is("Role") && !kind.is("ClusterRole")) {
    kind.unsupported({"Role", "ClusterRole"});
  } else if (!namespaced && !kind.is("ClusterRole")) {
    kind.unsupported({"ClusterRole"});
  }
  if (check_required(role["name"])) check_text(role["name"], path_segment_problems);
  for (std::size_t i = 0; i < object["subjects"].size(); ++i) {
    check_subject(object["subjects"].at(i), namespaced);
  }
  if (live != nullptr && !(role.value() == (*live)["roleRef"])) {
    // A real server shows the fields of its own struct.
    role.invalid(Value::object({{"APIGroup", role["apiGroup"].text()},
                                {"Kind", role["kind"].text()},
                                {"Name", role["name"].text()}}),
                 "cannot change roleRef");
  }
}

}  // namespace

void validate_role(const Field& object, const Value* /*live*/) {
  check_rules(object["rules"], true);
}

void validate_cluster_role(const Field& object, const Value* /*live*/) {
  check_rules(object["rules"], false);
  const Field aggregation = object["aggregationRule"];
  if (!aggregation.is_set()) return;
  const Field selectors = aggregation["clusterRoleSelectors"];
  if (selectors.size() == 0) {
    selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    const std::size_t before = selectors.errors().count();
    check_label_selector(selectors.at(i));
    if (selectors.errors().count() != before) {
      selectors.at(i).invalid(nullptr, "invalid label selector.");
    }
  }
}

void validate_role_binding(const Field& object, const Value* live) {
  check_binding(object, live, true);
}

void validate_cluster_role_binding(const Field& object, const Value* live) {
  check_binding(object, live, false);
}

}  // namespace kube::testkit::detail
