// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

// BK-8
TEST(ClusterObjects, ExistFromTheStart) {
  Api api{{.cluster_objects = true}};

  EXPECT_EQ(api.get("/api/v1/namespaces/default/services/kubernetes").at("spec.clusterIP"),
            "10.96.0.1");
  EXPECT_THAT(api.get("/apis/networking.k8s.io/v1/servicecidrs").names(),
              ElementsAre("kubernetes"));
  EXPECT_THAT(api.get("/apis/scheduling.k8s.io/v1/priorityclasses").names(),
              ElementsAre("system-cluster-critical", "system-node-critical"));
  EXPECT_THAT(api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles").names(),
              IsSupersetOf({"admin", "cluster-admin", "edit", "system:discovery", "view"}));
  const ApiReply binding =
      api.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin");
  EXPECT_EQ(binding.at("subjects[0].name"), "system:masters");
  EXPECT_EQ(binding.at("roleRef.name"), "cluster-admin");
  const ApiReply apps = api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps");
  EXPECT_EQ(apps.at("status.conditions[0].status"), "True");
}

// BK-8
TEST(ClusterObjects, AdminIncludesTheRulesOfEditAndView) {
  Api api{{.cluster_objects = true}};
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/";
  const auto rules = [&](const char* name) {
    return api.get(roles + name).json->get_array("rules").size();
  };

  EXPECT_GT(rules("view"), 0U);
  EXPECT_GT(rules("edit"), rules("view"));
  EXPECT_GT(rules("admin"), rules("edit"));
}

// BK-8
TEST(ClusterObjects, AreCreatedForEachNamespace) {
  Api api{{.cluster_objects = true, .ca_pem = "PEM"}};

  api.post("/api/v1/namespaces", R"({"metadata":{"name":"fresh"}})");
  ASSERT_TRUE(api.engine.settle());

  for (const std::string name : {"default", "kube-system", "fresh"}) {
    const std::string path = "/api/v1/namespaces/" + name;
    EXPECT_THAT(api.get(path + "/serviceaccounts").names(), ElementsAre("default"));
    EXPECT_EQ(api.get(path + "/configmaps/kube-root-ca.crt").json->find("data")->size(), 1U);
    EXPECT_EQ((*api.get(path + "/configmaps/kube-root-ca.crt").json)["data"]["ca.crt"],
              Value{"PEM"});
  }
}

// BK-8
TEST(ClusterObjects, OfNamespacesNeedTheNamespaceController) {
  Api api{{.namespace_controller = false, .cluster_objects = true}};

  api.post("/api/v1/namespaces", R"({"metadata":{"name":"fresh"}})");
  ASSERT_TRUE(api.engine.settle());

  EXPECT_THAT(api.get("/api/v1/serviceaccounts").names(), IsEmpty());
  EXPECT_EQ(api.get("/api/v1/namespaces/default/services/kubernetes").status(), 200);
}

// BK-8
TEST(ClusterObjects, AreNotCreatedByDefault) {
  Api api;

  EXPECT_THAT(api.get("/api/v1/services").names(), IsEmpty());
  EXPECT_THAT(api.get("/api/v1/configmaps").names(), IsEmpty());
  EXPECT_THAT(api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles").names(), IsEmpty());
}

}  // namespace
}  // namespace kube::testkit::detail
