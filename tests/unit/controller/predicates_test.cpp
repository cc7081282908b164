// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/controller/predicates.hpp>

#include <gtest/gtest.h>

namespace kube {
namespace {

core::v1::Pod make_pod() {
  core::v1::Pod pod;
  pod.metadata.resource_version = "1";
  pod.metadata.generation = 1;
  pod.metadata.labels = {{"app", "web"}};
  pod.metadata.annotations = {{"note", "a"}};
  return pod;
}

Value make_document() {
  return Value::object(
      {{"metadata", Value::object({{"resourceVersion", "1"},
                                   {"generation", 1},
                                   {"labels", Value::object({{"app", "web"}})},
                                   {"annotations", Value::object({{"note", "a"}})}})}});
}

/// `change` makes an update pass; all other events pass anyway, and an update without a change does
/// not.
template <typename T, typename Change>
void check_updates_only(const Predicate<T>& predicate, const T& before, Change change) {
  T now = before;
  EXPECT_FALSE(predicate.update(before, now));
  change(now);
  EXPECT_TRUE(predicate.update(before, now));
  EXPECT_TRUE(predicate.create(now));
  EXPECT_TRUE(predicate.remove(now));
  EXPECT_TRUE(predicate.generic(now));
}

// CF-22, CF-23
TEST(Predicate, ComparesTheMetadataOfUpdates) {
  using core::v1::Pod;
  check_updates_only(resource_version_changed<Pod>(), make_pod(),
                     [](Pod& pod) { pod.metadata.resource_version = "2"; });
  check_updates_only(generation_changed<Pod>(), make_pod(),
                     [](Pod& pod) { pod.metadata.generation = 2; });
  check_updates_only(labels_changed<Pod>(), make_pod(),
                     [](Pod& pod) { pod.metadata.labels["x"] = "y"; });
  check_updates_only(annotations_changed<Pod>(), make_pod(),
                     [](Pod& pod) { pod.metadata.annotations.erase("note"); });
}

// CF-22, CF-23
TEST(Predicate, ComparesDocumentsWithoutAType) {
  const auto set = [](const char* path, Value value) {
    return [=](Value& document) { document.at_path(path) = value; };
  };
  check_updates_only(resource_version_changed<Value>(), make_document(),
                     set("metadata.resourceVersion", "2"));
  check_updates_only(generation_changed<Value>(), make_document(), set("metadata.generation", 2));
  check_updates_only(labels_changed<Value>(), make_document(), set("metadata.labels.x", "y"));
  check_updates_only(annotations_changed<Value>(), make_document(),
                     set("metadata.annotations.x", "y"));
}

// CF-22
TEST(Predicate, SelectsByLabelsAndJudgesTheNewObject) {
  const auto check = [](const auto& predicate, const auto& web, const auto& other) {
    EXPECT_TRUE(predicate.create(web));
    EXPECT_FALSE(predicate.create(other));
    EXPECT_FALSE(predicate.remove(other));
    EXPECT_FALSE(predicate.generic(other));
    EXPECT_TRUE(predicate.update(other, web));
    EXPECT_FALSE(predicate.update(web, other));
  };
  const labels::Selector selector = labels::Selector::parse("app=web");
  core::v1::Pod other_pod = make_pod();
  other_pod.metadata.labels["app"] = "db";
  check(matching_labels<core::v1::Pod>(selector), make_pod(), other_pod);
  check(matching_labels<Value>(selector), make_document(), Value::object());
}

// CF-22
TEST(Predicate, CombinesWithAndOrAndNot) {
  using core::v1::Pod;
  const Predicate<Pod> labels = labels_changed<Pod>();
  const Predicate<Pod> generation = generation_changed<Pod>();
  const Pod before = make_pod();
  Pod relabelled = before;
  relabelled.metadata.labels["x"] = "y";
  Pod both = relabelled;
  both.metadata.generation = 2;

  EXPECT_FALSE((labels && generation).update(before, relabelled));
  EXPECT_TRUE((labels && generation).update(before, both));
  EXPECT_TRUE((labels || generation).update(before, relabelled));
  EXPECT_FALSE((labels || generation).update(before, before));
  EXPECT_FALSE((!labels).update(before, relabelled));
  EXPECT_TRUE((!labels).update(before, before));
  EXPECT_FALSE((!labels).create(before));
  const Predicate<Pod> never{.on_create = [](const Pod&) { return false; },
                             .on_delete = [](const Pod&) { return false; },
                             .on_generic = [](const Pod&) { return false; }};
  EXPECT_FALSE((labels && never).create(before));
  EXPECT_TRUE((labels || never).remove(before));
  EXPECT_FALSE((never && labels).generic(before));
}

}  // namespace
}  // namespace kube
