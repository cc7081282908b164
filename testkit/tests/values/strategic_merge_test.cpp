// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/strategic_merge.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "values.hpp"

#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::status_of;
using test::text;

std::string merged(std::string_view target, std::string_view patch, std::string_view kind = "Pod",
                   std::string_view group = "") {
  return text(strategic_merge(json(target), json(patch), *builtin_schema(group, "v1", kind)));
}

// PA-5
TEST(StrategicMerge, MergesObjectsAndRemovesByNull) {
  EXPECT_EQ(
      merged(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
             R"({"metadata":{"labels":{"a":null,"c":"3"},"annotations":{"x":"y","z":null}}})"),
      R"({"metadata":{"annotations":{"x":"y"},"labels":{"b":"2","c":"3"}}})");
}

// PA-5: containers merge by name, ports by containerPort, env by name; new ones come first
TEST(StrategicMerge, MergesListsByKey) {
  EXPECT_EQ(
      merged(
          R"({"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"E","value":"1"}]}]}})",
          R"({"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","env":[{"name":"F","value":"2"}]}]}})"),
      R"({"spec":{"containers":[{"image":"2","name":"b"},{"env":[{"name":"F","value":"2"},{"name":"E","value":"1"}],"image":"1","name":"a"}]}})");
  EXPECT_EQ(
      merged(
          R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81}]}]}})",
          R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":81,"name":"x"}]}]}})"),
      R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":81,"name":"x"}]}]}})");
}

// PA-5: directives are removed only from values that are new in an object; a null directive is
// ignored
TEST(StrategicMerge, KeepsDirectivesInsideValuesThatAreNotMerged) {
  EXPECT_EQ(merged(R"({"spec":{}})", R"({"spec":{"nodeSelector":{"$patch":null,"disk":"hdd"}}})"),
            R"({"spec":{"nodeSelector":{"disk":"hdd"}}})");
  EXPECT_EQ(merged(R"({"spec":{}})", R"({"spec":{"nodeSelector":{"$patch":"x","disk":"hdd"}}})"),
            R"({"spec":{}})");
  EXPECT_EQ(
      merged(
          R"({"spec":{"containers":[{"name":"a"}]}})",
          R"({"spec":{"containers":[{"name":"b","ports":[{"$patch":"delete","containerPort":80}]}]}})"),
      R"({"spec":{"containers":[{"name":"b","ports":[{"$patch":"delete","containerPort":80}]},{"name":"a"}]}})");
  EXPECT_EQ(merged(R"({"spec":{"tolerations":[{"key":"a"}]}})",
                   R"({"spec":{"tolerations":[{"$patch":"delete","key":"a"}]}})"),
            R"({"spec":{"tolerations":[{"$patch":"delete","key":"a"}]}})");
}

// PA-5, PA-6
TEST(StrategicMerge, KnowsTheMergeKeysOfTheApi) {
  struct Row {
    const char* kind;
    const char* group;
    const char* path;
    const char* key;
  };
  for (const Row& row : {
           Row{"Pod", "", "spec.containers", "name"},
           Row{"Pod", "", "spec.initContainers", "name"},
           Row{"Pod", "", "spec.ephemeralContainers", "name"},
           Row{"Pod", "", "spec.volumes", "name"},
           Row{"Pod", "", "spec.imagePullSecrets", "name"},
           Row{"Pod", "", "spec.hostAliases", "ip"},
           Row{"Pod", "", "spec.topologySpreadConstraints", "topologyKey"},
           Row{"Pod", "", "spec.schedulingGates", "name"},
           Row{"Pod", "", "spec.resourceClaims", "name"},
           Row{"Pod", "", "status.podIPs", "ip"},
           Row{"Pod", "", "status.hostIPs", "ip"},
           Row{"Pod", "", "status.conditions", "type"},
           Row{"Node", "", "status.addresses", "type"},
           Row{"Node", "", "status.conditions", "type"},
           Row{"Service", "", "spec.ports", "port"},
           Row{"ServiceAccount", "", "secrets", "name"},
           Row{"Deployment", "apps", "status.conditions", "type"},
           Row{"Pod", "", "metadata.ownerReferences", "uid"},
       }) {
    const SchemaNode* node = builtin_schema(row.group, "v1", row.kind);
    const SchemaField* field = nullptr;
    for (const PathStep& step : parse_path(row.path)) {
      field = node->field(step.key);
      ASSERT_NE(field, nullptr) << row.path;
      node = field->node;
    }
    EXPECT_TRUE(field->merge) << row.path;
    EXPECT_EQ(field->merge_key, row.key) << row.path;
  }
  const SchemaNode& pod = *builtin_schema("", "v1", "Pod")->field("spec")->node;
  EXPECT_TRUE(pod.field("volumes")->retain_keys);
  EXPECT_FALSE(pod.field("tolerations")->merge);
  EXPECT_FALSE(pod.field("containers")->node->element->field("args")->merge);
  EXPECT_TRUE(builtin_schema("apps", "v1", "Deployment")
                  ->field("spec")
                  ->node->field("strategy")
                  ->retain_keys);
  EXPECT_TRUE(builtin_schema("", "v1", "Node")->field("spec")->node->field("podCIDRs")->merge);
}

// PA-6
TEST(StrategicMerge, ReplacesListsWithoutAKey) {
  EXPECT_EQ(
      merged(
          R"({"spec":{"containers":[{"name":"a","args":["1","2"]}],"tolerations":[{"key":"x"}]}})",
          R"({"spec":{"containers":[{"name":"a","args":["3"]}],"tolerations":[{"key":"y"}]}})"),
      R"({"spec":{"containers":[{"args":["3"],"name":"a"}],"tolerations":[{"key":"y"}]}})");
}

// PA-5
TEST(StrategicMerge, MergesFinalizersAsASet) {
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"finalizers":["c","a"]}})"),
            R"({"metadata":{"finalizers":["c","a","b"]}})");
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b","c"]}})",
                   R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}})"),
            R"({"metadata":{"finalizers":["a","c"]}})");
  EXPECT_EQ(status_of([&] {
              merged(R"({"metadata":{"finalizers":["a"]}})",
                     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":[1]}})");
            }).code,
            500);
}

// PA-5
TEST(StrategicMerge, ObeysPatchDirectives) {
  const char* pod =
      R"({"spec":{"containers":[{"name":"a"},{"name":"b"}],"nodeSelector":{"x":"1"}}})";
  EXPECT_EQ(merged(pod, R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})"),
            R"({"spec":{"containers":[{"name":"b"}],"nodeSelector":{"x":"1"}}})");
  EXPECT_EQ(merged(pod, R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})"),
            R"({"spec":{"containers":[{"name":"c"}],"nodeSelector":{"x":"1"}}})");
  // An element that is deleted and added in one patch is a new one.
  EXPECT_EQ(merged(pod, R"({"spec":{"containers":[{"name":"b","image":"i"},)"
                        R"({"name":"b","$patch":"delete"}]}})"),
            R"({"spec":{"containers":[{"image":"i","name":"b"},{"name":"a"}],"nodeSelector":)"
            R"({"x":"1"}}})");
  EXPECT_EQ(merged(pod, R"({"spec":{"$patch":"replace","nodeSelector":{"y":"2"}}})"),
            R"({"spec":{"nodeSelector":{"y":"2"}}})");
  EXPECT_EQ(merged(pod, R"({"spec":{"nodeSelector":{"$patch":"delete"}}})"),
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"}],"nodeSelector":{}}})");
  EXPECT_EQ(status_of([&] { merged(pod, R"({"spec":{"$patch":"fly"}})"); }).code, 500);
}

// PA-5
TEST(StrategicMerge, RetainsKeys) {
  const char* deployment =
      R"({"spec":{"replicas":2,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})";
  EXPECT_EQ(
      merged(deployment, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
             "Deployment", "apps"),
      R"({"spec":{"replicas":2,"strategy":{"type":"Recreate"}}})");
  EXPECT_EQ(status_of([&] {
              merged(deployment,
                     R"({"spec":{"strategy":{"$retainKeys":["other"],"type":"Recreate"}}})",
                     "Deployment", "apps");
            }).code,
            400);
  EXPECT_EQ(status_of([&] {
              merged(deployment, R"({"spec":{"strategy":{"$retainKeys":"type"}}})", "Deployment",
                     "apps");
            }).message,
            "invalid patch format of retainKeys");
  // Volumes have retainKeys, too: the old source is removed.
  EXPECT_EQ(
      merged(
          R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
          R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/x"}}]}})"),
      R"({"spec":{"volumes":[{"hostPath":{"path":"/x"},"name":"v"}]}})");
}

// PA-5, KU-9
TEST(StrategicMerge, SetsTheOrderOfElements) {
  const char* pod = R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})";
  EXPECT_EQ(
      merged(
          pod,
          R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})"),
      R"({"spec":{"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})");
  EXPECT_EQ(
      merged(
          pod,
          R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"new"},{"name":"c"}],"containers":[{"name":"new"}]}})"),
      R"({"spec":{"containers":[{"name":"a"},{"name":"new"},{"name":"b"},{"name":"c"}]}})");
  EXPECT_EQ(
      merged(
          pod,
          R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a","image":"x"}]}})"),
      R"({"spec":{"containers":[{"image":"x","name":"a"},{"name":"b"},{"name":"c"}]}})");
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})"),
            R"({"metadata":{"finalizers":["b","a"]}})");
  EXPECT_EQ(status_of([&] { merged(pod, R"({"spec":{"$setElementOrder/containers":7}})"); }).code,
            400);
  EXPECT_EQ(
      status_of([&] {
        merged(
            pod,
            R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})");
      }).code,
      500);
}

// PA-5
TEST(StrategicMerge, NamesTheMergeKeyThatIsMissing) {
  const auto status = status_of([] {
    merged(R"({"spec":{"containers":[{"name":"a"}]}})",
           R"({"spec":{"containers":[{"image":"x"}]}})");
  });
  EXPECT_EQ(status.code, 500);
  EXPECT_EQ(status.reason, "");
  EXPECT_EQ(status.message, "map: map[image:x] does not contain declared merge key: name");
}

// PA-3
TEST(StrategicMerge, RejectsAnythingButAnObject) {
  EXPECT_EQ(status_of([] { merged("{}", "[]"); }).code, 400);
}

TEST(StrategicMerge, OfALongListTakesAboutLinearTime) {
  Value pod = json(R"({"spec":{"containers":[]}})");
  Value patch = json(R"({"spec":{"containers":[]}})");
  for (int i = 0; i < 20'000; ++i) {
    pod["spec"]["containers"].push_back(Value::object({{"name", "c" + std::to_string(i)}}));
    patch["spec"]["containers"].push_back(
        Value::object({{"name", "c" + std::to_string(19'999 - i)}, {"image", "x"}}));
  }
  const Value result = strategic_merge(std::move(pod), patch, *builtin_schema("", "v1", "Pod"));
  EXPECT_EQ(result["spec"]["containers"].size(), 20'000u);
  EXPECT_EQ(result["spec"]["containers"][0]["name"], Value{"c19999"});
}

TEST(StrategicMerge, OfTheSameObjectChangesNothing) {
  const Value list = json(test::fixture("core_v1_pods.json"));
  for (const Value& pod : list["items"].as_array()) {
    EXPECT_EQ(text(strategic_merge(pod, pod, *builtin_schema("", "v1", "Pod"))), text(pod));
  }
}

}  // namespace
}  // namespace kube::testkit::detail
