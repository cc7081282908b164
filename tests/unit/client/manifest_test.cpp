// SPDX-License-Identifier: Apache-2.0
// Reading manifests, and the parts of applying them that need no server.
#include "client/manifest_diff.hpp"
#include "client/object_state.hpp"
#include <kube/client/manifest.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string problem_of(std::string_view text, std::string_view source = {}) {
  try {
    (void)parse_manifest(text, source);
  } catch (const ManifestError& error) {
    EXPECT_THAT(error.results(), IsEmpty());
    return error.what();
  }
  return "no error";
}

std::vector<std::string> texts(const Manifest& manifest) {
  std::vector<std::string> texts;
  for (const ManifestObject& one : manifest) {
    texts.push_back(to_string(one.place) + ": " + to_string(one.kind) + " " + one.key.str());
  }
  return texts;
}

// MF-1
TEST(Manifest, HasTheObjectsOfAllDocumentsWithTheirPlaces) {
  const Manifest manifest = parse_manifest(R"(# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
---
---
# nothing
---

apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
)",
                                           "shop.yaml");
  EXPECT_THAT(texts(manifest),
              ElementsAre("shop.yaml: document 1 (line 2): /v1, Kind=ConfigMap shop/a",
                          "shop.yaml: document 4 (line 10): apps/v1, Kind=Deployment web"));
  EXPECT_EQ(manifest[1].object->get_string("metadata.name"), "web");
  EXPECT_THAT(parse_manifest(""), IsEmpty());
  EXPECT_THAT(parse_manifest("---\n# only a comment\n"), IsEmpty());
}

// MF-1
TEST(Manifest, ReplacesListsByTheirItems) {
  const Manifest manifest = parse_manifest(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
---
apiVersion: v1
kind: SecretList
items:
- metadata: {name: token}
---
apiVersion: example.com/v1
kind: AllowList
metadata: {name: mine}
)");
  EXPECT_THAT(texts(manifest),
              ElementsAre("document 1 (line 2), item 1: /v1, Kind=ConfigMap a",
                          "document 1 (line 2), item 2: apps/v1, Kind=Deployment web",
                          "document 2 (line 8), item 1: /v1, Kind=Secret token",
                          "document 3 (line 13): example.com/v1, Kind=AllowList mine"));
  EXPECT_EQ(encode_json(*manifest[2].object),
            R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"token"}})");
}

// MF-1
TEST(Manifest, MayBeJson) {
  EXPECT_THAT(texts(parse_manifest("\n{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"ConfigMap\",\n"
                                   "\t\"metadata\": {\"name\": \"a\"}\n}\n")),
              ElementsAre("document 1 (line 2): /v1, Kind=ConfigMap a"));
  EXPECT_THAT(texts(parse_manifest("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
                                   "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n")),
              ElementsAre("document 1 (line 1): /v1, Kind=ConfigMap a",
                          "document 2 (line 3): /v1, Kind=ConfigMap b"));
}

// MF-1
TEST(Manifest, NamesTheDocumentThatIsMalformed) {
  EXPECT_THAT(problem_of("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
                         "a: 1\na: 2\n---\nb: 2\n",
                         "shop.yaml"),
              HasSubstr("shop.yaml: document 2: line 4, column 1: key \"a\" is set twice"));
  EXPECT_THAT(problem_of("a: [1\n"), HasSubstr("document 1: line "));
  EXPECT_THAT(problem_of("{\"a\": [1}\n"), HasSubstr("document 1: line 1"));
}

// MF-1
TEST(Manifest, ListsAllProblemsOfAllDocuments) {
  EXPECT_EQ(problem_of(R"(apiVersion: v1
kind: ConfigMap
---
- 1
---
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
metadata: {name: a}
---
apiVersion: a/b/c
kind: ConfigMap
metadata: {name: a}
---
apiVersion: batch/v1
kind: Job
metadata: {generateName: a-}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: 7}
---
apiVersion: v1
kind: List
items: [7]
)"),
            "8 problems: "
            "document 1 (line 1): v1 ConfigMap: metadata.name is missing; "
            "document 2 (line 4): expected an object, found array; "
            "document 3 (line 6): ConfigMap a: apiVersion is missing; "
            "document 4 (line 9): v1 a: kind is missing; "
            "document 5 (line 12): ConfigMap a: \"a/b/c\" is not an API version: it has more than "
            "one '/'; "
            "document 6 (line 16): batch/v1 Job: an object with generateName cannot be applied: "
            "set metadata.name; "
            "document 7 (line 20): v1 ConfigMap a: metadata.namespace is not a string; "
            "document 8 (line 24), item 1: expected an object, found integer");
}

// MF-2
TEST(Manifest, OrdersKindsByWhatTheyNeed) {
  const auto rank = [](std::string group, std::string kind, bool namespaced) {
    return detail::rank_of({{}, {std::move(group), "v1", std::move(kind)}, namespaced});
  };
  const std::vector<int> ranks{
      rank("", "Namespace", false),
      rank("apiextensions.k8s.io", "CustomResourceDefinition", false),
      rank("storage.k8s.io", "StorageClass", false),
      rank("", "ServiceAccount", true),
      rank("rbac.authorization.k8s.io", "ClusterRole", false),
      rank("rbac.authorization.k8s.io", "RoleBinding", true),
      rank("", "Secret", true),
      rank("apps", "Deployment", true),
      rank("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", false),
  };
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(rank("rbac.authorization.k8s.io", "Role", true), 4);
  EXPECT_EQ(rank("apiregistration.k8s.io", "APIService", false), 8);
  EXPECT_EQ(rank("example.com", "Secret", true), 7);
}

std::vector<std::string> changes(std::string_view before, std::string_view after) {
  std::vector<std::string> texts;
  for (const FieldChange& one :
       detail::changes_between(*decode_json<Value>(before), *decode_json<Value>(after))) {
    texts.push_back(one.path + ": " +
                    (one.before.is_absent() ? std::string{"-"} : encode_json(one.before)) + " > " +
                    (one.after.is_absent() ? std::string{"-"} : encode_json(one.after)));
  }
  return texts;
}

// MF-6
TEST(ManifestDiff, ListsEachFieldThatDiffers) {
  EXPECT_THAT(changes(R"({"a":1,"b":{"c":[1,2]}})", R"({"a":1,"b":{"c":[1,2]}})"), IsEmpty());
  EXPECT_THAT(
      changes(R"({"a":1,"b":{"c":true,"d":null},"e":"x"})",
              R"({"a":2,"b":{"c":true},"f":{"g":{"h":1},"i":{}}})"),
      ElementsAre("a: 1 > 2", "b.d: null > -", R"(e: "x" > -)", "f.g.h: - > 1", "f.i: - > {}"));
  EXPECT_THAT(changes(R"({"metadata":{"labels":{"app.kubernetes.io/name":"a"}}})",
                      R"({"metadata":{"labels":{"app.kubernetes.io/name":"b"}}})"),
              ElementsAre(R"(metadata.labels['app.kubernetes.io/name']: "a" > "b")"));
  EXPECT_THAT(changes(R"({"a":[1]})", R"({"a":{"b":1}})"), ElementsAre(R"(a: [1] > {"b":1})"));
}

// MF-6
TEST(ManifestDiff, ComparesElementsOfListsByName) {
  EXPECT_THAT(changes(R"({"c":[{"name":"a","x":1},{"name":"b","x":2}]})",
                      R"({"c":[{"name":"new"},{"name":"a","x":1},{"name":"b","x":3}]})"),
              ElementsAre("c[name=b].x: 2 > 3", R"(c[name=new].name: - > "new")"));
  EXPECT_THAT(
      changes(R"({"c":[{"name":"a"},{"name":"b"}]})", R"({"c":[{"name":"b"},{"name":"a"}]})"),
      ElementsAre(R"(c: [{"name":"a"},{"name":"b"}] > [{"name":"b"},{"name":"a"}])"));
  EXPECT_THAT(changes(R"({"c":[1,2]})", R"({"c":[1,3,4]})"),
              ElementsAre("c[1]: 2 > 3", "c[2]: - > 4"));
  EXPECT_THAT(changes(R"({"c":[{"name":"a"},{"name":"a"}]})", R"({"c":[{"name":"a"}]})"),
              ElementsAre(R"(c[1].name: "a" > -)"))
      << "a name that occurs twice identifies nothing";
}

// MF-14: the rules of `kubectl rollout status`, and of others.
TEST(ManifestReadiness, FollowsTheKind) {
  struct Case {
    std::string kind;
    std::string fields;
    std::string problem;
  };
  const std::string apps = "apiVersion: apps/v1, metadata: {generation: 2}, kind: ";
  const std::vector<Case> cases{
      {"apiVersion: v1, kind: ConfigMap", "", ""},
      {"apiVersion: v1, kind: ConfigMap", "metadata: {deletionTimestamp: '2026-01-01'}",
       "being deleted"},
      {"apiVersion: v1, kind: Namespace", "", "exists, without phase and conditions"},
      {"apiVersion: v1, kind: Namespace", "status: {phase: Active}", ""},
      {"apiVersion: v1, kind: Pod", "status: {phase: Pending}", "phase Pending"},
      {"apiVersion: v1, kind: Pod", "status: {phase: Succeeded}", ""},
      {"apiVersion: v1, kind: Pod", "status: {conditions: [{type: Ready, status: 'True'}]}", ""},
      {"apiVersion: batch/v1, kind: Job", "status: {conditions: [{type: Failed, status: 'True'}]}",
       "Failed=True"},
      {"apiVersion: batch/v1, kind: Job",
       "status: {conditions: [{type: Complete, status: 'True'}]}", ""},
      {"apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition",
       "status: {conditions: [{type: Established, status: 'False', reason: Installing}]}",
       "Established=False (Installing)"},
      {"apiVersion: apiregistration.k8s.io/v1, kind: APIService",
       "status: {conditions: [{type: Available, status: 'True'}]}", ""},
      {apps + "Deployment", "spec: {replicas: 0}", "no controller has observed it yet"},
      {apps + "Deployment", "status: {observedGeneration: 1}",
       "its status is of generation 1 instead of 2"},
      {apps + "Deployment",
       "spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 1}",
       "1 of 3 replicas are updated"},
      {apps + "Deployment",
       "spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, replicas: 5}",
       "2 old replicas are still running"},
      {apps + "Deployment",
       "spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, replicas: 3, "
       "availableReplicas: 2}",
       "2 of 3 replicas are available"},
      {apps + "Deployment",
       "spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, replicas: 3, "
       "availableReplicas: 3}",
       ""},
      {apps + "StatefulSet",
       "spec: {replicas: 2}, status: {observedGeneration: 2, readyReplicas: 1}",
       "1 of 2 replicas are ready"},
      {apps + "StatefulSet",
       "spec: {replicas: 2}, status: {observedGeneration: 2, readyReplicas: 2, updatedReplicas: 1}",
       "1 of 2 replicas are updated"},
      {apps + "StatefulSet",
       "spec: {replicas: 2, updateStrategy: {rollingUpdate: {partition: 1}}}, "
       "status: {observedGeneration: 2, readyReplicas: 2, updatedReplicas: 1}",
       ""},
      {apps + "StatefulSet",
       "spec: {replicas: 2, updateStrategy: {type: OnDelete}}, "
       "status: {observedGeneration: 2, readyReplicas: 2}",
       ""},
      {apps + "DaemonSet",
       "status: {observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, "
       "numberAvailable: 1}",
       "1 of 2 replicas are available"},
      {apps + "DaemonSet", "status: {observedGeneration: 2, desiredNumberScheduled: 0}", ""},
      {apps + "ReplicaSet", "spec: {replicas: 1}, status: {observedGeneration: 2}",
       "0 of 1 replicas are available"},
  };
  for (const Case& one : cases) {
    const std::string object = "{" + one.kind + (one.fields.empty() ? "" : ", ") + one.fields + "}";
    EXPECT_EQ(detail::why_not_ready(*decode_yaml<Value>(object)), one.problem) << object;
  }
}

}  // namespace
}  // namespace kube
