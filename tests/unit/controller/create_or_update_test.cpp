// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/controller/create_or_update.hpp>

#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

using core::v1::ConfigMap;

class CreateOrUpdateTest : public ::testing::Test {
 protected:
  testing_support::TestServer server;
  const std::string space = server.space();
  const Client client{server.config()};
};

const auto kColour = [](const char* colour) {
  return [colour](ConfigMap& map) { map.data["colour"] = colour; };
};

TEST_F(CreateOrUpdateTest, WritesOnlyWhatIsNeeded) {
  ConfigMap map{.metadata = {.name = "a", .namespace_ = space}};
  map.data["given"] = "yes";
  EXPECT_EQ(create_or_update(client, map, kColour("red")), WriteResult::kCreated);
  EXPECT_FALSE(map.metadata.uid.empty());
  EXPECT_EQ(map.data.at("given"), "yes");
  const auto version = map.metadata.resource_version;

  ConfigMap again{.metadata = {.name = "a", .namespace_ = space}};
  EXPECT_EQ(create_or_update(client, again, kColour("red")), WriteResult::kUnchanged);
  EXPECT_EQ(again.metadata.resource_version, version);
  EXPECT_EQ(create_or_update(client, again, kColour("blue")), WriteResult::kUpdated);
  EXPECT_NE(again.metadata.resource_version, version);
  EXPECT_EQ(server.find<ConfigMap>(space, "a")->data.at("colour"), "blue");
  EXPECT_EQ(server.find<ConfigMap>(space, "a")->data.at("given"), "yes");
}

TEST_F(CreateOrUpdateTest, PatchesNothingButAStatusThatHasChanged) {
  const std::string name = "node-" + space;
  server.create(core::v1::Node{.metadata = {.name = name}});
  const auto before = server.find<core::v1::Node>("", name);
  core::v1::Node now = *before;
  now.metadata.labels["not"] = "sent";
  EXPECT_EQ(patch_status(client, *before, now), nullptr);
  EXPECT_EQ(server.find<core::v1::Node>("", name)->metadata.resource_version,
            before->metadata.resource_version);

  now.status.phase = "Running";
  now.metadata.resource_version = "1";  // no conflict: only the status is sent
  const auto stored = patch_status(client, *before, now);
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->status.phase, "Running");
  EXPECT_EQ(stored->metadata.labels.find("not"), nullptr);
  now.metadata.name = "other";
  EXPECT_THROW(patch_status(client, *before, now), std::logic_error);
}

TEST_F(CreateOrUpdateTest, SendsOnlyWhatHasChanged) {
  ConfigMap map{.metadata = {.name = "a", .namespace_ = space}};
  EXPECT_EQ(create_or_patch(client, map, kColour("red")), WriteResult::kCreated);
  EXPECT_EQ(create_or_patch(client, map, kColour("red")), WriteResult::kUnchanged);
  // Another client writes another field meanwhile: no conflict.
  EXPECT_EQ(create_or_patch(client, map,
                            [&](ConfigMap& mine) {
                              ConfigMap theirs = *server.find<ConfigMap>(space, "a");
                              theirs.data["theirs"] = "1";
                              client.resource<ConfigMap>(space).update(theirs);
                              mine.data["colour"] = "blue";
                            }),
            WriteResult::kUpdated);
  EXPECT_EQ(map.data.at("theirs"), "1");
  EXPECT_EQ(map.data.at("colour"), "blue");
  const auto removes = [](ConfigMap& mine) { mine.data.erase("theirs"); };
  EXPECT_EQ(create_or_patch(client, map, removes), WriteResult::kUpdated);
  EXPECT_EQ(server.find<ConfigMap>(space, "a")->data.size(), 1U);
}

TEST_F(CreateOrUpdateTest, PatchesTheStatusOnItsOwn) {
  core::v1::Node node{.metadata = {.name = space}};
  const auto nothing = [](core::v1::Node&) {};
  const auto status = [](core::v1::Node& one) { one.status.phase = "Running"; };
  const auto both = [](core::v1::Node& one) {
    one.metadata.labels["a"] = "b";
    one.status.phase = "Terminated";
  };
  EXPECT_EQ(create_or_patch(client, node, nothing), WriteResult::kCreated);
  EXPECT_EQ(create_or_patch(client, node, status), WriteResult::kStatusUpdated);
  EXPECT_EQ(server.find<core::v1::Node>("", space)->status.phase, "Running");
  EXPECT_EQ(create_or_patch(client, node, both), WriteResult::kUpdatedAndStatusUpdated);
  EXPECT_EQ(node.status.phase, "Terminated");
  EXPECT_EQ(node.metadata.labels.at("a"), "b");
  EXPECT_TRUE(server.remove<core::v1::Node>("", space));
}

TEST_F(CreateOrUpdateTest, RefusesToRename) {
  ConfigMap map{.metadata = {.name = "a", .namespace_ = space}};
  const auto rename = [](ConfigMap& one) { one.metadata.name = "b"; };
  EXPECT_THROW(create_or_update(client, map, rename), std::logic_error);
  EXPECT_THROW(create_or_patch(client, map, rename), std::logic_error);
  EXPECT_EQ(server.find<ConfigMap>(space, "b"), nullptr);
}

// CF-25
TEST_F(CreateOrUpdateTest, AppliesWhatAnOwnerControls) {
  const auto owner = server.create(ConfigMap{.metadata = {.name = "o", .namespace_ = space}});
  core::v1::Secret wanted{.metadata = {.name = "s", .namespace_ = space}};
  wanted.type = "Opaque";
  const auto stored = apply_controlled(client, *owner, wanted, "tests");
  EXPECT_TRUE(is_controlled_by(*stored, *owner));

  wanted.metadata.namespace_ = "kube-system";
  EXPECT_THROW(apply_controlled(client, *owner, wanted, "tests"), std::invalid_argument);
}

TEST(MergePatch, ContainsOnlyChangedFields) {
  const auto patch = [](const char* before, const char* now) {
    return detail::merge_patches(before, now);
  };
  EXPECT_EQ(patch("{}", "{}").object, "");
  EXPECT_EQ(patch(R"({"a":1,"b":{"c":[1,2],"d":2}})", R"({"a":1,"b":{"c":[1],"e":{}}})").object,
            R"({"b":{"c":[1],"d":null,"e":{}}})");
  EXPECT_EQ(patch(R"({"a":{"b":1}})", R"({"a":2})").object, R"({"a":2})");
  const auto both = patch(R"({"a":1,"status":{"b":1}})", R"({"a":2,"status":{"b":2}})");
  EXPECT_EQ(both.object, R"({"a":2})");
  EXPECT_EQ(both.status, R"({"status":{"b":2}})");
}

}  // namespace
}  // namespace kube
