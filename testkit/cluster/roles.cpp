// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/roles.hpp"

#include <string>
#include <utility>

#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {
namespace {

struct Role {
  const char* name;
  /// A list in JSON; empty for an aggregated role.
  const char* rules;
  /// "view": aggregates the roles with the label aggregate-to-view.
  const char* gathers = "";
  /// "edit": is aggregated into that role.
  const char* gathered_by = "";
};

constexpr Role kRoles[] = {
    {"admin", "", "admin"},
    {"cluster-admin",
     R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]},
     {"nonResourceURLs":["*"],"verbs":["*"]}])"},
    {"edit", "", "edit", "admin"},
    {"system:aggregate-to-admin",
     R"([{"apiGroups":["authorization.k8s.io"],"resources":["localsubjectaccessreviews"],
     "verbs":["create"]},
     {"apiGroups":["rbac.authorization.k8s.io"],"resources":["rolebindings","roles"],
     "verbs":["create","delete","deletecollection","get","list","patch","update",
     "watch"]}])", "", "admin"},
    {"system:aggregate-to-edit",
     R"([{"apiGroups":[""],"resources":["pods/attach","pods/exec","pods/portforward","pods/proxy",
     "secrets","services/proxy"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["serviceaccounts"],"verbs":["impersonate"]},
     {"apiGroups":[""],"resources":["pods","pods/attach","pods/exec","pods/portforward",
     "pods/proxy"],"verbs":["create","delete","deletecollection","patch","update"]},
     {"apiGroups":[""],"resources":["pods/eviction"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["configmaps","persistentvolumeclaims","replicationcontrollers",
     "replicationcontrollers/scale","secrets","serviceaccounts","services","services/proxy"],
     "verbs":["create","delete","deletecollection","patch","update"]},
     {"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","delete",
     "deletecollection","patch","update"]},
     {"apiGroups":["apps"],"resources":["daemonsets","deployments","deployments/rollback",
     "deployments/scale","replicasets","replicasets/scale","statefulsets","statefulsets/scale"],
     "verbs":["create","delete","deletecollection","patch","update"]},
     {"apiGroups":["autoscaling"],"resources":["horizontalpodautoscalers"],"verbs":["create",
     "delete","deletecollection","patch","update"]},
     {"apiGroups":["batch"],"resources":["cronjobs","jobs"],"verbs":["create","delete",
     "deletecollection","patch","update"]},
     {"apiGroups":["extensions"],"resources":["daemonsets","deployments","deployments/rollback",
     "deployments/scale","ingresses","networkpolicies","replicasets","replicasets/scale",
     "replicationcontrollers/scale"],"verbs":["create","delete","deletecollection","patch",
     "update"]},
     {"apiGroups":["policy"],"resources":["poddisruptionbudgets"],"verbs":["create","delete",
     "deletecollection","patch","update"]},
     {"apiGroups":["networking.k8s.io"],"resources":["ingresses","networkpolicies"],
     "verbs":["create","delete","deletecollection","patch","update"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create","delete",
     "deletecollection","get","list","patch","update","watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims","resourceclaimtemplates"],
     "verbs":["create","delete","deletecollection","patch","update"]}])", "", "edit"},
    {"system:aggregate-to-view",
     R"([{"apiGroups":[""],"resources":["configmaps","endpoints","persistentvolumeclaims",
     "persistentvolumeclaims/status","pods","replicationcontrollers",
     "replicationcontrollers/scale","serviceaccounts","services","services/status"],"verbs":["get",
     "list","watch"]},
     {"apiGroups":[""],"resources":["bindings","limitranges","namespaces/status","pods/log",
     "pods/status","replicationcontrollers/status","resourcequotas","resourcequotas/status"],
     "verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["namespaces"],"verbs":["get","list","watch"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["get","list","watch"]},
     {"apiGroups":["discovery.k8s.io"],"resources":["endpointslices"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["apps"],"resources":["controllerrevisions","daemonsets","daemonsets/status",
     "deployments","deployments/scale","deployments/status","replicasets","replicasets/scale",
     "replicasets/status","statefulsets","statefulsets/scale","statefulsets/status"],
     "verbs":["get","list","watch"]},
     {"apiGroups":["autoscaling"],"resources":["horizontalpodautoscalers",
     "horizontalpodautoscalers/status"],"verbs":["get","list","watch"]},
     {"apiGroups":["batch"],"resources":["cronjobs","cronjobs/status","jobs","jobs/status"],
     "verbs":["get","list","watch"]},
     {"apiGroups":["extensions"],"resources":["daemonsets","daemonsets/status","deployments",
     "deployments/scale","deployments/status","ingresses","ingresses/status","networkpolicies",
     "replicasets","replicasets/scale","replicasets/status","replicationcontrollers/scale"],
     "verbs":["get","list","watch"]},
     {"apiGroups":["policy"],"resources":["poddisruptionbudgets","poddisruptionbudgets/status"],
     "verbs":["get","list","watch"]},
     {"apiGroups":["networking.k8s.io"],"resources":["ingresses","ingresses/status",
     "networkpolicies"],"verbs":["get","list","watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims","resourceclaims/status",
     "resourceclaimtemplates"],"verbs":["get","list","watch"]}])", "", "view"},
    {"system:auth-delegator",
     R"([{"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"],"verbs":["create"]},
     {"apiGroups":["authorization.k8s.io"],"resources":["subjectaccessreviews"],
     "verbs":["create"]}])"},
    {"system:basic-user",
     R"([{"apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews",
     "selfsubjectrulesreviews"],"verbs":["create"]},
     {"apiGroups":["authentication.k8s.io"],"resources":["selfsubjectreviews"],
     "verbs":["create"]}])"},
    {"system:certificates.k8s.io:certificatesigningrequests:nodeclient",
     R"([{"apiGroups":["certificates.k8s.io"],
     "resources":["certificatesigningrequests/nodeclient"],"verbs":["create"]}])"},
    {"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
     R"([{"apiGroups":["certificates.k8s.io"],
     "resources":["certificatesigningrequests/selfnodeclient"],"verbs":["create"]}])"},
    {"system:certificates.k8s.io:kube-apiserver-client-approver",
     R"([{"apiGroups":["certificates.k8s.io"],"resources":["signers"],
     "resourceNames":["kubernetes.io/kube-apiserver-client"],"verbs":["approve"]}])"},
    {"system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
     R"([{"apiGroups":["certificates.k8s.io"],"resources":["signers"],
     "resourceNames":["kubernetes.io/kube-apiserver-client-kubelet"],"verbs":["approve"]}])"},
    {"system:certificates.k8s.io:kubelet-serving-approver",
     R"([{"apiGroups":["certificates.k8s.io"],"resources":["signers"],
     "resourceNames":["kubernetes.io/kubelet-serving"],"verbs":["approve"]}])"},
    {"system:certificates.k8s.io:legacy-unknown-approver",
     R"([{"apiGroups":["certificates.k8s.io"],"resources":["signers"],
     "resourceNames":["kubernetes.io/legacy-unknown"],"verbs":["approve"]}])"},
    {"system:discovery",
     R"([{"nonResourceURLs":["/api","/api/*","/apis","/apis/*","/healthz","/livez","/openapi",
     "/openapi/*","/readyz","/version","/version/"],"verbs":["get"]}])"},
    {"system:heapster",
     R"([{"apiGroups":[""],"resources":["events","namespaces","nodes","pods"],"verbs":["get",
     "list","watch"]},
     {"apiGroups":["extensions"],"resources":["deployments"],"verbs":["get","list","watch"]}])"},
    {"system:kube-aggregator",
     R"([{"apiGroups":[""],"resources":["endpoints","services"],"verbs":["get","list",
     "watch"]}])"},
    {"system:kube-controller-manager",
     R"([{"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch",
     "update"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],
     "resourceNames":["kube-controller-manager"],"verbs":["get","update"]},
     {"apiGroups":[""],"resources":["secrets","serviceaccounts"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["secrets"],"verbs":["delete"]},
     {"apiGroups":[""],"resources":["configmaps","namespaces","secrets","serviceaccounts"],
     "verbs":["get"]},
     {"apiGroups":[""],"resources":["secrets","serviceaccounts"],"verbs":["update"]},
     {"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"],"verbs":["create"]},
     {"apiGroups":["authorization.k8s.io"],"resources":["subjectaccessreviews"],
     "verbs":["create"]},
     {"apiGroups":["*"],"resources":["*"],"verbs":["list","watch"]},
     {"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]}])"},
    {"system:kube-dns",
     R"([{"apiGroups":[""],"resources":["endpoints","services"],"verbs":["list","watch"]}])"},
    {"system:kube-scheduler",
     R"([{"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch",
     "update"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],
     "resourceNames":["kube-scheduler"],"verbs":["get","list","update","watch"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leasecandidates"],"verbs":["create",
     "delete","deletecollection","get","list","patch","update","watch"]},
     {"apiGroups":[""],"resources":["nodes"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["pods"],"verbs":["delete","get","list","watch"]},
     {"apiGroups":[""],"resources":["bindings","pods/binding"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["pods/status"],"verbs":["patch","update"]},
     {"apiGroups":[""],"resources":["replicationcontrollers","services"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["apps","extensions"],"resources":["replicasets"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["apps"],"resources":["statefulsets"],"verbs":["get","list","watch"]},
     {"apiGroups":["policy"],"resources":["poddisruptionbudgets"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["persistentvolumeclaims","persistentvolumes"],"verbs":["get",
     "list","watch"]},
     {"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"],"verbs":["create"]},
     {"apiGroups":["authorization.k8s.io"],"resources":["subjectaccessreviews"],
     "verbs":["create"]},
     {"apiGroups":["storage.k8s.io"],"resources":["csinodes"],"verbs":["get","list","watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["volumeattachments"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":[""],"resources":["namespaces"],"verbs":["get","list","watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["csidrivers"],"verbs":["get","list","watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["csistoragecapacities"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["deviceclasses"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims"],"verbs":["get","list","patch",
     "update","watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims/status"],"verbs":["get","list",
     "patch","update","watch"]},
     {"apiGroups":[""],"resources":["pods/finalizers"],"verbs":["update"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceslices"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims"],"verbs":["create","delete"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims/binding"],"verbs":["patch",
     "update"]}])"},
    {"system:kubelet-api-admin",
     R"([{"apiGroups":[""],"resources":["nodes"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["nodes"],"verbs":["proxy"]},
     {"apiGroups":[""],"resources":["nodes/log","nodes/metrics","nodes/proxy","nodes/stats"],
     "verbs":["*"]},
     {"apiGroups":[""],"resources":["nodes/configz","nodes/healthz","nodes/pods"],
     "verbs":["*"]}])"},
    {"system:monitoring",
     R"([{"nonResourceURLs":["/flagz","/healthz","/healthz/*","/livez","/livez/*","/metrics",
     "/metrics/slis","/readyz","/readyz/*","/statusz"],"verbs":["get"]},
     {"apiGroups":[""],"resources":["nodes/metrics"],"verbs":["get"]}])"},
    {"system:node",
     R"([{"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"],"verbs":["create"]},
     {"apiGroups":["authorization.k8s.io"],"resources":["localsubjectaccessreviews",
     "subjectaccessreviews"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["services"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["nodes"],"verbs":["create","get","list","watch"]},
     {"apiGroups":[""],"resources":["nodes/status"],"verbs":["patch","update"]},
     {"apiGroups":[""],"resources":["nodes"],"verbs":["patch","update"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch","update"]},
     {"apiGroups":[""],"resources":["pods"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["pods"],"verbs":["create","delete"]},
     {"apiGroups":[""],"resources":["pods/status"],"verbs":["patch","update"]},
     {"apiGroups":[""],"resources":["pods/eviction"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["configmaps","secrets"],"verbs":["get","list","watch"]},
     {"apiGroups":[""],"resources":["persistentvolumeclaims","persistentvolumes"],"verbs":["get"]},
     {"apiGroups":[""],"resources":["endpoints"],"verbs":["get"]},
     {"apiGroups":["certificates.k8s.io"],"resources":["certificatesigningrequests"],
     "verbs":["create","get","list","watch"]},
     {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create","delete","get",
     "patch","update"]},
     {"apiGroups":["storage.k8s.io"],"resources":["volumeattachments"],"verbs":["get"]},
     {"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]},
     {"apiGroups":[""],"resources":["persistentvolumeclaims/status"],"verbs":["get","patch",
     "update"]},
     {"apiGroups":["storage.k8s.io"],"resources":["csidrivers"],"verbs":["get","list","watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["csinodes"],"verbs":["create","delete","get",
     "patch","update"]},
     {"apiGroups":["node.k8s.io"],"resources":["runtimeclasses"],"verbs":["get","list","watch"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceclaims"],"verbs":["get"]},
     {"apiGroups":["resource.k8s.io"],"resources":["resourceslices"],"verbs":["deletecollection"]},
     {"apiGroups":[""],"resources":["serviceaccounts"],"verbs":["get"]}])"},
    {"system:node-bootstrapper",
     R"([{"apiGroups":["certificates.k8s.io"],"resources":["certificatesigningrequests"],
     "verbs":["create","get","list","watch"]}])"},
    {"system:node-problem-detector",
     R"([{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]},
     {"apiGroups":[""],"resources":["nodes/status"],"verbs":["patch"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch",
     "update"]}])"},
    {"system:node-proxier",
     R"([{"apiGroups":[""],"resources":["endpoints","services"],"verbs":["list","watch"]},
     {"apiGroups":[""],"resources":["nodes"],"verbs":["get","list","watch"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch","update"]},
     {"apiGroups":["networking.k8s.io"],"resources":["servicecidrs"],"verbs":["list","watch"]},
     {"apiGroups":["discovery.k8s.io"],"resources":["endpointslices"],"verbs":["list",
     "watch"]}])"},
    {"system:persistent-volume-provisioner",
     R"([{"apiGroups":[""],"resources":["persistentvolumes"],"verbs":["create","delete","get",
     "list","watch"]},
     {"apiGroups":[""],"resources":["persistentvolumeclaims"],"verbs":["get","list","update",
     "watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["storageclasses"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":[""],"resources":["events"],"verbs":["watch"]},
     {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch",
     "update"]}])"},
    {"system:public-info-viewer",
     R"([{"nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"],
     "verbs":["get"]}])"},
    {"system:service-account-issuer-discovery",
     R"([{"nonResourceURLs":["/.well-known/openid-configuration",
     "/.well-known/openid-configuration/","/openid/v1/jwks","/openid/v1/jwks/"],
     "verbs":["get"]}])"},
    {"system:volume-scheduler",
     R"([{"apiGroups":[""],"resources":["persistentvolumes"],"verbs":["get","list","patch",
     "update","watch"]},
     {"apiGroups":["storage.k8s.io"],"resources":["storageclasses"],"verbs":["get","list",
     "watch"]},
     {"apiGroups":[""],"resources":["persistentvolumeclaims"],"verbs":["get","list","patch",
     "update","watch"]}])"},
    {"view", "", "view", "edit"},
};

struct Binding {
  const char* name;      ///< also the name of the role
  const char* subjects;  ///< a list in JSON
};

constexpr Binding kBindings[] = {
    {"cluster-admin", R"([{"kind":"Group","name":"system:masters"}])"},
    {"system:basic-user", R"([{"kind":"Group","name":"system:authenticated"}])"},
    {"system:discovery", R"([{"kind":"Group","name":"system:authenticated"}])"},
    {"system:kube-controller-manager",
     R"([{"kind":"User","name":"system:kube-controller-manager"}])"},
    {"system:kube-dns",
     R"([{"kind":"ServiceAccount","name":"kube-dns","namespace":"kube-system"}])"},
    {"system:kube-scheduler", R"([{"kind":"User","name":"system:kube-scheduler"}])"},
    {"system:monitoring", R"([{"kind":"Group","name":"system:monitoring"}])"},
    {"system:node", R"([])"},
    {"system:node-proxier", R"([{"kind":"User","name":"system:kube-proxy"}])"},
    {"system:public-info-viewer",
     R"([{"kind":"Group","name":"system:authenticated"},
     {"kind":"Group","name":"system:unauthenticated"}])"},
    {"system:service-account-issuer-discovery",
     R"([{"kind":"Group","name":"system:serviceaccounts"}])"},
    {"system:volume-scheduler", R"([{"kind":"User","name":"system:kube-scheduler"}])"},
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
        role.gathers[0] != '\0' ? gathered_rules(role.gathers) : Value{*parse_json(role.rules)};
    for (const Value& rule : inner.as_array()) rules.push_back(rule);
  }
  return rules;
}

Value role_object(const Role& role) {
  Value object = rbac_object("ClusterRole", role.name);
  const std::string prefix = std::string{kRbac} + "/aggregate-to-";
  if (role.gathered_by[0] != '\0') object["metadata"]["labels"][prefix + role.gathered_by] = "true";
  if (role.gathers[0] == '\0') {
    object["rules"] = Value{*parse_json(role.rules)};
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
  const Ref<Value> given = parse_json(binding.subjects);
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
