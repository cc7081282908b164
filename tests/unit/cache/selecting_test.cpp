// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apps/v1.hpp>
#include <kube/api/batch/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/selecting.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace kube {
namespace {

using meta::v1::LabelSelector;
using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

template <typename T>
T object(std::string_view space, std::string_view name, const Labels& labels = {}) {
  T made;
  made.metadata.namespace_ = space;
  made.metadata.name = name;
  for (const auto& [key, value] : labels) made.metadata.labels[key] = value;
  return made;
}

/// Creates owners of several kinds, and returns the sorted names of those that select `object`.
template <typename Owner, typename T>
std::string selecting_names(const T& selected) {
  Indexer<Owner> indexer;
  const auto add = [&](std::string_view space, std::string_view name,
                       std::optional<LabelSelector> selector) {
    Owner owner = object<Owner>(space, name);
    if (selector) owner.spec.selector = std::move(*selector);
    indexer.upsert(freeze(owner));
  };
  LabelSelector web;
  web.match_labels["app"] = "web";
  LabelSelector invalid = web;
  invalid.match_expressions.push_back({.key = "app", .operator_ = "Likes", .values = {"web"}});
  add("shop", "web", web);
  add("other", "elsewhere", web);
  add("shop", "empty", LabelSelector{});
  add("shop", "invalid", invalid);
  add("shop", "absent", std::nullopt);
  LabelSelector db;
  db.match_labels["app"] = "db";
  add("shop", "db", db);
  std::vector<std::string> names;
  try {
    for (const Ref<Owner>& owner : selecting(Lister<Owner>{indexer}, selected)) {
      names.push_back(owner->metadata.name.str());
    }
  } catch (const Error& error) {
    return error.what();
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
  return all;
}

// Y-8
TEST(Selecting, FindsTheOwnersThatSelectAnObject) {
  const auto web = object<core::v1::Pod>("shop", "web-0", {{"app", "web"}, {"tier", "1"}});
  const auto odd = object<core::v1::Pod>("shop", "odd", {{"app", "odd"}});
  const auto bare = object<core::v1::Pod>("shop", "bare");

  EXPECT_EQ(selecting_names<apps::v1::ReplicaSet>(web), "web");
  EXPECT_EQ(selecting_names<apps::v1::StatefulSet>(web), "web");
  EXPECT_EQ(selecting_names<apps::v1::DaemonSet>(web), "web");
  EXPECT_EQ(selecting_names<batch::v1::Job>(web), "empty web");
  EXPECT_EQ(selecting_names<policy::v1::PodDisruptionBudget>(web), "empty web");

  EXPECT_EQ(selecting_names<apps::v1::ReplicaSet>(odd), "no ReplicaSet selects shop/odd");
  EXPECT_EQ(selecting_names<batch::v1::Job>(odd), "empty");
  EXPECT_EQ(selecting_names<policy::v1::PodDisruptionBudget>(odd), "empty");

  EXPECT_EQ(selecting_names<apps::v1::DaemonSet>(bare),
            "no DaemonSet selects shop/bare, which has no labels");
  EXPECT_EQ(selecting_names<batch::v1::Job>(bare), "no Job selects shop/bare, which has no labels");
  EXPECT_EQ(selecting_names<policy::v1::PodDisruptionBudget>(bare), "empty");

  const auto revision = object<apps::v1::ControllerRevision>("shop", "agent-1", {{"app", "web"}});
  EXPECT_EQ(selecting_names<apps::v1::DaemonSet>(revision), "web");
}

// Y-8: a selector that is only a map.
TEST(Selecting, FindsReplicationControllers) {
  Indexer<core::v1::ReplicationController> indexer;
  auto owner = object<core::v1::ReplicationController>("shop", "empty");
  indexer.upsert(freeze(owner));
  const Lister<core::v1::ReplicationController> lister{indexer};
  const auto web = object<core::v1::Pod>("shop", "web-0", {{"app", "web"}});
  EXPECT_THROW((void)selecting(lister, web), Error);
  owner.metadata.name = "web";
  owner.spec.selector["app"] = "web";
  indexer.upsert(freeze(owner));
  const auto found = selecting(lister, web);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front()->metadata.name, "web");
}

}  // namespace
}  // namespace kube
