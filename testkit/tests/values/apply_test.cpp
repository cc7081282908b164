// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/apply.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/values/structural_schema.hpp"
#include "values.hpp"

#include <kube/api/time_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::status_of;
using test::text;
using ::testing::ElementsAre;

Clock::WallTime at(std::string_view time) {
  return time_text::time_point_from_seconds(*time_text::parse_seconds(time));
}

FieldManager manager(std::string_view name, std::string_view api_version = "v1", int minute = 0) {
  return {.name = std::string{name},
          .api_version = std::string{api_version},
          .subresource = {},
          .now = at("2026-11-15T10:00:00Z") + std::chrono::minutes{minute}};
}

const SchemaNode& config_map() { return *builtin_schema("", "v1", "ConfigMap"); }
const SchemaNode& deployment() { return *builtin_schema("apps", "v1", "Deployment"); }

Value map_with(std::string_view data) {
  return json(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":)" +
      std::string{data} + "}");
}

/// Returns manager, operation and fields of each entry.
std::vector<std::string> owners(const Value& object) {
  std::vector<std::string> texts;
  for (const Value& entry : object.get_array("metadata.managedFields")) {
    texts.push_back(std::string{entry["manager"].as_string()} + ' ' +
                    std::string{entry["operation"].as_string()} + ' ' + text(entry["fieldsV1"]));
  }
  return texts;
}

Value without_managed(Value object) {
  object["metadata"].erase("managedFields");
  return object;
}

// SA-2, SA-3, SA-6
TEST(Apply, CreatesAnObjectThatTheManagerOwns) {
  const Value created =
      apply_patch(config_map(), {}, map_with(R"({"a":"1","b":"2"})"), manager("m1"), false);
  EXPECT_EQ(text(without_managed(created)), text(map_with(R"({"a":"1","b":"2"})")));
  EXPECT_THAT(owners(created), ElementsAre(R"(m1 Apply {"f:data":{"f:a":{},"f:b":{}}})"));
  EXPECT_EQ(
      text(created.get_array("metadata.managedFields")[0]),
      R"({"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{},"f:b":{}}},"manager":"m1","operation":"Apply","time":"2026-11-15T10:00:00Z"})");
}

// SA-2, RV-2
TEST(Apply, IsIdempotent) {
  const Value config = map_with(R"({"a":"1"})");
  const Value once = apply_patch(config_map(), {}, config, manager("m1"), false);
  EXPECT_EQ(text(apply_patch(config_map(), once, config, manager("m1", "v1", 5), false)),
            text(once));
}

// SA-3
TEST(Apply, RemovesFieldsThatAreNoLongerApplied) {
  Value live =
      apply_patch(config_map(), {}, map_with(R"({"a":"1","b":"2"})"), manager("m1"), false);
  // Field b has two owners.
  live = apply_patch(config_map(), live, map_with(R"({"b":"2"})"), manager("m2"), false);
  live = apply_patch(config_map(), live, map_with(R"({})"), manager("m1"), false);
  EXPECT_EQ(text(live["data"]), R"({"b":"2"})");
  EXPECT_THAT(owners(live),
              ElementsAre(R"(m2 Apply {"f:data":{"f:b":{}}})", R"(m1 Apply {"f:data":{}})"));
}

// SA-4
TEST(Apply, ConflictsOnFieldsOfAnotherManager) {
  const Value live =
      apply_patch(config_map(), {}, map_with(R"({"a":"1","b":"2"})"), manager("m1"), false);

  const auto status = status_of([&] {
    static_cast<void>(
        apply_patch(config_map(), live, map_with(R"({"b":"3"})"), manager("m2"), false));
  });

  EXPECT_EQ(status.code, 409);
  EXPECT_EQ(status.reason, "Conflict");
  EXPECT_EQ(status.message, R"(Apply failed with 1 conflict: conflict with "m1": .data.b)");
  EXPECT_EQ(
      encode_json(status.details->causes),
      R"([{"reason":"FieldManagerConflict","message":"conflict with \"m1\"","field":".data.b"}])");
  EXPECT_EQ(status.details->name, "");

  const Value forced =
      apply_patch(config_map(), live, map_with(R"({"b":"3"})"), manager("m2"), true);
  EXPECT_EQ(text(forced["data"]), R"({"a":"1","b":"3"})");
  EXPECT_THAT(owners(forced), ElementsAre(R"(m1 Apply {"f:data":{"f:a":{}}})",
                                          R"(m2 Apply {"f:data":{"f:b":{}}})"));
}

// SA-4
TEST(Apply, NamesEveryConflictByManager) {
  Value live =
      apply_patch(config_map(), {}, map_with(R"({"a":"1","d":"4"})"), manager("m1"), false);
  Value updated = live;
  updated["data"]["c"] = "3";
  live = track_update(config_map(), live, updated, manager("m2"));

  const auto status = status_of([&] {
    static_cast<void>(apply_patch(config_map(), live, map_with(R"({"a":"x","c":"y","d":"4"})"),
                                  manager("m3"), false));
  });

  EXPECT_EQ(status.message,
            "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.a\nconflicts with "
            "\"m2\" using v1:\n- .data.c");
  ASSERT_EQ(status.details->causes.size(), 2u);
  EXPECT_EQ(status.details->causes[1].message, R"(conflict with "m2" using v1)");
}

// SA-4: equal values have shared ownership, and a later change by one owner conflicts
TEST(Apply, SharesEqualValues) {
  Value live = apply_patch(config_map(), {}, map_with(R"({"a":"1"})"), manager("m1"), false);
  live = apply_patch(config_map(), live, map_with(R"({"a":"1"})"), manager("m2"), false);
  EXPECT_THAT(owners(live), ElementsAre(R"(m2 Apply {"f:data":{"f:a":{}}})",
                                        R"(m1 Apply {"f:data":{"f:a":{}}})"));
  // SA-5: only ownership changed, so the new entry has no time.
  EXPECT_TRUE(live.get_array("metadata.managedFields")[0]["time"].is_absent());

  EXPECT_EQ(status_of([&] {
              static_cast<void>(
                  apply_patch(config_map(), live, map_with(R"({"a":"2"})"), manager("m1"), false));
            }).message,
            R"(Apply failed with 1 conflict: conflict with "m2": .data.a)");
}

// SA-5
TEST(Apply, OrdersEntries) {
  Value live = track_update(config_map(), {}, map_with(R"({"a":"1"})"), manager("z", "v1", 0));
  Value next = live;
  next["data"]["b"] = "2";
  live = track_update(config_map(), live, next, manager("y", "v1", 1));
  live = apply_patch(config_map(), live, map_with(R"({"c":"3"})"), manager("b", "v1", 3), false);
  live = apply_patch(config_map(), live, map_with(R"({"d":"3"})"), manager("a", "v1", 3), false);
  next = live;
  next["data"]["e"] = "2";
  FieldManager status = manager("y", "v1", 1);
  status.subresource = "status";
  live = track_update(config_map(), live, next, status);
  EXPECT_THAT(
      owners(live),
      ElementsAre(R"(a Apply {"f:data":{"f:d":{}}})", R"(b Apply {"f:data":{"f:c":{}}})",
                  R"(z Update {"f:data":{".":{},"f:a":{}}})", R"(y Update {"f:data":{"f:b":{}}})",
                  R"(y Update {"f:data":{"f:e":{}}})"));
  EXPECT_EQ(live.get_array("metadata.managedFields")[4]["subresource"], Value{"status"});
}

// SA-6, SA-8
TEST(Apply, OwnsListItemsByKeyAndSetItemsByValue) {
  const Value live = apply_patch(
      deployment(), {},
      json(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","finalizers":["f/x"]},
    "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"c","image":"i","args":["1"],
      "ports":[{"containerPort":80}]}]}}}})"),
      manager("m", "apps/v1"), false);
  EXPECT_THAT(
      owners(live),
      ElementsAre(
          R"x(m Apply {"f:metadata":{"f:finalizers":{"v:\"f/x\"":{}}},"f:spec":{"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}})x"));
}

// SA-3, SA-8
TEST(Apply, MergesListMapsOfDifferentManagers) {
  const auto config = [](std::string_view containers) {
    return json(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":)" +
        std::string{containers} + "}}}}");
  };
  Value live = apply_patch(deployment(), {},
                           config(R"([{"name":"a","image":"1"},{"name":"b","image":"1"}])"),
                           manager("m1", "apps/v1"), false);
  live = apply_patch(deployment(), live,
                     config(R"([{"name":"x","image":"2"},{"name":"b","command":["r"]}])"),
                     manager("m2", "apps/v1"), false);
  EXPECT_EQ(
      text(*live.find("spec.template.spec.containers")),
      R"([{"image":"1","name":"a"},{"image":"2","name":"x"},{"command":["r"],"image":"1","name":"b"}])");

  live = apply_patch(deployment(), live, config(R"([{"name":"a","image":"1"}])"),
                     manager("m1", "apps/v1"), false);

  // m1 no longer applies b, of which m2 still owns a part; fields that only m1 owned are removed.
  EXPECT_EQ(text(*live.find("spec.template.spec.containers")),
            R"([{"image":"1","name":"a"},{"image":"2","name":"x"},{"command":["r"],"name":"b"}])");

  live = apply_patch(deployment(), live, config("[]"), manager("m2", "apps/v1"), false);
  EXPECT_EQ(text(*live.find("spec.template.spec.containers")), R"([{"image":"1","name":"a"}])");
}

// SA-8
TEST(Apply, RefusesDuplicateKeys) {
  const auto status = status_of([] {
    static_cast<void>(apply_patch(
        deployment(), {},
        json(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"},
      "spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"a"}]}}}})"),
        manager("m", "apps/v1"), false));
  });
  EXPECT_EQ(status.code, 500);
  EXPECT_EQ(status.reason, "");
  EXPECT_EQ(
      status.message,
      R"(failed to create typed patch object (n/d; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="a"])");
}

// SA-9
TEST(Apply, RefusesFieldsThatTheSchemaDoesNotKnow) {
  const auto message = [](std::string_view config) {
    const auto status = status_of([&] {
      static_cast<void>(
          apply_patch(deployment(), {}, json(config), manager("m", "apps/v1"), false));
    });
    EXPECT_EQ(status.code, 500);
    EXPECT_EQ(status.reason, "");
    return status.message.str();
  };
  EXPECT_EQ(
      message(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"},"spec":{"x":1}})"),
      "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): .spec.x: field not "
      "declared in schema");
  EXPECT_EQ(
      message(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"},"spec":{"replicas":"1","y":1}})"),
      "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): errors:\n  "
      ".spec.replicas: expected numeric "
      "(int or float), got string\n  .spec.y: field not declared in schema");
}

// SA-1
TEST(Apply, RefusesManagedFieldsInTheBody) {
  const auto status = status_of([] {
    static_cast<void>(apply_patch(
        config_map(), {},
        json(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","managedFields":[]}})"),
        manager("m"), false));
  });
  EXPECT_EQ(status.code, 400);
  EXPECT_EQ(status.message, "metadata.managedFields must be nil");
}

// SA-9
TEST(Apply, ToStatusOwnsOnlyStatusFields) {
  EXPECT_EQ(
      text(restrict_to_status(json(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}},"spec":{"replicas":1},"status":{"replicas":2}})"))),
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"status":{"replicas":2}})");
}

// SA-7
TEST(Apply, GivesUnownedFieldsToBeforeFirstApply) {
  Value live = map_with(R"({"a":"1"})");
  live["metadata"]["uid"] = "u";
  const Value applied =
      apply_patch(config_map(), live, map_with(R"({"b":"2"})"), manager("m"), false);
  EXPECT_THAT(owners(applied),
              ElementsAre(R"(m Apply {"f:data":{"f:b":{}}})",
                          R"(before-first-apply Update {"f:data":{".":{},"f:a":{}}})"));
}

/// Removes the fields that the server added and no manager owns.
Value as_requested(Value object, std::string_view kind) {
  const auto erase = [&](std::string_view parent, std::initializer_list<const char*> names) {
    if (object.find(parent) == nullptr) return;
    for (const char* name : names) object.at_path(parent).erase(name);
  };
  if (kind == "Service") erase("spec", {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"});
  if (kind.starts_with("PersistentVolume")) erase("metadata", {"finalizers"});
  if (kind == "Pod") {
    erase("metadata", {"annotations"});
    erase("metadata.labels", {"topology.kubernetes.io/zone"});
    erase("spec", {"priority", "preemptionPolicy", "tolerations"});
    erase("spec.containers[0].resources", {"limits"});
  }
  if (kind == "Job") {
    erase("metadata", {"labels"});
    erase("spec", {"selector"});
    erase("spec.template.metadata", {"labels"});
  }
  return object;
}

// SA-7: ownership of a create, as a real server recorded it
TEST(TrackUpdate, ReproducesRecordedOwnershipOfCreatedObjects) {
  int compared = 0;
  std::set<std::string> kinds;
  for (const auto& [file, group, kind] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"core_v1_configmaps.json", "", "ConfigMap"},
           {"core_v1_secrets.json", "", "Secret"},
           {"core_v1_services.json", "", "Service"},
           {"core_v1_serviceaccounts.json", "", "ServiceAccount"},
           {"core_v1_persistentvolumes.json", "", "PersistentVolume"},
           {"core_v1_persistentvolumeclaims.json", "", "PersistentVolumeClaim"},
           {"core_v1_limitranges.json", "", "LimitRange"},
           {"core_v1_podtemplates.json", "", "PodTemplate"},
           {"core_v1_pods.json", "", "Pod"},
           {"core_v1_nodes.json", "", "Node"},
           {"core_v1_endpoints.json", "", "Endpoints"},
           {"core_v1_replicationcontrollers.json", "", "ReplicationController"},
           {"apps_v1_deployments.json", "apps", "Deployment"},
           {"apps_v1_replicasets.json", "apps", "ReplicaSet"},
           {"apps_v1_statefulsets.json", "apps", "StatefulSet"},
           {"apps_v1_daemonsets.json", "apps", "DaemonSet"},
           {"apps_v1_controllerrevisions.json", "apps", "ControllerRevision"},
           {"batch_v1_jobs.json", "batch", "Job"},
           {"batch_v1_cronjobs.json", "batch", "CronJob"},
           {"networking.k8s.io_v1_ingresses.json", "networking.k8s.io", "Ingress"},
           {"networking.k8s.io_v1_networkpolicies.json", "networking.k8s.io", "NetworkPolicy"},
           {"rbac.authorization.k8s.io_v1_roles.json", "rbac.authorization.k8s.io", "Role"},
           {"rbac.authorization.k8s.io_v1_clusterroles.json", "rbac.authorization.k8s.io",
            "ClusterRole"},
           {"rbac.authorization.k8s.io_v1_rolebindings.json", "rbac.authorization.k8s.io",
            "RoleBinding"},
           {"rbac.authorization.k8s.io_v1_clusterrolebindings.json", "rbac.authorization.k8s.io",
            "ClusterRoleBinding"},
           {"storage.k8s.io_v1_storageclasses.json", "storage.k8s.io", "StorageClass"},
           {"policy_v1_poddisruptionbudgets.json", "policy", "PodDisruptionBudget"},
           {"autoscaling_v2_horizontalpodautoscalers.json", "autoscaling",
            "HorizontalPodAutoscaler"},
           {"coordination.k8s.io_v1_leases.json", "coordination.k8s.io", "Lease"},
           {"discovery.k8s.io_v1_endpointslices.json", "discovery.k8s.io", "EndpointSlice"},
           {"apiextensions.k8s.io_v1_customresourcedefinitions.json", "apiextensions.k8s.io",
            "CustomResourceDefinition"},
           {"flowcontrol.apiserver.k8s.io_v1_flowschemas.json", "flowcontrol.apiserver.k8s.io",
            "FlowSchema"},
           {"scheduling.k8s.io_v1_priorityclasses.json", "scheduling.k8s.io", "PriorityClass"},
       }) {
    const Value list = json(test::fixture(file));
    for (const Value& item : list["items"].as_array()) {
      // Only objects that were not changed since: they have one entry for the main resource.
      const Value* recorded = nullptr;
      int main_entries = 0;
      for (const Value& entry : item.get_array("metadata.managedFields")) {
        if (!entry["subresource"].is_absent()) continue;
        recorded = &entry;
        ++main_entries;
      }
      if (main_entries != 1 || text((*recorded)["fieldsV1"]).find("f:status") != std::string::npos)
        continue;
      const std::string version = std::string{list["apiVersion"].as_string()};
      if ((*recorded)["apiVersion"] != Value{version}) continue;
      if (item.get_string("metadata.name") == "kubernetes")
        continue;  // created by the server, with an allocated address
      Value object = as_requested(without_managed(item), kind);
      object["apiVersion"] = version;
      object["kind"] = kind;
      FieldManager who = manager((*recorded)["manager"].as_string(), version);
      who.ignore_status = true;
      const SchemaNode* schema = builtin_schema(group, version.substr(version.find('/') + 1), kind);
      ASSERT_NE(schema, nullptr) << kind;

      const Value tracked = track_update(*schema, {}, object, who);

      const auto& entries = tracked.get_array("metadata.managedFields");
      ASSERT_EQ(entries.size(), 1u) << kind;
      EXPECT_EQ(text(entries[0]["fieldsV1"]), text((*recorded)["fieldsV1"]))
          << kind << ' ' << *item.get_string("metadata.name");
      ++compared;
      kinds.insert(kind);
    }
  }
  EXPECT_GE(compared, 40);
  EXPECT_GE(kinds.size(), 15u);
}

// SA-7, SA-8
TEST(TrackUpdate, RecordsChangedFields) {
  Value live = track_update(config_map(), {}, map_with(R"({"a":"1","b":"2"})"), manager("creator"));
  Value next = live;
  next["data"]["b"] = "3";
  next["data"]["c"] = "4";
  next["data"].erase("a");
  next = track_update(config_map(), live, next, manager("editor", "v1", 1));
  EXPECT_THAT(owners(next), ElementsAre(R"(creator Update {"f:data":{}})",
                                        R"(editor Update {"f:data":{"f:b":{},"f:c":{}}})"));
  EXPECT_EQ(next.get_array("metadata.managedFields")[0]["time"], Value{"2026-11-15T10:00:00Z"});

  // Nothing changed: nothing is recorded, not even a time.
  EXPECT_EQ(text(track_update(config_map(), next, next, manager("creator", "v1", 9))), text(next));
}

// SA-7
TEST(TrackUpdate, ClearsKeepsOrReplacesEntries) {
  const Value live = [] {
    Value made = track_update(config_map(), {}, map_with(R"({"a":"1"})"), manager("m"));
    made["metadata"]["uid"] = "u";
    return made;
  }();
  const auto entries_after = [&](std::string_view managed_fields, bool custom,
                                 std::string_view subresource = "") {
    Value next = live;
    if (managed_fields.empty()) {
      next["metadata"].erase("managedFields");
    } else {
      next["metadata"]["managedFields"] = json(managed_fields);
    }
    FieldManager who = manager("m2");
    who.custom_resource = custom;
    who.subresource = subresource;
    return owners(track_update(config_map(), live, next, who));
  };
  const std::string kept = R"(m Update {"f:data":{".":{},"f:a":{}}})";
  EXPECT_THAT(entries_after("", false), ElementsAre(kept));
  EXPECT_THAT(entries_after("[{}]", false), ElementsAre());
  EXPECT_THAT(entries_after("[]", false), ElementsAre());
  EXPECT_THAT(entries_after("[]", true), ElementsAre(kept));
  EXPECT_THAT(entries_after("[{}]", false, "status"), ElementsAre(kept));
  EXPECT_THAT(entries_after(R"([{"manager":"broken"}])", false), ElementsAre(kept));
  EXPECT_THAT(
      entries_after(
          R"([{"manager":"n","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}])",
          false),
      ElementsAre(R"(n Update {"f:data":{"f:a":{}}})"));
}

// SA-7
TEST(TrackUpdate, MergesTheOldestOfManyUpdaters) {
  Value live = track_update(config_map(), {}, map_with(R"({"k00":"1"})"), manager("m00"));
  for (int i = 1; i < 12; ++i) {
    Value next = live;
    next["data"]["k" + std::to_string(10 + i)] = "v";
    live = track_update(config_map(), live, next, manager("m" + std::to_string(10 + i), "v1", i));
  }
  const auto& entries = live.get_array("metadata.managedFields");
  EXPECT_EQ(entries.size(), 10u);
  EXPECT_EQ(owners(live)[0],
            R"(ancient-changes Update {"f:data":{".":{},"f:k00":{},"f:k11":{},"f:k12":{}}})");
}

// SA-7
TEST(TrackUpdate, NamesTheManagerAfterTheUserAgent) {
  EXPECT_EQ(manager_from_user_agent("kubectl/v1.32.4 (linux/amd64)"), "kubectl");
  EXPECT_EQ(manager_from_user_agent("curl"), "curl");
  EXPECT_EQ(manager_from_user_agent(""), "unknown");
}

// SA-7: an object whose creation sets no tracked field has no entry
TEST(TrackUpdate, LeavesOutEmptyEntries) {
  const Value made = track_update(
      *builtin_schema("", "v1", "ServiceAccount"), {},
      json(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"s"}})"), manager("m"));
  EXPECT_EQ(made.find("metadata.managedFields"), nullptr);
}

// SA-8: custom resources
TEST(Apply, TakesListTypesOfCustomResourcesFromTheirSchema) {
  const StructuralSchema schema{
      json(R"({"type":"object","properties":{"spec":{"type":"object","properties":{
    "plain":{"type":"array","items":{"type":"string"}},
    "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object",
      "required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}}}},
    "granular":{"type":"object","additionalProperties":{"type":"string"}},
    "atomic":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"}}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})")};
  FieldManager who = manager("m", "g.example/v1");
  who.custom_resource = true;
  const Value config = json(
      R"({"apiVersion":"g.example/v1","kind":"K","metadata":{"name":"c"},"spec":{"plain":["a"],"set":["x"],
    "map":[{"k":"1","v":2}],"granular":{"g":"h"},"atomic":{"a":"b"},"free":{"any":{"thing":[1]}}}})");
  const Value applied = apply_patch(schema.apply_schema(), {}, config, who, false);
  EXPECT_THAT(
      owners(applied),
      ElementsAre(
          R"x(m Apply {"f:spec":{"f:atomic":{},"f:free":{"f:any":{".":{},"f:thing":{}}},"f:granular":{"f:g":{}},"f:map":{"k:{\"k\":\"1\"}":{".":{},"f:k":{},"f:v":{}}},"f:plain":{},"f:set":{"v:\"x\"":{}}}})x"));
  // After a create by another operation, each new nested object is a member as well.
  EXPECT_THAT(
      owners(track_update(schema.apply_schema(), {},
                          json(R"({"metadata":{"name":"c"},"spec":{"granular":{"g":"h"}}})"), who)),
      ElementsAre(R"(m Update {"f:spec":{".":{},"f:granular":{".":{},"f:g":{}}}})"));
  // SA-9
  EXPECT_EQ(
      status_of([&] {
        static_cast<void>(apply_patch(
            schema.apply_schema(), {},
            json(
                R"({"apiVersion":"g.example/v1","kind":"K","metadata":{"name":"c"},"spec":{"odd":1}})"),
            who, false));
      }).message,
      "failed to create typed patch object (/c; g.example/v1, Kind=K): .spec.odd: field not "
      "declared in schema");
}

// KU-8: kubectl takes over from client-side apply
TEST(Apply, LetsKubectlTakeOverFromClientSideApply) {
  Value object = map_with(R"({"a":"1"})");
  object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
      text(map_with(R"({"a":"1"})")) + "\n";
  const Value live = track_update(config_map(), {}, object, manager("kubectl-client-side-apply"));

  const Value applied =
      apply_patch(config_map(), live, map_with(R"({"a":"2"})"), manager("kubectl"), false);

  EXPECT_EQ(text(applied["data"]), R"({"a":"2"})");
  EXPECT_EQ(applied.get_object("metadata.annotations")
                .at("kubectl.kubernetes.io/last-applied-configuration")
                .as_string(),
            text(map_with(R"({"a":"2"})")) + "\n");
  EXPECT_EQ(status_of([&] {
              static_cast<void>(apply_patch(config_map(), live, map_with(R"({"a":"2"})"),
                                            manager("other"), false));
            }).code,
            409);
}

// RV-2
TEST(Apply, KeepsOldTimesIfNothingElseChanged) {
  const Value live = track_update(config_map(), {}, map_with(R"({"a":"1"})"), manager("m"));
  Value next = live;
  next["metadata"]["resourceVersion"] = "7";
  next.at_path("metadata.managedFields[0].time") = "2027-01-01T00:00:00Z";
  EXPECT_EQ(text(keep_old_timestamps(live, next)["metadata"]["managedFields"]),
            text(live["metadata"]["managedFields"]));
  next["data"]["a"] = "2";
  EXPECT_EQ(text(keep_old_timestamps(live, next)), text(next));
}

// SA-2, SA-3: for any configurations
TEST(Apply, IsStableForRandomConfigurations) {
  const StructuralSchema schema{
      json(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
    "spec":{"type":"object","properties":{"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object",
      "required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"},"w":{"type":"integer"}}}}}}}})")};
  std::mt19937 random{11};
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto config = [&] {
    Value made = json(R"({"apiVersion":"g.example/v1","kind":"K","metadata":{"name":"c"}})");
    made["free"] =
        Value::object({{"x", test::random_value(random, 3)}, {"y", test::random_value(random, 3)}});
    std::set<std::string> used;
    for (unsigned i = below(4); i > 0; --i) {
      const std::string name(1, static_cast<char>('a' + below(5)));
      if (!used.insert(name).second) continue;
      made["spec"]["set"].push_back(name);
      Value& element = made["spec"]["map"].push_back(Value::object({{"k", name}}));
      if (below(2) == 0) element["v"] = below(3);
      if (below(2) == 0) element["w"] = below(3);
    }
    return made;
  };
  for (int round = 0; round < 100; ++round) {
    Value live;
    for (int step = 0; step < 4; ++step) {
      FieldManager who = manager("m" + std::to_string(below(3)), "g.example/v1", step);
      who.custom_resource = true;
      const Value applied_config = config();
      live = apply_patch(schema.apply_schema(), live, applied_config, who, true);
      // All applied fields exist now, and applying the configuration again changes nothing.
      EXPECT_EQ(std::as_const(live)["free"]["x"].kind(), applied_config["free"]["x"].kind());
      who.now += std::chrono::hours{1};
      EXPECT_EQ(text(apply_patch(schema.apply_schema(), live, applied_config, who, false)),
                text(live));
    }
  }
}

}  // namespace
}  // namespace kube::testkit::detail
