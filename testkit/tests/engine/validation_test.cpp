// SPDX-License-Identifier: Apache-2.0
// Objects that a real API server refuses, with its responses (tests/fixtures/invalid_objects.yaml).
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"
#include "testkit/values/json_patch.hpp"

namespace kube::testkit::detail {
namespace {

std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

/// Removes values that a real server prints as Go structs, and random ones.
std::string comparable(std::string_view message) {
  const std::string line = first_line(message);
  for (const std::string_view part : {"value: {", "value: [{"}) {
    if (line.find(part) != std::string::npos) return {};
  }
  return line;
}

using Cause = std::tuple<std::string, std::string, std::string>;

/// Duplicate causes are merged: a real server validates some parts twice.
std::set<Cause> causes_in(const Value& list, bool with_messages) {
  std::set<Cause> causes;
  for (std::size_t i = 0; i < list.size(); ++i) {
    causes.emplace(list[i].get_string("reason").value_or(""),
                   list[i].get_string("field").value_or(""),
                   with_messages ? comparable(list[i].get_string("message").value_or("")) : "");
  }
  return causes;
}

std::string shown(const std::set<Cause>& causes) {
  std::string text;
  for (const auto& [reason, field, message] : causes) {
    text += "\n    " + reason + ' ' + field + ": " + message;
  }
  return text;
}

void compare(const ApiReply& reply, const Value& expected, const std::string& what) {
  const auto code = expected.get_integer("code").value_or(0);
  EXPECT_EQ(reply.status(), code) << what << '\n' << reply.text();
  if (code < 300 || reply.status() != code) return;
  EXPECT_EQ(reply.reason(), expected.get_string("reason").value_or("")) << what;
  const Value& wanted = expected["causes"];
  if (wanted.is_absent()) {
    EXPECT_EQ(reply.message(), expected.get_string("message").value_or("")) << what;
    return;
  }
  const Value& given = (*reply.json)["details"]["causes"];
  const auto wanted_causes = causes_in(wanted, true);
  const auto given_causes = causes_in(given, true);
  EXPECT_TRUE(wanted_causes == given_causes)
      << what << "\n  a real server says:" << shown(wanted_causes)
      << "\n  this one says:" << shown(given_causes);
}

Ref<Value> recorded() { return parse_json(test::fixture("invalid_objects.json")); }

}  // namespace

// AP-1, AP-2, AP-3, AP-4, AP-5, AP-7, BK-10, BK-11, BK-14, CE-6, CE-7, CE-8, CE-9: objects that real
// servers refuse are refused with the same causes.
TEST(Validation, ReportsTheSameCausesAsARealServer) {
  const Ref<Value> groups = recorded();
  Api api;
  for (const Value& group : groups->as_array()) {
    const std::string path{*group.get_string("path")};
    for (const Value& other : group.get_array("before")) {
      ASSERT_EQ(
          api.post(std::string{*other.get_string("path")}, json_text(other["object"])).status(),
          201);
    }
    ASSERT_TRUE(api.engine.settle());  // a definition is served afterwards
    const Value& valid = group["object"];
    const ApiReply tried = api.post(path + "?dryRun=All", json_text(valid));
    EXPECT_EQ(tried.status(), 201) << path << '\n' << tried.text();
    const std::string name = path + '/' + std::string{*valid.get_string("metadata.name")};
    for (const Value& one : group.get_array("cases")) {
      if (!one["create"].is_array()) continue;
      compare(api.post(path + "?dryRun=All", json_text(json_patch(valid, one["create"]))),
              one["answer"], "create " + path + ' ' + json_text(one["create"]));
    }
    api.post(path, json_text(valid));
    if (group["status"].is_object()) {
      Value status = Value::object();
      status["status"] = group["status"];
      ASSERT_EQ(api.patch(name + "/status", json_text(status)).status(), 200);
    }
    for (const Value& one : group.get_array("cases")) {
      if (!one["update"].is_array()) continue;
      compare(api.patch(name + "?dryRun=All", json_text(one["update"]), "json-patch+json"),
              one["answer"], "update " + path + ' ' + json_text(one["update"]));
    }
    api.remove(name, R"({"gracePeriodSeconds":0})");
  }
}

// BK-11: the requests of the controller that binds volumes.
TEST(Validation, AllowsBindingAndExpandingAClaim) {
  Api api;
  const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const std::string volumes = "/api/v1/persistentvolumes";
  ASSERT_EQ(
      api.post("/apis/storage.k8s.io/v1/storageclasses",
               R"({"metadata":{"name":"grows"},"provisioner":"a.b/c","allowVolumeExpansion":true})")
          .status(),
      201);
  ASSERT_EQ(
      api.post(
             claims,
             R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})")
          .status(),
      201);
  ASSERT_EQ(
      api.post(
             volumes,
             R"({"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},)"
             R"("storageClassName":"grows","hostPath":{"path":"/data"}}})")
          .status(),
      201);
  const auto patched = [&](const std::string& path, const std::string& patch) {
    const ApiReply reply = api.patch(path, patch);
    return reply.status() == 200 ? "" : reply.message();
  };

  // The class is set later, the volume is claimed, and both get a status.
  EXPECT_EQ(patched(claims + "/c", R"({"spec":{"storageClassName":"grows"}})"), "");
  EXPECT_EQ(
      patched(
          volumes + "/v",
          R"({"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"default","name":"c"}}})"),
      "");
  EXPECT_EQ(patched(volumes + "/v/status", R"({"status":{"phase":"Bound"}})"), "");
  EXPECT_EQ(
      patched(
          claims + "/c",
          R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"v"}})"),
      "");
  EXPECT_EQ(
      patched(
          claims + "/c/status",
          R"({"status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})"),
      "");
  EXPECT_EQ(patched(claims + "/c", R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})"), "");
  EXPECT_NE(patched(claims + "/c", R"({"spec":{"volumeName":"other"}})"), "");
  EXPECT_NE(patched(claims + "/c", R"({"spec":{"storageClassName":"other"}})"), "");
}

// BK-10: labels and images of pods that a test has stored without defaults can be changed.
TEST(Validation, DoesNotTreatDefaultsAsChanges) {
  Api api;
  api.engine.seed(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  const std::string path = std::string{kPods} + "/p";

  EXPECT_EQ(api.patch(path, R"({"metadata":{"labels":{"a":"b"}}})").status(), 200);
  EXPECT_EQ(api.patch(path, R"([{"op":"replace","path":"/spec/containers/0/image","value":"j"}])",
                      "json-patch+json")
                .status(),
            200);
  EXPECT_EQ(api.patch(path, R"({"spec":{"hostname":"other"}})").status(), 422);
}

}  // namespace kube::testkit::detail
