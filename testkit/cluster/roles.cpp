// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/roles.hpp"

#include <string>
#include <utility>

#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {
namespace {

struct Role {
  const char* name;
  /// A list in YAML; empty for an aggregated role.
  const char* rules;
  /// "view": aggregates the roles with the label aggregate-to-view.
  const char* gathers = "";
  /// "edit": is aggregated into that role.
  const char* gathered_by = "";
};

constexpr const char* kReadNamespaced =
    "[{apiGroups: [''], resources: [configmaps, endpoints, events, limitranges, namespaces,"
    " namespaces/status, persistentvolumeclaims, persistentvolumeclaims/status, pods, pods/log,"
    " pods/status, replicationcontrollers, replicationcontrollers/scale,"
    " replicationcontrollers/status, resourcequotas, resourcequotas/status, serviceaccounts,"
    " services, services/status], verbs: [get, list, watch]},"
    " {apiGroups: [apps], resources: [controllerrevisions, daemonsets, daemonsets/status,"
    " deployments, deployments/scale, deployments/status, replicasets, replicasets/scale,"
    " replicasets/status, statefulsets, statefulsets/scale, statefulsets/status],"
    " verbs: [get, list, watch]},"
    " {apiGroups: [autoscaling], resources: [horizontalpodautoscalers,"
    " horizontalpodautoscalers/status], verbs: [get, list, watch]},"
    " {apiGroups: [batch], resources: [cronjobs, cronjobs/status, jobs, jobs/status],"
    " verbs: [get, list, watch]},"
    " {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]},"
    " {apiGroups: [networking.k8s.io], resources: [ingresses, ingresses/status, networkpolicies],"
    " verbs: [get, list, watch]},"
    " {apiGroups: [policy], resources: [poddisruptionbudgets, poddisruptionbudgets/status],"
    " verbs: [get, list, watch]}]";
constexpr const char* kEditNamespaced =
    "[{apiGroups: [''], resources: [pods/attach, pods/exec, pods/portforward, pods/proxy, secrets,"
    " services/proxy], verbs: [get, list, watch]},"
    " {apiGroups: [''], resources: [serviceaccounts], verbs: [impersonate]},"
    " {apiGroups: [''], resources: [configmaps, events, persistentvolumeclaims, pods, pods/attach,"
    " pods/exec, pods/portforward, pods/proxy, replicationcontrollers,"
    " replicationcontrollers/scale, secrets, serviceaccounts, services, services/proxy],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [''], resources: [pods/eviction, serviceaccounts/token], verbs: [create]},"
    " {apiGroups: [apps], resources: [daemonsets, deployments, deployments/rollback,"
    " deployments/scale, replicasets, replicasets/scale, statefulsets, statefulsets/scale],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [autoscaling], resources: [horizontalpodautoscalers],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [batch], resources: [cronjobs, jobs],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [networking.k8s.io], resources: [ingresses, networkpolicies],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [policy], resources: [poddisruptionbudgets],"
    " verbs: [create, delete, deletecollection, patch, update]},"
    " {apiGroups: [coordination.k8s.io], resources: [leases],"
    " verbs: [create, delete, deletecollection, get, list, patch, update, watch]}]";
constexpr const char* kAdminNamespaced =
    "[{apiGroups: [authorization.k8s.io], resources: [localsubjectaccessreviews],"
    " verbs: [create]},"
    " {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings, roles],"
    " verbs: [create, delete, deletecollection, get, list, patch, update, watch]}]";

constexpr Role kRoles[] = {
    {"cluster-admin",
     "[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}, {nonResourceURLs: ['*'], verbs: "
     "['*']}]"},
    {"system:aggregate-to-admin", kAdminNamespaced, "", "admin"},
    {"system:aggregate-to-edit", kEditNamespaced, "", "edit"},
    {"system:aggregate-to-view", kReadNamespaced, "", "view"},
    {"admin", "", "admin"},
    {"edit", "", "edit", "admin"},
    {"view", "", "view", "edit"},
    {"system:basic-user",
     "[{apiGroups: [authorization.k8s.io], resources: [selfsubjectaccessreviews,"
     " selfsubjectrulesreviews], verbs: [create]},"
     " {apiGroups: [authentication.k8s.io], resources: [selfsubjectreviews], verbs: [create]}]"},
    {"system:discovery",
     "[{nonResourceURLs: [/api, '/api/*', /apis, '/apis/*', /healthz, /livez, /openapi,"
     " '/openapi/*', /readyz, /version, /version/], verbs: [get]}]"},
    {"system:public-info-viewer",
     "[{nonResourceURLs: [/healthz, /livez, /readyz, /version, /version/], verbs: [get]}]"},
    {"system:monitoring",
     "[{nonResourceURLs: [/healthz, '/healthz/*', /livez, '/livez/*', /metrics, /metrics/slis,"
     " /readyz, '/readyz/*'], verbs: [get]}]"},
    {"system:auth-delegator",
     "[{apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]},"
     " {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}]"},
    {"system:service-account-issuer-discovery",
     "[{nonResourceURLs: [/.well-known/openid-configuration, /.well-known/openid-configuration/,"
     " /openid/v1/jwks, /openid/v1/jwks/], verbs: [get]}]"},
    {"system:kube-controller-manager",
     "[{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]},"
     " {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, get, update]}]"},
    {"system:kube-scheduler",
     "[{apiGroups: [''], resources: [nodes, pods], verbs: [get, list, watch]},"
     " {apiGroups: [''], resources: [bindings, pods/binding], verbs: [create]},"
     " {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, get, update]}]"},
    {"system:kube-dns",
     "[{apiGroups: [''], resources: [endpoints, services], verbs: [list, watch]}]"},
    {"system:node",
     "[{apiGroups: [''], resources: [configmaps, nodes, persistentvolumeclaims, persistentvolumes,"
     " pods, secrets, services], verbs: [get, list, watch]},"
     " {apiGroups: [''], resources: [nodes, nodes/status, pods/status], verbs: [patch, update]},"
     " {apiGroups: [coordination.k8s.io], resources: [leases],"
     " verbs: [create, delete, get, patch, update]}]"},
    {"system:node-bootstrapper",
     "[{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests],"
     " verbs: [create, get, list, watch]}]"},
    {"system:node-proxier",
     "[{apiGroups: [''], resources: [endpoints, services], verbs: [list, watch]},"
     " {apiGroups: [''], resources: [nodes], verbs: [get, list, watch]},"
     " {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}]"},
    {"system:node-problem-detector",
     "[{apiGroups: [''], resources: [nodes], verbs: [get]},"
     " {apiGroups: [''], resources: [nodes/status], verbs: [patch]}]"},
    {"system:kubelet-api-admin",
     "[{apiGroups: [''], resources: [nodes], verbs: [get, list, watch, proxy]},"
     " {apiGroups: [''], resources: [nodes/log, nodes/metrics, nodes/proxy, nodes/stats],"
     " verbs: ['*']}]"},
    {"system:persistent-volume-provisioner",
     "[{apiGroups: [''], resources: [persistentvolumes],"
     " verbs: [create, delete, get, list, watch]},"
     " {apiGroups: [''], resources: [persistentvolumeclaims], verbs: [get, list, update, watch]},"
     " {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get, list, watch]}]"},
    {"system:volume-scheduler",
     "[{apiGroups: [''], resources: [persistentvolumes],"
     " verbs: [get, list, patch, update, watch]},"
     " {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get, list, watch]}]"},
};

struct Binding {
  const char* name;  ///< also the name of the role
  const char* subjects;
};

constexpr Binding kBindings[] = {
    {"cluster-admin", "[{kind: Group, name: 'system:masters'}]"},
    {"system:basic-user", "[{kind: Group, name: 'system:authenticated'}]"},
    {"system:discovery", "[{kind: Group, name: 'system:authenticated'}]"},
    {"system:public-info-viewer",
     "[{kind: Group, name: 'system:authenticated'}, {kind: Group, name: "
     "'system:unauthenticated'}]"},
    {"system:monitoring", "[{kind: Group, name: 'system:monitoring'}]"},
    {"system:service-account-issuer-discovery", "[{kind: Group, name: 'system:serviceaccounts'}]"},
    {"system:kube-controller-manager", "[{kind: User, name: 'system:kube-controller-manager'}]"},
    {"system:kube-scheduler", "[{kind: User, name: 'system:kube-scheduler'}]"},
    {"system:volume-scheduler", "[{kind: User, name: 'system:kube-scheduler'}]"},
    {"system:node-proxier", "[{kind: User, name: 'system:kube-proxy'}]"},
    {"system:kube-dns", "[{kind: ServiceAccount, name: kube-dns, namespace: kube-system}]"},
    {"system:node", "[]"},
};

constexpr const char* kRbac = "rbac.authorization.k8s.io";

Value rbac_object(const char* kind, const char* name) {
  return Value::object(
      {{"apiVersion", std::string{kRbac} + "/v1"},
       {"kind", kind},
       {"metadata",
        Value::object(
            {{"name", name},
             {"labels", Value::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}})},
             {"annotations",
              Value::object({{"rbac.authorization.kubernetes.io/autoupdate", "true"}})}})}});
}

/// Returns the rules of all roles aggregated into `name`, as the aggregation controller fills them
/// in.
Value gathered_rules(std::string_view name) {
  Value rules = Value::array();
  for (const Role& role : kRoles) {
    if (role.gathered_by != name) continue;
    const Value inner =
        role.gathers[0] != '\0' ? gathered_rules(role.gathers) : Value{*parse_yaml(role.rules)};
    for (const Value& rule : inner.as_array()) rules.push_back(rule);
  }
  return rules;
}

Value role_object(const Role& role) {
  Value object = rbac_object("ClusterRole", role.name);
  const std::string prefix = std::string{kRbac} + "/aggregate-to-";
  if (role.gathered_by[0] != '\0') object["metadata"]["labels"][prefix + role.gathered_by] = "true";
  if (role.gathers[0] == '\0') {
    object["rules"] = Value{*parse_yaml(role.rules)};
    return object;
  }
  const Value labels =
      Value::object({{"matchLabels", Value::object({{prefix + role.gathers, "true"}})}});
  object["aggregationRule"] = Value::object({{"clusterRoleSelectors", Value::array({labels})}});
  object["rules"] = gathered_rules(role.gathers);
  return object;
}

Value binding_object(const Binding& binding) {
  Value object = rbac_object("ClusterRoleBinding", binding.name);
  object["roleRef"] =
      Value::object({{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", binding.name}});
  const Ref<Value> given = parse_yaml(binding.subjects);
  Value subjects = Value::array();
  for (Value subject : given->as_array()) {
    if (!(std::as_const(subject)["kind"] == Value{"ServiceAccount"})) subject["apiGroup"] = kRbac;
    subjects.push_back(std::move(subject));
  }
  if (subjects.size() > 0) object["subjects"] = std::move(subjects);
  return object;
}

}  // namespace

std::vector<Value> default_cluster_roles() {
  std::vector<Value> objects;
  for (const Role& role : kRoles) objects.push_back(role_object(role));
  for (const Binding& binding : kBindings) objects.push_back(binding_object(binding));
  return objects;
}

}  // namespace kube::testkit::detail
