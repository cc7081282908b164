// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/conditions.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/testkit/api_server.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit {

using namespace std::chrono_literals;

/// A simulated cluster with a fake clock.
class Cluster {
 public:
  explicit Cluster(ApiServerOptions options = {}) : server_(with_clock(std::move(options))) {}

  ApiServer& server() { return server_; }
  FakeClock& clock() { return clock_; }

  /// Creates the objects of a YAML text as a client, and waits until all controllers are idle.
  void apply(std::string_view yaml) {
    for (const Ref<Value>& object : decode_yaml_documents(yaml)) {
      server_.request("POST", collection_of(object->get_string("kind").value_or("")), *object);
    }
    settle();
  }
  /// Merges `yaml` into an object such as "deployments/web".
  void patch(std::string_view object, std::string_view yaml, std::string_view subresource = "") {
    server_.request("PATCH", path_of(object) + std::string{subresource}, *decode_yaml<Value>(yaml),
                    "application/merge-patch+json");
    settle();
  }
  void remove(std::string_view object, std::string_view options = "{}") {
    server_.request("DELETE", path_of(object), *decode_yaml<Value>(options));
    settle();
  }
  void settle() { ASSERT_TRUE(server_.settle()) << "the simulation does not settle"; }
  /// Advances the clock and waits until all controllers are idle.
  void advance(std::chrono::seconds by) {
    clock_.advance(by);
    settle();
  }

  [[nodiscard]] Ref<Value> get(std::string_view object) {
    const std::size_t slash = object.find('/');
    const Place& place = place_of(object.substr(0, slash));
    return server_.find(place.resource, place.namespaced ? "default" : "",
                        object.substr(slash + 1));
  }
  [[nodiscard]] std::vector<Ref<Value>> list(std::string_view plural) {
    const Place& place = place_of(plural);
    return server_.list(place.resource, place.namespaced ? "default" : "");
  }
  /// Returns a field as text: numbers and booleans as JSON, "" if it is absent.
  static std::string text(const Ref<Value>& object, std::string_view path) {
    const Value* found = object ? object->find(path) : nullptr;
    if (found == nullptr) return {};
    return found->is_string() ? std::string{found->as_string()} : encode_json(*found);
  }
  std::string text(std::string_view object, std::string_view path) {
    return text(get(object), path);
  }
  /// Returns a condition as "True MinimumReplicasAvailable Deployment has minimum availability.";
  /// "" if there is none.
  static std::string condition(const Ref<Value>& object, std::string_view type) {
    if (!object) return {};
    for (const Value& one : object->get_array("status.conditions")) {
      if (one.get_string("type") == type) {
        return fmt::format("{} {} {}", one.get_string("status").value_or(""),
                           one.get_string("reason").value_or(""),
                           one.get_string("message").value_or(""));
      }
    }
    return {};
  }
  std::string condition(std::string_view object, std::string_view type) {
    return condition(get(object), type);
  }
  /// Returns the names of all objects, "web-0 web-1".
  std::string names(std::string_view plural) { return join(plural, "metadata.name"); }
  /// Returns one field of all objects, sorted by name.
  std::string join(std::string_view plural, std::string_view path) {
    std::string joined;
    for (const Ref<Value>& object : list(plural)) {
      joined += (joined.empty() ? "" : " ") + text(object, path);
    }
    return joined;
  }
  /// Returns the number of pods per image.
  std::map<std::string, int> images() {
    std::map<std::string, int> counts;
    for (const Ref<Value>& pod : list("pods")) ++counts[text(pod, "spec.containers[0].image")];
    return counts;
  }

 private:
  struct Place {
    std::string kind;
    GroupResource resource;
    std::string version = "v1";
    bool namespaced = true;
  };

  ApiServerOptions with_clock(ApiServerOptions options) {
    options.clock = &clock_;
    options.simulate = true;
    return options;
  }
  static const std::vector<Place>& places() {
    static const std::vector<Place> kPlaces{
        {"Pod", {"", "pods"}},
        {"Service", {"", "services"}},
        {"Endpoints", {"", "endpoints"}},
        {"ConfigMap", {"", "configmaps"}},
        {"ResourceQuota", {"", "resourcequotas"}},
        {"PersistentVolumeClaim", {"", "persistentvolumeclaims"}},
        {"PersistentVolume", {"", "persistentvolumes"}, "v1", false},
        {"Node", {"", "nodes"}, "v1", false},
        {"Deployment", {"apps", "deployments"}},
        {"ReplicaSet", {"apps", "replicasets"}},
        {"PodDisruptionBudget", {"policy", "poddisruptionbudgets"}},
        {"StatefulSet", {"apps", "statefulsets"}},
        {"DaemonSet", {"apps", "daemonsets"}},
        {"ControllerRevision", {"apps", "controllerrevisions"}},
        {"Job", {"batch", "jobs"}},
        {"CronJob", {"batch", "cronjobs"}},
        {"EndpointSlice", {"discovery.k8s.io", "endpointslices"}},
        {"StorageClass", {"storage.k8s.io", "storageclasses"}, "v1", false}};
    return kPlaces;
  }
  static const Place& place_of(std::string_view name) {
    for (const Place& place : places()) {
      if (place.kind == name || place.resource.resource == name) return place;
    }
    throw std::invalid_argument("unknown resource in the fixture: " + std::string{name});
  }
  static std::string collection_of(std::string_view name) {
    const Place& place = place_of(name);
    std::string path =
        place.resource.group.empty() ? "/api/" : "/apis/" + place.resource.group + '/';
    path += place.version;
    if (place.namespaced) path += "/namespaces/default";
    return path + '/' + place.resource.resource;
  }
  static std::string path_of(std::string_view object) {
    const std::size_t slash = object.find('/');
    return collection_of(object.substr(0, slash)) + std::string{object.substr(slash)};
  }

  FakeClock clock_;
  ApiServer server_;
};

}  // namespace kube::testkit
