// SPDX-License-Identifier: Apache-2.0
// The requests of kubectl, in its order and with its headers.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,"
    "application/json";

std::string deployment(const std::string& image, const std::string& annotations = "{}") {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":)" + annotations +
         R"(,"name":"web","namespace":"default"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},)"
         R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"image":")" +
         image + R"(","name":"c"}]}}}})";
}

// KU-1
TEST(Kubectl, FindsWhatIsServed) {
  Api api;
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  EXPECT_EQ(api.get("/api?timeout=32s", accept).at("kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(api.get("/apis?timeout=32s", accept).at("kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(api.get("/api/v1?timeout=32s", "application/json, */*").at("kind"), "APIResourceList");
  EXPECT_EQ(api.get("/apis/apps/v1?timeout=32s", "application/json, */*").at("groupVersion"),
            "apps/v1");
}

// KU-2, KU-3
TEST(Kubectl, GetsAndWatches) {
  Api api;
  api.make_pod("p");
  const ApiReply list = api.get(std::string{kPods} + "?limit=500", kTable);
  EXPECT_EQ(list.at("rows[0].cells[0]"), "p");
  WatchReader all =
      api.watch(std::string{kPods} + "?resourceVersion=" + list.version() + "&watch=true", kTable);
  api.make_pod("q");
  EXPECT_EQ(all.next().at("rows[0].cells[0]"), "q");
  WatchReader one = api.watch(
      std::string{kPods} + "?fieldSelector=metadata.name%3Dp&resourceVersion=0&watch=true", kTable);
  EXPECT_EQ(one.next().at("rows[0].cells[0]"), "p");
}

// KU-5, KU-7
TEST(Kubectl, CreatesReplacesAndApplies) {
  Api api;
  const ApiReply made =
      api.post(std::string{kDeployments} + "?fieldManager=kubectl-create&fieldValidation=Strict",
               deployment("i:1"));
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("metadata.managedFields[0].manager"), "kubectl-create");
  Value object = *made.json;
  object["spec"]["replicas"] = 3;
  EXPECT_EQ(api.put(std::string{kDeployments} +
                        "/web?fieldManager=kubectl-replace&fieldValidation=Strict",
                    object)
                .status(),
            200);
  const ApiReply patched = api.send(
      "PATCH",
      std::string{kDeployments} +
          "/web?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
      R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"image":"i:2","name":"c"}]}}}})",
      {{"Content-Type", "application/strategic-merge-patch+json"}});
  ASSERT_EQ(patched.status(), 200) << patched.text();
  EXPECT_EQ(patched.at("spec.template.spec.containers[0].image"), "i:2");
}

// KU-8
TEST(Kubectl, MovesFromClientSideToServerSideApply) {
  Api api;
  const std::string path = std::string{kDeployments} + "/web";
  api.post(std::string{kDeployments} + "?fieldManager=kubectl-client-side-apply",
           deployment("i:1"));
  const auto apply = [&](const std::string& query, const std::string& body) {
    return api.send("PATCH", path + "?" + query, body,
                    {{"Content-Type", "application/apply-patch+yaml"}});
  };
  EXPECT_EQ(
      apply("fieldManager=kubectl&fieldValidation=Strict&force=false", deployment("i:2")).status(),
      409);
  const ApiReply forced =
      apply("fieldManager=kubectl&fieldValidation=Strict&force=true", deployment("i:2"));
  ASSERT_EQ(forced.status(), 200) << forced.text();
  const ApiReply migrated =
      api.patch(path,
                R"([{"op":"replace","path":"/metadata/managedFields","value":)" +
                    forced.at("metadata.managedFields") +
                    R"(},{"op":"replace","path":"/metadata/resourceVersion","value":")" +
                    forced.version() + "\"}]",
                "json-patch+json");
  EXPECT_EQ(migrated.status(), 200) << migrated.text();
  EXPECT_EQ(apply("fieldManager=kubectl&fieldValidation=Strict&force=false", deployment("i:3"))
                .at("spec.template.spec.containers[0].image"),
            "i:3");
}

// KU-9
TEST(Kubectl, LabelsScalesAndRestarts) {
  Api api;
  const std::string path = std::string{kDeployments} + "/web";
  api.post(kDeployments, deployment("i:1"));
  EXPECT_EQ(api.patch(path + "?fieldManager=kubectl-label", R"({"metadata":{"labels":{"a":"b"}}})")
                .at("metadata.labels.a"),
            "b");
  EXPECT_EQ(api.patch(path + "/scale", R"({"spec":{"replicas":7}})").at("spec.replicas"), "7");
  EXPECT_EQ(
      api.patch(
             path + "?fieldManager=kubectl-rollout",
             R"({"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}})",
             "strategic-merge-patch+json")
          .at("metadata.generation"),
      "3");
}

// KU-11, KU-12
TEST(Kubectl, DeletesAndWaits) {
  Api api;
  api.make_pod("p", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/p";
  EXPECT_EQ(api.remove(path, R"({"propagationPolicy":"Background"})").status(), 200);
  EXPECT_EQ(api.get(path).status(), 200);
  const ApiReply list =
      api.get(std::string{kPods} + "?fieldSelector=metadata.name%3Dp&limit=500&resourceVersion=0");
  EXPECT_EQ(list.names().size(), 1U);
  WatchReader watch =
      api.watch(std::string{kPods} +
                "?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dp&resourceVersion=" +
                list.version() + "&timeoutSeconds=300&watch=true");
  EXPECT_EQ(
      api.remove(path, R"({"propagationPolicy":"Background","gracePeriodSeconds":0})").status(),
      200);
  EXPECT_EQ(watch.next().type, "MODIFIED");
  EXPECT_EQ(watch.next().type, "DELETED");
  EXPECT_EQ(api.get(path).status(), 404);
}

}  // namespace
}  // namespace kube::testkit::detail
