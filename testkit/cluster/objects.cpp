// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/objects.hpp"

#include <set>
#include <utility>

#include "testkit/cluster/roles.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {
namespace {

constexpr const char* kObjects[] = {
    R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default",
    "labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"type":"ClusterIP",
    "clusterIP":"10.96.0.1","clusterIPs":["10.96.0.1"],"ipFamilies":["IPv4"],
    "ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","sessionAffinity":"None",
    "ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":6443}]},
    "status":{"loadBalancer":{}}})",
    R"({"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"kubernetes",
    "finalizers":["networking.k8s.io/service-cidr-finalizer"]},"spec":{"cidrs":["10.96.0.0/12"]},
    "status":{"conditions":[{"type":"Ready","status":"True","reason":"","message":""}]}})",
    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":
    "system-cluster-critical"},"value":2000000000,"preemptionPolicy":"PreemptLowerPriority",
    "description":"Pods that the cluster cannot do without, on whatever node."})",
    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":
    "system-node-critical"},"value":2000001000,"preemptionPolicy":"PreemptLowerPriority",
    "description":"Pods that their node cannot do without."})",
};

Value api_service(const std::string& group, const std::string& version) {
  // The core group is preferred by kubectl; the numbers only define an order.
  const int priority = group.empty() ? 18000 : 17000;
  Value object = *parse_json(
      R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"labels":{
      "kube-aggregator.kubernetes.io/automanaged":"onstart"}},"spec":{},"status":{"conditions":[{
      "type":"Available","status":"True","reason":"Local","message":
      "Local APIServices are always available"}]}})");
  object["metadata"]["name"] = version + '.' + group;
  if (!group.empty()) object["spec"]["group"] = group;
  object["spec"]["version"] = version;
  object["spec"]["groupPriorityMinimum"] = priority;
  object["spec"]["versionPriority"] = version.find("alpha") != std::string::npos  ? 1
                                      : version.find("beta") != std::string::npos ? 9
                                                                                  : 15;
  return object;
}

}  // namespace

std::vector<Value> cluster_objects(const Catalog& catalog) {
  std::vector<Value> objects;
  for (const char* text : kObjects) objects.push_back(*parse_json(text));
  for (Value& object : default_cluster_roles()) objects.push_back(std::move(object));
  std::set<std::pair<std::string, std::string>> versions;
  for (const ResourcePtr& resource : catalog.all()) {
    if (!resource->is_custom()) versions.emplace(resource->group, resource->version);
  }
  for (const auto& [group, version] : versions) objects.push_back(api_service(group, version));
  return objects;
}

std::vector<Value> namespace_objects(std::string_view namespace_, std::string_view ca_pem) {
  const auto named = [&](const char* kind, const char* name) {
    return Value::object(
        {{"apiVersion", "v1"},
         {"kind", kind},
         {"metadata", Value::object({{"name", name}, {"namespace", namespace_}})}});
  };
  Value certificates = named("ConfigMap", "kube-root-ca.crt");
  certificates["data"]["ca.crt"] = ca_pem;
  return {named("ServiceAccount", "default"), std::move(certificates)};
}

std::vector<Value> server_endpoints(std::string_view address, int port) {
  Value slice = *parse_json(
      R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"kubernetes",
      "namespace":"default","labels":{"kubernetes.io/service-name":"kubernetes"}}})");
  slice["addressType"] = address.find(':') != std::string_view::npos ? "IPv6" : "IPv4";
  slice["endpoints"] = Value::array({Value::object(
      {{"addresses", Value::array({address})}, {"conditions", Value::object({{"ready", true}})}})});
  const Value ports =
      Value::array({Value::object({{"name", "https"}, {"protocol", "TCP"}, {"port", port}})});
  slice["ports"] = ports;
  Value endpoints = *parse_json(
      R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"kubernetes",
      "namespace":"default","labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}})");
  endpoints["subsets"] = Value::array({Value::object(
      {{"addresses", Value::array({Value::object({{"ip", address}})})}, {"ports", ports}})});
  return {std::move(slice), std::move(endpoints)};
}

}  // namespace kube::testkit::detail
