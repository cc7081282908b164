// SPDX-License-Identifier: Apache-2.0
// Defaults of rbac.authorization.k8s.io, admissionregistration.k8s.io, apiextensions.k8s.io, apiregistration.k8s.io and
// flowcontrol.apiserver.k8s.io.
#include "base/text.hpp"

#include <array>
#include <string>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

constexpr int kHttpsPort = 443;

void default_bindings(const Resource& resource, Value& object) {
  within(object, "roleRef", [&](Value& role) { fill_empty(role, "apiGroup", resource.group); });
  each(object, "subjects", [&](Value& subject) {
    const Value& kind = std::as_const(subject)["kind"];
    if (kind == Value{"User"} || kind == Value{"Group"}) {
      fill_empty(subject, "apiGroup", resource.group);
    }
  });
}

void default_service_port(Value& config) {
  within(config, "service", [](Value& service) { fill(service, "port", kHttpsPort); });
}

void default_rules(Value& owner, const char* list) {
  each(owner, list, [](Value& rule) { fill(rule, "scope", "*"); });
}

void default_selection(Value& owner) {
  fill(owner, "matchPolicy", "Equivalent");
  fill(owner, "namespaceSelector", Value::object());
  fill(owner, "objectSelector", Value::object());
}

void default_webhook(Value& hook) {
  fill(hook, "failurePolicy", "Fail");
  fill(hook, "timeoutSeconds", 10);
  default_selection(hook);
  default_rules(hook, "rules");
  within(hook, "clientConfig", default_service_port);
}

void default_validating_webhooks(const Resource&, Value& object) {
  each(object, "webhooks", default_webhook);
}

void default_mutating_webhooks(const Resource&, Value& object) {
  each(object, "webhooks", [](Value& hook) {
    default_webhook(hook);
    fill(hook, "reinvocationPolicy", "Never");
  });
}

void default_matching(Value& spec, const char* member) {
  within(spec, member, [](Value& matching) {
    default_selection(matching);
    default_rules(matching, "resourceRules");
    default_rules(matching, "excludeResourceRules");
  });
}

void default_policies(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "failurePolicy", "Fail");
    default_matching(spec, "matchConstraints");
  });
}

void default_policy_bindings(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) { default_matching(spec, "matchResources"); });
}

void default_definitions(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "conversion", Value::object({{"strategy", "None"}}));
    within(spec["conversion"], "webhook",
           [](Value& webhook) { within(webhook, "clientConfig", default_service_port); });
    Value& names = part(spec, "names");
    const Value& kind = std::as_const(names)["kind"];
    if (!kind.is_string()) return;
    const std::string name{kind.as_string()};
    if (name.empty()) return;
    fill_empty(names, "listKind", name + "List");
    fill_empty(names, "singular", kube::detail::lower_case(name));
  });
}

void default_api_services(const Resource&, Value& object) {
  within(object, "spec", default_service_port);
}

void default_flow_schemas(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) { fill_empty(spec, "matchingPrecedence", 1000); });
}

void default_priority_levels(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    within(spec, "exempt", [](Value& exempt) {
      fill(exempt, "nominalConcurrencyShares", 0);
      fill(exempt, "lendablePercent", 0);
    });
    within(spec, "limited", [](Value& limited) {
      fill(limited, "nominalConcurrencyShares", 30);
      fill(limited, "lendablePercent", 0);
      within(limited, "limitResponse", [](Value& response) {
        within(response, "queuing", [](Value& queuing) {
          fill_empty(queuing, "handSize", 8);
          fill_empty(queuing, "queues", 64);
          fill_empty(queuing, "queueLengthLimit", 50);
        });
      });
    });
  });
}

constexpr std::array kServer{
    KindDefaults{"rolebindings.rbac.authorization.k8s.io", default_bindings},
    KindDefaults{"clusterrolebindings.rbac.authorization.k8s.io", default_bindings},
    KindDefaults{"validatingwebhookconfigurations.admissionregistration.k8s.io",
                 default_validating_webhooks},
    KindDefaults{"mutatingwebhookconfigurations.admissionregistration.k8s.io",
                 default_mutating_webhooks},
    KindDefaults{"validatingadmissionpolicies.admissionregistration.k8s.io", default_policies},
    KindDefaults{"mutatingadmissionpolicies.admissionregistration.k8s.io", default_policies},
    KindDefaults{"validatingadmissionpolicybindings.admissionregistration.k8s.io",
                 default_policy_bindings},
    KindDefaults{"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
                 default_policy_bindings},
    KindDefaults{"customresourcedefinitions.apiextensions.k8s.io", default_definitions},
    KindDefaults{"apiservices.apiregistration.k8s.io", default_api_services},
    KindDefaults{"flowschemas.flowcontrol.apiserver.k8s.io", default_flow_schemas},
    KindDefaults{"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
                 default_priority_levels}};

}  // namespace

std::span<const KindDefaults> server_defaults() { return kServer; }

}  // namespace kube::testkit::detail
