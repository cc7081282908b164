// SPDX-License-Identifier: Apache-2.0
// Resource quotas. A bare API server has no quota controller; the tests write the usage themselves
// there.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <utility>

#include "two_servers.hpp"

namespace kube::testing_support {
namespace {

const GroupVersionResource kQuotas{"", "v1", "resourcequotas"};

using Limits = std::map<std::string, std::string>;

/// A server with quotas whose usage is initially zero.
class Limited : public Asked {
 public:
  using Asked::Asked;

  void limit(const std::string& name, const Limits& hard, const std::string& more = "") {
    std::string text;
    for (const auto& [resource, amount] : hard) {
      text += (text.empty() ? "" : ", ") + resource + ": '" + amount + "'";
    }
    create("{apiVersion: v1, kind: ResourceQuota, metadata: {name: " + name + "}, spec: {hard: {" +
           text + "}" + more + "}}");
    if (!server.is_real()) return;
    Value status = Value::object();
    for (const auto& [resource, amount] : hard) {
      status["hard"][resource] = amount;
      status["used"][resource] = "0";
    }
    client.dynamic(kQuotas, server.space())
        .patch(name, PatchType::kMerge, encode_json(Value::object({{"status", status}})), {},
               "status");
  }
  [[nodiscard]] std::string used(const std::string& name) {
    return encode_json((*server.find(kQuotas, server.space(), name))["status"]["used"]);
  }
  std::string pod(const std::string& name, const std::string& resources,
                  const std::string& spec = "") {
    return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {" + spec +
           "containers: [{name: c, image: 'i:1', resources: {" + resources + "}}]}}";
  }
};

void expect_refusal(Limited& api, const std::string& yaml, const std::string& expected) {
  EXPECT_EQ(api.refusal(yaml, expected), expected);
}

// AD-7
TEST(ResourceQuotas, RejectRequestsThatExceedThem) {
  Limited api;
  api.limit("compute", {{"pods", "2"}, {"requests.cpu", "1"}, {"limits.memory", "1Gi"}});
  const std::string fits = "requests: {cpu: 600m}, limits: {memory: 256Mi}";
  expect_refusal(api, api.pod("big", "requests: {cpu: 2}, limits: {memory: 2Gi}"),
                 "pods \"big\" is forbidden: exceeded quota: compute, requested: "
                 "limits.memory=2Gi,requests.cpu=2, used: limits.memory=0,requests.cpu=0, limited: "
                 "limits.memory=1Gi,requests.cpu=1");
  expect_refusal(api, api.pod("silent", ""),
                 "pods \"silent\" is forbidden: failed quota: compute: must specify limits.memory "
                 "for: c; requests.cpu for: c");

  api.create(api.pod("first", fits));

  EXPECT_EQ(api.used("compute"), R"({"limits.memory":"256Mi","pods":"1","requests.cpu":"600m"})");
  expect_refusal(api, api.pod("second", fits),
                 "pods \"second\" is forbidden: exceeded quota: compute, requested: "
                 "requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1");
  // The quota is checked before the name conflict.
  expect_refusal(api, api.pod("first", fits),
                 "pods \"first\" is forbidden: exceeded quota: compute, requested: "
                 "requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1");
}

// AD-7
TEST(ResourceQuotas, CountObjects) {
  Limited api;
  api.limit("objects", {{"configmaps", "1"},
                        {"services", "5"},
                        {"services.nodeports", "1"},
                        {"services.loadbalancers", "0"},
                        {"count/deployments.apps", "0"},
                        {"persistentvolumeclaims", "3"},
                        {"requests.storage", "2Gi"},
                        {"fast.storageclass.storage.k8s.io/requests.storage", "1Gi"}});
  const auto service = [](const std::string& spec) {
    return "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {" + spec + "}}";
  };
  const auto claim = [](const std::string& name, const std::string& size,
                        const std::string& spec = "") {
    return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + "}, spec: {" +
           spec + "accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}}}";
  };
  const std::string map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}";

  expect_refusal(api, service("type: NodePort, ports: [{name: a, port: 1}, {name: b, port: 2}]"),
                 "services \"s\" is forbidden: exceeded quota: objects, requested: "
                 "services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1");
  expect_refusal(
      api, service("type: LoadBalancer, ports: [{port: 1}]"),
      "services \"s\" is forbidden: exceeded quota: objects, requested: services.loadbalancers=1, "
      "used: services.loadbalancers=0, limited: services.loadbalancers=0");
  expect_refusal(api, service("ports: [{port: 1}]"), "");
  expect_refusal(
      api,
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: "
      "{a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}}}",
      "deployments.apps \"d\" is forbidden: exceeded quota: objects, requested: "
      "count/deployments.apps=1, used: count/deployments.apps=0, limited: "
      "count/deployments.apps=0");
  expect_refusal(api, claim("large", "3Gi"),
                 "persistentvolumeclaims \"large\" is forbidden: exceeded quota: objects, "
                 "requested: requests.storage=3Gi, used: requests.storage=0, limited: "
                 "requests.storage=2Gi");
  expect_refusal(
      api, claim("fast", "2Gi", "storageClassName: fast, "),
      "persistentvolumeclaims \"fast\" is forbidden: exceeded quota: objects, requested: "
      "fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: "
      "fast.storageclass.storage.k8s.io/requests.storage=0, limited: "
      "fast.storageclass.storage.k8s.io/requests.storage=1Gi");
  api.create(map);
  expect_refusal(api, map,
                 "configmaps \"m\" is forbidden: exceeded quota: objects, requested: configmaps=1, "
                 "used: configmaps=1, limited: configmaps=1");
}

// AD-7: of alternatives, the one with the most devices of a class counts.
TEST(ResourceQuotas, CountDevicesByClass) {
  Limited api;
  api.limit("devices", {{"gold.deviceclass.resource.k8s.io/devices", "3"},
                        {"tin.deviceclass.resource.k8s.io/devices", "31"}});
  const auto claim = [](const std::string& name, const std::string& request) {
    return "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: " + name +
           "}, spec: {devices: {requests: [{name: r, " + request + "}]}}}";
  };

  api.create(claim("one", "exactly: {deviceClassName: gold}"));

  EXPECT_EQ(api.used("devices"), R"({"gold.deviceclass.resource.k8s.io/devices":"1",)"
                                 R"("tin.deviceclass.resource.k8s.io/devices":"0"})");
  expect_refusal(api,
                 claim("any",
                       "firstAvailable: [{name: a, deviceClassName: gold, count: 3}, "
                       "{name: b, deviceClassName: gold}]"),
                 "resourceclaims.resource.k8s.io \"any\" is forbidden: exceeded quota: devices, "
                 "requested: gold.deviceclass.resource.k8s.io/devices=3, used: "
                 "gold.deviceclass.resource.k8s.io/devices=1, limited: "
                 "gold.deviceclass.resource.k8s.io/devices=3");
  expect_refusal(api, claim("all", "exactly: {deviceClassName: tin, allocationMode: All}"),
                 "resourceclaims.resource.k8s.io \"all\" is forbidden: exceeded quota: devices, "
                 "requested: tin.deviceclass.resource.k8s.io/devices=32, used: "
                 "tin.deviceclass.resource.k8s.io/devices=0, limited: "
                 "tin.deviceclass.resource.k8s.io/devices=31");
}

// AD-7
TEST(ResourceQuotas, CanBeScopedToSomePods) {
  Limited api;
  api.limit("best-effort", {{"pods", "0"}}, ", scopes: [BestEffort]");
  api.limit("ending", {{"pods", "0"}}, ", scopes: [Terminating, NotBestEffort]");
  api.limit("critical", {{"pods", "0"}},
            ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: "
            "[system-node-critical]}]}");
  const auto refusal = [](const std::string& quota) {
    return "pods \"p\" is forbidden: exceeded quota: " + quota +
           ", requested: pods=1, used: pods=0, limited: pods=0";
  };

  expect_refusal(api, api.pod("p", ""), refusal("best-effort"));
  expect_refusal(api, api.pod("p", "requests: {cpu: 1}"), "");
  expect_refusal(api, api.pod("p", "requests: {cpu: 1}", "activeDeadlineSeconds: 5, "),
                 refusal("ending"));
  expect_refusal(api,
                 api.pod("p", "requests: {cpu: 1}", "priorityClassName: system-node-critical, "),
                 refusal("critical"));
}

}  // namespace
}  // namespace kube::testing_support
