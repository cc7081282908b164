// SPDX-License-Identifier: Apache-2.0
// Admission plugins that are enabled by default on a real server.
#include <gtest/gtest.h>

#include "two_servers.hpp"

namespace kube::testing_support {
namespace {

std::string pod(const std::string& resources, const std::string& spec = "") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec +
         "containers: [{name: c, image: 'i:1', resources: {" + resources + "}}]}}";
}

std::string limit_range(const std::string& limits) {
  return "{apiVersion: v1, kind: LimitRange, metadata: {name: bounds}, spec: {limits: [" + limits +
         "]}}";
}

// AD-1
TEST(LimitRanges, SetMissingRequestsAndLimits) {
  Asked api;
  api.create(
      limit_range("{type: Container, default: {cpu: 500m, memory: 64Mi}, "
                  "defaultRequest: {cpu: 100m}}"));
  const std::string manifest =
      pod("requests: {memory: 32Mi}", "initContainers: [{name: i, image: 'i:1'}], ");

  EXPECT_EQ(api.admitted(manifest, "spec.containers[0].resources",
                         R"({"limits":{"cpu":"500m","memory":"64Mi"},)"
                         R"("requests":{"cpu":"100m","memory":"32Mi"}})"),
            R"({"limits":{"cpu":"500m","memory":"64Mi"},)"
            R"("requests":{"cpu":"100m","memory":"32Mi"}})");
  const Ref<Value> made = api.create(manifest, true);
  EXPECT_EQ((*made)["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
            Value{"LimitRanger plugin set: cpu request for container c; cpu, memory limit for "
                  "container c; cpu, memory request for init container i; cpu, memory limit for "
                  "init container i"});
  EXPECT_EQ(Asked::text(*made, "status.qosClass"), "Burstable");
}

// AD-2
TEST(LimitRanges, RefuseContainersThatAreTooSmallOrTooLarge) {
  Asked api;
  api.create(
      limit_range("{type: Container, min: {memory: 16Mi}, max: {cpu: '1'}, default: {cpu: '1'}, "
                  "maxLimitRequestRatio: {cpu: '2'}}"));
  const auto refusal = [&](const std::string& resources, const std::string& why) {
    const std::string expected = "pods \"p\" is forbidden: " + why;
    EXPECT_EQ(api.refusal(pod(resources), expected), expected);
  };

  refusal("requests: {memory: 8Mi}",
          "minimum memory usage per Container is 16Mi, but request is 8Mi");
  refusal("limits: {memory: 8Mi}",
          "minimum memory usage per Container is 16Mi, but request is 8Mi");
  refusal("limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}",
          "maximum cpu usage per Container is 1, but limit is 2");
  refusal("requests: {cpu: 400m}, limits: {cpu: '1'}",
          "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000");
  EXPECT_EQ(api.refusal(pod("requests: {cpu: 500m}, limits: {cpu: '1'}"), ""), "");
}

// AD-2
TEST(LimitRanges, RefusePodsThatAreTooSmallOrTooLarge) {
  Asked api;
  api.create(limit_range("{type: Pod, min: {memory: 16Mi}, max: {cpu: '1'}}"));
  const auto refusal = [&](const std::string& resources, const std::string& why) {
    const std::string expected = "pods \"p\" is forbidden: " + why;
    EXPECT_EQ(api.refusal(pod(resources,
                              "initContainers: [{name: i, image: 'i:1', resources: "
                              "{limits: {cpu: 100m}}}], "),
                          expected),
              expected);
  };

  refusal("limits: {cpu: 500m}", "minimum memory usage per Pod is 16Mi.  No request is specified");
  refusal("limits: {cpu: '2', memory: 1Gi}", "maximum cpu usage per Pod is 1, but limit is 2");
  EXPECT_EQ(api.refusal(pod("limits: {cpu: '1', memory: 1Gi}"), ""), "");
}

// AD-2
TEST(LimitRanges, BoundClaims) {
  Asked api;
  api.create(
      limit_range("{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 2Gi}}"));
  const auto refusal = [&](const std::string& size, const std::string& why) {
    const std::string claim =
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim}, spec: "
        "{accessModes: [ReadWriteOnce], resources: {requests: {storage: " +
        size + "}}}}";
    const std::string expected =
        why.empty() ? "" : "persistentvolumeclaims \"claim\" is forbidden: " + why;
    EXPECT_EQ(api.refusal(claim, expected), expected);
  };

  refusal("512Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi");
  refusal("3Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi");
  refusal("2Gi", "");
}

// AD-3
TEST(PriorityClasses, DetermineThePriorityOfPods) {
  Asked api;
  const std::string name = api.server.space() + "-high";
  api.server.load_yaml("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " +
                       name + "}, value: 1000, preemptionPolicy: Never}");
  const std::string manifest = pod("", "priorityClassName: " + name + ", ");

  EXPECT_EQ(api.refusal(manifest, ""), "");
  const Ref<Value> made = api.create(manifest, true);
  EXPECT_EQ((*made)["spec"]["priority"], Value{1000});
  EXPECT_EQ(Asked::text(*made, "spec.preemptionPolicy"), "Never");
  EXPECT_EQ(api.refusal(pod("", "priorityClassName: none, "),
                        "pods \"p\" is forbidden: no PriorityClass with name none was found"),
            "pods \"p\" is forbidden: no PriorityClass with name none was found");
  const std::string generated =
      "pods \"web-\" is forbidden: no PriorityClass with name none was found";
  EXPECT_EQ(api.refusal("{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, spec: "
                        "{priorityClassName: none, containers: [{name: c, image: i}]}}",
                        generated),
            generated);
  const std::string own =
      "pods \"p\" is forbidden: the integer value of priority (5) must not be provided in pod "
      "spec; priority admission controller computed 0 from the given PriorityClass name";
  EXPECT_EQ(api.refusal(pod("", "priority: 5, "), own), own);
}

// AD-3
TEST(PriorityClasses, HaveOneDefault) {
  Asked api;
  const std::string name = api.server.space() + "-usual";
  const auto manifest = [](const std::string& of) {
    return "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + of +
           "}, value: 7, globalDefault: true}";
  };
  api.server.load_yaml(manifest(name));

  EXPECT_EQ(api.admitted(pod(""), "spec.priority", "7"), "7");
  EXPECT_EQ(Asked::text(*api.create(pod(""), true), "spec.priorityClassName"), name);
  const std::string expected =
      "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass " + name +
      " is already marked as default. Only one default can exist";
  EXPECT_EQ(api.refusal(manifest("other"), expected), expected);
}

// AD-4
TEST(RuntimeClasses, DetermineOverheadAndNodesOfPods) {
  Asked api;
  const std::string name = api.server.space() + "-boxed";
  api.server.load_yaml(
      "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: " + name +
      "}, handler: h, overhead: {podFixed: {cpu: 100m}}, scheduling: {nodeSelector: {box: 'yes'}, "
      "tolerations: [{key: box, operator: Exists}]}}");
  const std::string with_class = "runtimeClassName: " + name + ", ";

  EXPECT_EQ(api.refusal(pod("", with_class), ""), "");
  const Ref<Value> made = api.create(pod("", with_class + "nodeSelector: {a: b}, "), true);
  EXPECT_EQ(encode_json((*made)["spec"]["overhead"]), R"({"cpu":"100m"})");
  EXPECT_EQ(encode_json((*made)["spec"]["nodeSelector"]), R"({"a":"b","box":"yes"})");
  EXPECT_EQ((*made)["spec"]["tolerations"].size(), 3U);
  const auto refusal = [&](const std::string& spec, const std::string& why) {
    const std::string expected = "pods \"p\" is forbidden: " + why;
    EXPECT_EQ(api.refusal(pod("", spec), expected), expected);
  };
  refusal("runtimeClassName: none, ", "pod rejected: RuntimeClass \"none\" not found");
  refusal("overhead: {cpu: 1m}, ",
          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  refusal(with_class + "overhead: {cpu: 1m}, ",
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  refusal(with_class + "nodeSelector: {box: 'no'}, ",
          "conflict: runtimeClass.scheduling.nodeSelector[box] = yes; pod.spec.nodeSelector[box] = "
          "no");
}

// AD-5
TEST(DefaultClasses, AreGivenToClaimsAndIngresses) {
  Asked api;
  const std::string name = api.server.space() + "-usual";
  api.server.load_yaml(
      "{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p.example.com, metadata: "
      "{name: " +
      name + ", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}}");
  api.server.load_yaml(
      "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: " + name +
      ", annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}}, spec: {controller: "
      "example.com/c}}");
  const auto claim = [](const std::string& spec) {
    return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim}, spec: {" + spec +
           "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
  };

  const std::string quoted = '"' + name + '"';
  EXPECT_EQ(api.admitted(claim(""), "spec.storageClassName", quoted), quoted);
  EXPECT_EQ(api.admitted(claim("storageClassName: '', "), "spec.storageClassName", R"("")"),
            R"("")");
  EXPECT_EQ(
      api.admitted("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: "
                   "{defaultBackend: {service: {name: s, port: {number: 80}}}}}",
                   "spec.ingressClassName", quoted),
      quoted);
}

}  // namespace
}  // namespace kube::testing_support
