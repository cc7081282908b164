// SPDX-License-Identifier: Apache-2.0
#include "kube/api/group_version.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kube {
namespace {

TEST(GroupVersion, ReadsGroupAndVersion) {
  EXPECT_EQ(parse_group_version("apps/v1"), (GroupVersion{"apps", "v1"}));
  EXPECT_EQ(parse_group_version("networking.k8s.io/v1beta1"),
            (GroupVersion{"networking.k8s.io", "v1beta1"}));
  EXPECT_EQ(parse_group_version("apps/"), (GroupVersion{"apps", ""}));
  EXPECT_EQ(parse_group_version("/v1"), (GroupVersion{"", "v1"}));
}

TEST(GroupVersion, TakesALoneVersionForTheCoreGroup) {
  const GroupVersion core = parse_group_version("v1");

  EXPECT_EQ(core, (GroupVersion{"", "v1"}));
  EXPECT_TRUE(core.is_core());
  EXPECT_FALSE(core.empty());
}

TEST(GroupVersion, TakesNothingForTheEmptyValue) {
  EXPECT_TRUE(parse_group_version("").empty());
  EXPECT_TRUE(parse_group_version("/").empty());
}

TEST(GroupVersion, RejectsMoreThanOneSlash) {
  EXPECT_THROW((void)parse_group_version("a/b/c"), std::invalid_argument);
  EXPECT_THROW((void)parse_group_version("//"), std::invalid_argument);
  try {
    (void)parse_group_version("apis/apps/v1");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string_view(error.what()),
              R"("apis/apps/v1" is not an API version: it has more than one '/')");
  }
}

TEST(GroupVersion, WritesWhatItReads) {
  for (const std::string_view text : {"v1", "apps/v1", "example.com/v1alpha1", ""}) {
    EXPECT_EQ(to_string(parse_group_version(text)), text);
  }
}

TEST(GroupVersion, LeadsToKindsAndResources) {
  const GroupVersion apps{"apps", "v1"};

  EXPECT_EQ(apps.with_kind("Deployment"), (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(apps.with_resource("deployments"), (GroupVersionResource{"apps", "v1", "deployments"}));
  EXPECT_EQ(apps.with_kind("Deployment").group_version(), apps);
  EXPECT_EQ(apps.with_resource("deployments").group_version(), apps);
}

TEST(GroupKind, DividesAtTheFirstDot) {
  EXPECT_EQ(parse_group_kind("Deployment.apps"), (GroupKind{"apps", "Deployment"}));
  EXPECT_EQ(parse_group_kind("Ingress.networking.k8s.io"),
            (GroupKind{"networking.k8s.io", "Ingress"}));
  EXPECT_EQ(parse_group_kind("Pod"), (GroupKind{"", "Pod"}));
  EXPECT_EQ(parse_group_kind(".apps"), (GroupKind{"apps", ""}));
  EXPECT_TRUE(parse_group_kind("").empty());
}

TEST(GroupKind, WritesKindThenGroup) {
  EXPECT_EQ(to_string(GroupKind{"apps", "Deployment"}), "Deployment.apps");
  EXPECT_EQ(to_string(GroupKind{"", "Pod"}), "Pod");
  EXPECT_EQ((GroupKind{"apps", "Deployment"}.with_version("v1")),
            (GroupVersionKind{"apps", "v1", "Deployment"}));
}

TEST(GroupResource, DividesAtTheFirstDot) {
  EXPECT_EQ(parse_group_resource("deployments.apps"), (GroupResource{"apps", "deployments"}));
  EXPECT_EQ(parse_group_resource("leases.coordination.k8s.io"),
            (GroupResource{"coordination.k8s.io", "leases"}));
  EXPECT_EQ(parse_group_resource("pods"), (GroupResource{"", "pods"}));
}

TEST(GroupResource, WritesResourceThenGroup) {
  EXPECT_EQ(to_string(GroupResource{"apps", "deployments"}), "deployments.apps");
  EXPECT_EQ(to_string(GroupResource{"", "pods"}), "pods");
  EXPECT_EQ((GroupResource{"apps", "deployments"}.with_version("v1")),
            (GroupVersionResource{"apps", "v1", "deployments"}));
}

TEST(GroupVersionKind, NamesItsParts) {
  const GroupVersionKind kind{"apps", "v1", "Deployment"};

  EXPECT_EQ(kind.group_kind(), (GroupKind{"apps", "Deployment"}));
  EXPECT_EQ(to_string(kind), "apps/v1, Kind=Deployment");
  EXPECT_EQ(to_string(GroupVersionKind{"", "v1", "Pod"}), "/v1, Kind=Pod");
  EXPECT_FALSE(kind.empty());
  EXPECT_TRUE(GroupVersionKind{}.empty());
}

TEST(GroupVersionResource, NamesItsParts) {
  const GroupVersionResource resource{"apps", "v1", "deployments"};

  EXPECT_EQ(resource.group_resource(), (GroupResource{"apps", "deployments"}));
  EXPECT_EQ(to_string(resource), "apps/v1, Resource=deployments");
  EXPECT_FALSE(resource.empty());
  EXPECT_TRUE(GroupVersionResource{}.empty());
}

TEST(GroupVersionResource, ServesAsAKeyOfMapsAndSets) {
  const GroupVersionResource pods{"", "v1", "pods"};
  const GroupVersionResource nodes{"", "v1", "nodes"};

  std::map<GroupVersionResource, int> ordered{{pods, 1}, {nodes, 2}};
  EXPECT_EQ(ordered.begin()->first, nodes);
  std::unordered_set<GroupVersionResource> hashed{pods, nodes, pods};
  EXPECT_EQ(hashed.size(), 2U);
  EXPECT_TRUE(hashed.contains(nodes));
}

TEST(GroupVersionHash, DependsOnWhereEachNameEnds) {
  const std::hash<GroupVersionKind> kinds;
  EXPECT_NE(kinds({"ab", "c", ""}), kinds({"a", "bc", ""}));
  EXPECT_NE(kinds({"a", "b", "c"}), kinds({"c", "b", "a"}));
  EXPECT_NE(kinds({"a", "", ""}), kinds({"", "a", ""}));
  EXPECT_EQ(kinds({"a", "b", "c"}), kinds({"a", "b", "c"}));
  EXPECT_NE(std::hash<GroupVersion>{}({"a", "b"}), std::hash<GroupVersion>{}({"b", "a"}));
  EXPECT_NE(std::hash<GroupKind>{}({"a", "b"}), std::hash<GroupKind>{}({"b", "a"}));
  EXPECT_NE(std::hash<GroupResource>{}({"a", "b"}), std::hash<GroupResource>{}({"b", "a"}));
}

TEST(VersionPriority, PrefersStableThenBetaThenAlpha) {
  std::vector<std::string> versions{"v1alpha1", "v10",      "foo", "v1beta10",
                                    "v2",       "bar",      "v1",  "v1beta2",
                                    "v2alpha1", "v11beta1", "v1x", "v2beta1"};

  std::ranges::sort(versions, PreferredVersionFirst{});

  EXPECT_EQ(versions,
            (std::vector<std::string>{"v10", "v2", "v1", "v11beta1", "v2beta1", "v1beta10",
                                      "v1beta2", "v2alpha1", "v1alpha1", "bar", "foo", "v1x"}));
}

TEST(VersionPriority, IsAntisymmetric) {
  const std::vector<std::string_view> versions{
      "",  "v",  "v1",    "v2",       "v01",      "v1beta1", "v1beta", "v1beta1x", "v1 ",
      "1", "V1", "v1rc1", "v1alpha2", "v1alpha1", "v-1",     "v+1",    "v1beta-1", "foo"};
  for (const std::string_view a : versions) {
    EXPECT_EQ(compare_versions(a, a), 0) << a;
    for (const std::string_view b : versions) {
      EXPECT_EQ(compare_versions(a, b), -compare_versions(b, a)) << a << " and " << b;
    }
  }
}

TEST(VersionPriority, TreatsUnknownFormsAsTheLeastPreferred) {
  EXPECT_GT(compare_versions("v1alpha1", "v1beta"), 0);
  EXPECT_GT(compare_versions("v1alpha1", "v99999999999999999999"), 0);
  EXPECT_GT(compare_versions("v1alpha1", "v+1"), 0);
  EXPECT_GT(compare_versions("a", "b"), 0);
  EXPECT_EQ(compare_versions("v01", "v1"), 0);
}

TEST(VersionPriority, OrdersASet) {
  const std::set<std::string, PreferredVersionFirst> versions{"v1beta1", "v1", "v2alpha1"};
  EXPECT_EQ(*versions.begin(), "v1");
  EXPECT_TRUE(versions.contains(std::string_view("v2alpha1")));
}

}  // namespace
}  // namespace kube
