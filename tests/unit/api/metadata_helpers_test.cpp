// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apps/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/object_key.hpp>
#include <kube/api/owner_references.hpp>

#include <gtest/gtest.h>

#include <unordered_set>

namespace kube {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using core::v1::Node;
using core::v1::Pod;

ReplicaSet replica_set(const char* name, const char* uid) {
  return {.metadata = {.name = name, .namespace_ = "shop", .uid = uid}};
}

TEST(OwnerReferences, TheControllerIsFoundAmongOtherOwners) {
  Pod pod{.metadata = {.name = "web-1", .namespace_ = "shop"}};
  set_owner_reference(replica_set("other", "u0"), pod);
  EXPECT_EQ(controller_of(pod.metadata), nullptr);

  set_controller_reference(replica_set("web", "u1"), pod);

  ASSERT_EQ(pod.metadata.owner_references.size(), 2U);
  ASSERT_NE(controller_of(pod.metadata), nullptr);
  EXPECT_EQ(controller_of(pod.metadata)->name, "web");
  EXPECT_EQ(controller_of(pod.metadata)->api_version, "apps/v1");
  EXPECT_EQ(controller_of(pod.metadata)->kind, "ReplicaSet");
  EXPECT_EQ(controller_of(pod.metadata)->block_owner_deletion, true);
  EXPECT_TRUE(is_controlled_by(pod, replica_set("web", "u1")));
  EXPECT_FALSE(is_controlled_by(pod, replica_set("web", "u2")));
}

TEST(OwnerReferences, ASecondControllerIsRefused_CF25) {
  Pod pod{.metadata = {.name = "web-1", .namespace_ = "shop"}};
  set_controller_reference(replica_set("web", "u1"), pod);

  EXPECT_THROW(set_controller_reference(replica_set("rival", "u2"), pod), AlreadyOwnedError);
  EXPECT_NO_THROW(set_controller_reference(replica_set("web", "u3"), pod));
  EXPECT_EQ(pod.metadata.owner_references.size(), 1U);
}

TEST(OwnerReferences, AnOwnerInAnotherNamespaceIsRefused_CF25) {
  Pod elsewhere{.metadata = {.name = "web-1", .namespace_ = "other"}};
  Node node{.metadata = {.name = "node-1"}};

  EXPECT_THROW(set_controller_reference(replica_set("web", "u1"), elsewhere),
               std::invalid_argument);
  EXPECT_THROW(set_controller_reference(replica_set("web", "u1"), node), std::invalid_argument);
  EXPECT_NO_THROW(set_controller_reference(node, elsewhere));
}

TEST(Conditions, TheTransitionTimeMovesOnlyWithTheStatus) {
  const Time first = Time::parse("2026-01-01T00:00:00Z");
  const Time later = Time::parse("2026-01-01T01:00:00Z");
  List<meta::v1::Condition> conditions;

  EXPECT_TRUE(set_condition(conditions, {.type = "Ready", .status = "False"}, first));
  EXPECT_TRUE(
      set_condition(conditions, {.type = "Ready", .status = "False", .reason = "Slow"}, later));
  EXPECT_EQ(find_condition(conditions, "Ready")->last_transition_time, first);
  EXPECT_FALSE(
      set_condition(conditions, {.type = "Ready", .status = "False", .reason = "Slow"}, later));
  EXPECT_TRUE(set_condition(conditions, {.type = "Ready", .status = "True"}, later));

  EXPECT_EQ(find_condition(conditions, "Ready")->last_transition_time, later);
  EXPECT_TRUE(is_condition_true(conditions, "Ready"));
  EXPECT_FALSE(is_condition_true(conditions, "Other"));
  EXPECT_TRUE(remove_condition(conditions, "Ready"));
  EXPECT_FALSE(remove_condition(conditions, "Ready"));
}

TEST(ObjectKey, IsWrittenAndReadWithAndWithoutNamespace) {
  EXPECT_EQ(ObjectKey::parse("shop/web").str(), "shop/web");
  EXPECT_EQ(ObjectKey::parse("node-1"), (ObjectKey{"", "node-1"}));
  EXPECT_THROW(ObjectKey::parse("a/b/c"), std::invalid_argument);
  EXPECT_EQ(key_of(replica_set("web", "u1")), (ObjectKey{"shop", "web"}));
  EXPECT_EQ((std::unordered_set<ObjectKey>{{"a", "b"}, {"a", "b"}, {"b", "a"}}.size()), 2U);
}

TEST(LabelSelector, OfAnObjectSelectsAsTheServerWould) {
  const meta::v1::LabelSelector selector{
      .match_labels = {{"app", "web"}},
      .match_expressions = {{.key = "tier", .operator_ = "NotIn", .values = {"db"}}}};

  const labels::Selector compiled = to_selector(selector);

  EXPECT_TRUE(compiled.matches(Map<String>{{"app", "web"}}));
  EXPECT_FALSE(compiled.matches(Map<String>{{"app", "web"}, {"tier", "db"}}));
  EXPECT_EQ(compiled.to_string(), "app=web,tier notin (db)");
  EXPECT_TRUE(to_selector(meta::v1::LabelSelector{}).matches_everything());
  EXPECT_TRUE(to_selector(Box<meta::v1::LabelSelector>{}).matches_nothing());
}

TEST(LabelSelector, WithAnUnknownOperatorNamesTheLabel) {
  try {
    static_cast<void>(to_selector(
        meta::v1::LabelSelector{.match_expressions = {{.key = "tier", .operator_ = "Near"}}}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "label \"tier\": \"Near\" is not an operator of a label selector");
  }
}

TEST(LabelSelector, IsMadeFromASelector) {
  const auto selector = to_label_selector(labels::Selector::parse("app=web,tier!=db,!old"));

  EXPECT_EQ(*selector.match_labels.find("app"), "web");
  ASSERT_EQ(selector.match_expressions.size(), 2U);
  EXPECT_THROW(to_label_selector(labels::Selector::parse("size>3")), std::invalid_argument);
}

}  // namespace
}  // namespace kube
