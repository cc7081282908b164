// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/authentication/v1.hpp>
#include <kube/api/autoscaling/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using apps::v1::Deployment;
using core::v1::Pod;
using test::FakeAnswer;
using test::header;
using test::Scripted;
using testing::HasSubstr;

constexpr const char* kSuccess = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
constexpr const char* kDeployment =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop"}})";

struct Writing : testing::Test {
  void answer(FakeAnswer answer) { scripted.transport->answer(std::move(answer)); }
  HttpRequest last() const { return scripted.transport->last(); }
  Scripted scripted;
  Client client = scripted.client();
  Resource<Pod> pods = client.resource<Pod>("shop");
  Resource<Deployment> deployments = client.resource<Deployment>("shop");
};

// RC-52
TEST_F(Writing, CreatesAndUpdatesWithOptions) {
  const Pod pod{.metadata = {.name = "web-0"}};
  answer(FakeAnswer::json(test::pod_json("web-0", "8"), 201));
  const Ref<Pod> created =
      pods.create(pod, {.dry_run = true, .field_manager = "me", .field_validation = "Strict"});
  EXPECT_EQ(created->metadata.resource_version, "8");
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target,
            "/api/v1/namespaces/shop/pods?dryRun=All&fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(decode_protobuf<Pod>(last().body)->metadata.name, "web-0");
  EXPECT_EQ(header(last(), "Content-Type"), "application/vnd.kubernetes.protobuf");

  answer(FakeAnswer::json(test::pod_json("web-0", "9")));
  EXPECT_EQ(pods.update(pod)->metadata.resource_version, "9");
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0");

  answer(FakeAnswer::json(test::pod_json("web-0")));
  pods.update_status(pod);
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0/status");

  EXPECT_THROW(pods.update(Pod{}), std::invalid_argument) << "no name";
}

// RC-50
TEST_F(Writing, PatchesWithTheBodyAsGiven) {
  for (const auto& [type, media] : std::vector<std::pair<PatchType, std::string>>{
           {PatchType::kJson, "application/json-patch+json"},
           {PatchType::kMerge, "application/merge-patch+json"},
           {PatchType::kStrategicMerge, "application/strategic-merge-patch+json"}}) {
    answer(FakeAnswer::json(test::pod_json("web-0")));
    pods.patch("web-0", type, " [ any thing ] ", {.field_manager = "me"}, "status");
    EXPECT_EQ(last().method, "PATCH");
    EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0/status?fieldManager=me");
    EXPECT_EQ(last().body, " [ any thing ] ");
    EXPECT_EQ(header(last(), "Content-Type"), media);
  }
  EXPECT_THROW(pods.patch("web-0", PatchType::kMerge, "{}", {.force = true}),
               std::invalid_argument);
}

// RC-50, RC-51
TEST_F(Writing, AppliesTheFieldsOfTheObject) {
  Deployment web{.metadata = {.name = "web", .namespace_ = "shop"}, .spec = {.replicas = 3}};
  web.metadata.managed_fields.push_back({.manager = "somebody"});
  web.spec.template_.spec.containers.push_back({.name = "main", .image = "nginx"});
  answer(FakeAnswer::json(kDeployment));
  EXPECT_EQ(deployments.apply(web, {.field_manager = "me"})->metadata.name, "web");
  EXPECT_EQ(last().method, "PATCH");
  EXPECT_EQ(last().target,
            "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me&force=false");
  EXPECT_EQ(header(last(), "Content-Type"), "application/apply-patch+yaml");
  const Ref<Value> body = decode_json<Value>(last().body);
  EXPECT_EQ(body->get_string("kind"), "Deployment");
  EXPECT_EQ(body->get_string("apiVersion"), "apps/v1");
  EXPECT_EQ(body->get_integer("spec.replicas"), 3);
  EXPECT_EQ(body->get_string("spec.template.spec.containers[0].image"), "nginx");
  for (const char* absent : {"metadata.managedFields", "status", "metadata.creationTimestamp",
                             "spec.selector", "spec.template.metadata.creationTimestamp"}) {
    EXPECT_EQ(body->find(absent), nullptr) << last().body;
  }

  answer(FakeAnswer::json(kDeployment));
  client.apply(web, {.field_manager = "me", .force = true, .dry_run = true});
  EXPECT_EQ(last().target,
            "/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All&fieldManager=me&force=true");

  web.status.replicas = 3;
  answer(FakeAnswer::json(kDeployment));
  deployments.apply_status(web, {.field_manager = "me"});
  EXPECT_EQ(last().target,
            "/apis/apps/v1/namespaces/shop/deployments/web/status?fieldManager=me&force=false");
  EXPECT_EQ(decode_json<Value>(last().body)->get_integer("status.replicas"), 3);
}

// RC-51: nothing is added either; a server refuses fields that a kind does not have.
TEST_F(Writing, AppliesNothingElse) {
  answer(FakeAnswer::json(R"({"kind":"ConfigMap","apiVersion":"v1"})"));
  client.resource<core::v1::ConfigMap>("shop").apply(
      {.metadata = {.name = "m"}, .data = {{"a", "b"}}}, {.field_manager = "me"});
  EXPECT_EQ(last().body,
            R"({"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"name":"m"}})");
  answer(FakeAnswer::json("{}"));
  client.dynamic({"", "v1", "configmaps"}, "shop")
      .patch("m", PatchType::kApply, "a: yaml document", {.field_manager = "me"});
  EXPECT_EQ(last().body, "a: yaml document");
}

// RC-51
TEST_F(Writing, RequiresFieldManagerAndNameForApply) {
  const Deployment web{.metadata = {.name = "web"}};
  EXPECT_THROW(deployments.apply(web, {}), std::invalid_argument);
  EXPECT_THROW(deployments.apply(web, {.field_manager = std::string(129, 'x')}),
               std::invalid_argument);
  EXPECT_THROW(deployments.apply(web, {.field_manager = "a\nb"}), std::invalid_argument);
  EXPECT_THROW(deployments.apply(Deployment{}, {.field_manager = "me"}), std::invalid_argument);
  EXPECT_THROW(deployments.patch("web", PatchType::kApply, "{}"), std::invalid_argument);
  EXPECT_TRUE(scripted.transport->requests().empty());
}

// RC-53
TEST_F(Writing, DeletesWithOptionsInTheBody) {
  answer(FakeAnswer::json(kSuccess));
  pods.delete_("web-0");
  EXPECT_EQ(last().method, "DELETE");
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0");
  EXPECT_EQ(*decode_protobuf<meta::v1::DeleteOptions>(last().body), meta::v1::DeleteOptions{});

  answer(FakeAnswer::json(test::pod_json("web-0")));  // the object being deleted
  pods.delete_("web-0", {.grace_period_seconds = 0,
                         .uid = "u",
                         .resource_version = "7",
                         .propagation_policy = "Foreground",
                         .dry_run = true});
  const auto sent = decode_protobuf<meta::v1::DeleteOptions>(last().body);
  EXPECT_EQ(sent->grace_period_seconds, 0);
  EXPECT_EQ(sent->preconditions->uid, "u");
  EXPECT_EQ(sent->preconditions->resource_version, "7");
  EXPECT_EQ(sent->propagation_policy, "Foreground");
  EXPECT_EQ(sent->dry_run.front(), "All");

  EXPECT_THROW(pods.delete_("a", {.propagation_policy = "Orphan", .orphan_dependents = true}),
               std::invalid_argument);
  EXPECT_THROW(pods.delete_(""), std::invalid_argument);

  answer(FakeAnswer::json(kSuccess));
  client.dynamic({"example.com", "v1", "widgets"}, "shop")
      .delete_("w", {.orphan_dependents = true});
  EXPECT_EQ(last().body, R"({"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":true})");
}

// RC-54
TEST_F(Writing, DeletesCollections) {
  answer(FakeAnswer::json(kSuccess));
  pods.delete_collection({.propagation_policy = "Background"}, {.label_selector = "app=web"});
  EXPECT_EQ(last().method, "DELETE");
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb");
  EXPECT_EQ(decode_protobuf<meta::v1::DeleteOptions>(last().body)->propagation_policy,
            "Background");
}

// RC-55
TEST_F(Writing, ReadsAndWritesScales) {
  constexpr const char* kScale =
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web"},"spec":{"replicas":2}})";
  answer(FakeAnswer::json(kScale));
  autoscaling::v1::Scale scale = *deployments.get_scale("web");
  EXPECT_EQ(last().target, "/apis/apps/v1/namespaces/shop/deployments/web/scale");
  scale.spec.replicas = 5;
  answer(FakeAnswer::json(kScale));
  deployments.update_scale("web", scale);
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(decode_protobuf<autoscaling::v1::Scale>(last().body)->spec.replicas, 5);
}

// RC-55
TEST_F(Writing, EvictsPodsUnlessABudgetForbidsIt) {
  const policy::v1::Eviction eviction{.metadata = {.name = "web-0", .namespace_ = "shop"}};
  answer(FakeAnswer::json(kSuccess, 201));
  pods.evict(eviction);
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0/eviction");
  EXPECT_EQ(decode_protobuf<policy::v1::Eviction>(last().body)->metadata.name, "web-0");

  answer(FakeAnswer::json(test::status_json(429, "TooManyRequests", "no",
                                            R"({"causes":[{"reason":"DisruptionBudget"}]})"),
                          429));
  const ApiError error = test::api_error([&] { pods.evict(eviction); });
  EXPECT_TRUE(is_too_many_requests(error));
  EXPECT_TRUE(has_cause(error, meta::v1::cause_type::kDisruptionBudget));
}

TEST_F(Writing, BindsPodsAndRequestsTokens) {
  answer(FakeAnswer::json(kSuccess, 201));
  pods.bind(
      core::v1::Binding{.metadata = {.name = "web-0"}, .target = {.kind = "Node", .name = "n"}});
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/pods/web-0/binding");

  answer(FakeAnswer::json(R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                          R"("spec":{"audiences":null},"status":{"token":"t"}})",
                          201));
  const auto token = client.core().v1().serviceaccounts("shop").create_token(
      "robot", authentication::v1::TokenRequest{.spec = {.audiences = {"api"}}});
  EXPECT_EQ(token->status.token, "t");
  EXPECT_EQ(last().target, "/api/v1/namespaces/shop/serviceaccounts/robot/token");
}

// RC-56
TEST_F(Writing, TakesUntypedObjectsWithoutKind) {
  const auto widgets = client.dynamic({"example.com", "v1", "widgets"}, "shop");
  const Value widget = Value::object({{"metadata", Value::object({{"name", "w"}})}, {"size", 3}});
  answer(FakeAnswer::json(R"({"kind":"Widget","apiVersion":"example.com/v1","size":3})", 201));
  EXPECT_EQ(widgets.create(widget)->get_integer("size"), 3);
  EXPECT_EQ(last().target, "/apis/example.com/v1/namespaces/shop/widgets");
  EXPECT_EQ(last().body, R"({"metadata":{"name":"w"},"size":3})");
  EXPECT_EQ(header(last(), "Content-Type"), "application/json");

  answer(FakeAnswer::json("{}", 201));
  widgets.create(Value::object({{"metadata", Value::object({{"generateName", "w-"}})}}));

  answer(FakeAnswer::json("{}"));
  widgets.update(widget);
  EXPECT_EQ(last().target, "/apis/example.com/v1/namespaces/shop/widgets/w");
  answer(FakeAnswer::json("{}"));
  widgets.apply(widget, {.field_manager = "me"});
  EXPECT_EQ(last().body, R"({"metadata":{"name":"w"},"size":3})");

  const Value nameless = Value::object({{"size", 3}});
  EXPECT_THROW(widgets.update(nameless), std::invalid_argument);
  EXPECT_THROW(widgets.update_status(nameless), std::invalid_argument);
  EXPECT_THROW(widgets.apply(nameless, {.field_manager = "me"}), std::invalid_argument);
  EXPECT_THROW((void)widgets.create_subresource<Value>("", "scale", nameless),
               std::invalid_argument);
}

}  // namespace
}  // namespace kube
