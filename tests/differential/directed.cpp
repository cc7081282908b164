// SPDX-License-Identifier: Apache-2.0
// Requests for known differences that random requests would trigger too rarely.
#include "generator.hpp"

#include <fmt/format.h>

#include <utility>

namespace kube::differential {

std::vector<Request> Generator::directed() const {
  std::vector<Request> result;
  const auto add = [&](std::string_view label, std::string_view method, std::string_view path,
                       std::string_view type, std::string body, std::string_view accept = "") {
    result.push_back({.label = std::string{label},
                      .method = std::string{method},
                      .path = fmt::format(fmt::runtime(path), space_),
                      .content_type = std::string{type},
                      .accept = std::string{accept},
                      .body = std::move(body)});
  };
  constexpr const char* kJson = "application/json";
  constexpr const char* kMerge = "application/merge-patch+json";
  constexpr const char* kStrategic = "application/strategic-merge-patch+json";
  constexpr const char* kApply = "application/apply-patch+yaml";

  // Pods with a duplicate port; then a new container that contains a directive.
  add("create pods", "POST", "/api/v1/namespaces/{}/pods", kJson,
      R"({"metadata":{"name":"x"},"spec":{"containers":[
          {"name":"a","image":"i","ports":[{"containerPort":80}]},
          {"name":"b","image":"i","ports":[{"containerPort":80}]}]}})");
  add("strategic-patch pods", "PATCH", "/api/v1/namespaces/{}/pods/x", kStrategic,
      R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"$patch":"delete","containerPort":1}]}]}})");
  add("spoiled create pods", "POST", "/api/v1/namespaces/{}/pods", kJson,
      R"({"metadata":{"name":"y"},"spec":{"nodeSelector":{"a":"Not Valid!"},"containers":[{"name":"a","image":"i"}]}})");
  add("spoiled create pods", "POST", "/api/v1/namespaces/{}/pods", kJson,
      R"({"metadata":{"name":"y"},"spec":{"nodeSelector":{"a":"Not Valid!"},"containers":[{"name":"a"}]}})");

  add("status of services", "PUT", "/api/v1/namespaces/{}/services/x/status", kJson,
      R"({"metadata":{"name":"x"},"spec":{"ports":[{"port":80}]}})");
  add("create services", "POST", "/api/v1/namespaces/{}/services", kJson,
      R"({"metadata":{},"spec":{"ports":[{"port":80}]}})");
  add("update leases", "PUT", "/apis/coordination.k8s.io/v1/namespaces/{}/leases/x", kJson,
      R"({"metadata":{"name":"x","deletionTimestamp":"2026-01-01T00:00:00Z"}})");

  add("spoiled create secrets", "POST", "/api/v1/namespaces/{}/secrets", kJson,
      R"({"metadata":{"name":"x"},"data":{"a":[1]}})");
  add("create secrets", "POST", "/api/v1/namespaces/{}/secrets", kJson,
      R"({"metadata":{"name":"y"},"data":{"a":""}})");
  add("spoiled strategic-patch secrets", "PATCH", "/api/v1/namespaces/{}/secrets/y", kStrategic,
      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":true}})");

  add("create daemonsets", "POST", "/apis/apps/v1/namespaces/{}/daemonsets", kJson,
      R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":
          {"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})",
      "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  add("create jobs", "POST", "/apis/batch/v1/namespaces/{}/jobs", kJson,
      R"({"metadata":{"name":"x"},"spec":{"template":{"spec":{"restartPolicy":"Never",
          "containers":[{"name":"a","image":"i"}]}}}})");
  add("status of jobs", "PATCH", "/apis/batch/v1/namespaces/{}/jobs/x/status", kMerge,
      R"({"status":{}})");
  add("create persistentvolumeclaims", "POST", "/api/v1/namespaces/{}/persistentvolumeclaims",
      kJson,
      R"({"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteOnce"],
          "resources":{"requests":{"storage":"1024Mi"}}}})");
  add("merge-patch persistentvolumeclaims", "PATCH",
      "/api/v1/namespaces/{}/persistentvolumeclaims/x", kMerge,
      R"({"metadata":{"annotations":{"a":null}}})");

  const std::string gadget = "/apis/differential.example.com/v1/gadgets/{}-x?fieldManager=m1";
  const auto applied = [&](std::string_view content) {
    return fmt::format(
        R"({{"apiVersion":"differential.example.com/v1","kind":"Gadget","metadata":{{"name":"{0}-x","labels":{{"space":"{0}"}}}},"content":{1}}})",
        space_, content);
  };
  add("apply gadgets", "PATCH", gadget, kApply, applied(R"({"a":"1"})"));
  add("apply gadgets", "PATCH", gadget, kApply, applied("{}"));
  return result;
}

}  // namespace kube::differential
