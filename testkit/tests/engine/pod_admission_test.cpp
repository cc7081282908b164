// SPDX-License-Identifier: Apache-2.0
// Admission of pods that a test cluster cannot show: it has no service accounts, and its pods do
// not run.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::StartsWith;

constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* kMount = "/var/run/secrets/kubernetes.io/serviceaccount";

// AD-6
TEST(PodAccounts, AreMountedWithAToken) {
  Api api{{.cluster_objects = true}};

  const ApiReply pod = api.make_pod("p", R"("initContainers":[{"name":"i","image":"i"}],)");

  ASSERT_EQ(pod.status(), 201) << pod.text();
  EXPECT_EQ(pod.at("spec.serviceAccountName"), "default");
  EXPECT_EQ(pod.at("spec.serviceAccount"), "default");
  EXPECT_THAT(pod.at("spec.volumes[0].name"), StartsWith("kube-api-access-"));
  EXPECT_EQ(
      pod.at("spec.volumes[0].projected"),
      R"({"defaultMode":420,"sources":[)"
      R"({"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
      R"({"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},)"
      R"({"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},)"
      R"("path":"namespace"}]}}]})");
  for (const char* container : {"spec.containers[0]", "spec.initContainers[0]"}) {
    const std::string mount = std::string{container} + ".volumeMounts[0]";
    EXPECT_EQ(pod.at(mount + ".name"), pod.at("spec.volumes[0].name"));
    EXPECT_EQ(pod.at(mount + ".mountPath"), kMount);
    EXPECT_EQ(pod.at(mount + ".readOnly"), "true");
  }
}

// AD-6
TEST(PodAccounts, TokenIsOptional) {
  Api api{{.cluster_objects = true}};
  api.post(kAccounts, R"({"metadata":{"name":"quiet"},"automountServiceAccountToken":false,)"
                      R"("imagePullSecrets":[{"name":"registry"}]})");

  const ApiReply quiet = api.make_pod("a", R"("serviceAccountName":"quiet",)");
  const ApiReply unwilling = api.make_pod("b", R"("automountServiceAccountToken":false,)");
  const ApiReply mounted = api.post(
      kPods,
      R"({"metadata":{"name":"c"},"spec":{"volumes":[{"name":"own"}],"containers":[{"name":"c",)"
      R"("image":"i","volumeMounts":[{"name":"own","mountPath":")" +
          std::string{kMount} + R"("}]}]}})");

  EXPECT_EQ(quiet.at("spec.volumes"), "");
  EXPECT_EQ(quiet.at("spec.imagePullSecrets"), R"([{"name":"registry"}])");
  EXPECT_EQ(unwilling.at("spec.volumes"), "");
  EXPECT_EQ(mounted.at("spec.volumes"), R"([{"emptyDir":{},"name":"own"}])");
}

// AD-6
TEST(PodAccounts, MustExist) {
  Api api{{.cluster_objects = true}};

  const ApiReply pod = api.make_pod("p", R"("serviceAccountName":"none",)");

  EXPECT_EQ(pod.status(), 403);
  EXPECT_EQ(pod.message(),
            "pods \"p\" is forbidden: error looking up service account default/none: "
            "serviceaccount \"none\" not found");
}

// AD-6: a namespace may be used before its default account exists.
TEST(PodAccounts, DefaultAccountOfANewNamespaceMayBeMissing) {
  Api api{{.cluster_objects = true}};
  api.engine.settle();
  api.remove(std::string{kAccounts} + "/default");

  EXPECT_EQ(api.make_pod("p").at("spec.serviceAccountName"), "default");
}

// AD-6
TEST(PodAccounts, AreIgnoredWithoutClusterObjects) {
  Api api;

  const ApiReply pod = api.make_pod("p", R"("serviceAccountName":"none",)");

  EXPECT_EQ(pod.status(), 201);
  EXPECT_EQ(pod.at("spec.volumes"), "");
}

// AD-2
TEST(LimitRanges, ApplyToResizedPods) {
  Api api;
  const auto resized = [&](const std::string& cpu) {
    return api.patch(std::string{kPods} + "/p/resize",
                     R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":")" + cpu +
                         R"("},"requests":{"cpu":")" + cpu + R"("}}}]}})",
                     "strategic-merge-patch+json");
  };
  ASSERT_EQ(
      api.post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",)"
                      R"("resources":{"limits":{"cpu":"1"}}}]}})")
          .status(),
      201);
  api.post(
      "/api/v1/namespaces/default/limitranges",
      R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"}}]}})");

  EXPECT_EQ(resized("2").status(), 200);
  const ApiReply refused = resized("3");

  EXPECT_EQ(refused.status(), 403);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: maximum cpu usage per Container is 2, but limit is 3");
}

}  // namespace
}  // namespace kube::testkit::detail
