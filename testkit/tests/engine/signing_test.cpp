// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;

constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// Returns a request with the beginning of a PEM block, which claims another user.
std::string signing_request(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"signerName":"example.com/signer","usages":["client auth"],"username":"liar","groups":["liars"],)"
         R"("request":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"}})";
}

std::string conditions(const std::string& list) {
  return R"({"status":{"conditions":[)" + list + "]}}";
}

EngineOptions with_jane() {
  return {.tokens = {{"secret", {.name = "jane", .uid = "7", .groups = {"dev"}}}}};
}

// BK-12
TEST(SigningRequest, NamesItsRequester) {
  Api api{with_jane()};

  const ApiReply made = api.send("POST", kRequests, signing_request("a"),
                                 {{"Authorization", "Bearer secret"},
                                  {"Content-Type", "application/json"},
                                  {"Impersonate-User", "bob"},
                                  {"Impersonate-Uid", "u1"},
                                  {"Impersonate-Group", "ops"},
                                  {"Impersonate-Extra-Scopes", "view"}});

  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("spec.username"), "bob");
  EXPECT_EQ(made.at("spec.uid"), "u1");
  EXPECT_EQ(made.at("spec.groups"), R"(["ops","system:authenticated"])");
  EXPECT_EQ(made.at("spec.extra"), R"({"scopes":["view"]})");
}

// BK-12
TEST(SigningRequest, KeepsItsSpec) {
  Api api;
  ASSERT_EQ(api.post(kRequests, signing_request("a")).status(), 201);
  const std::string path = std::string{kRequests} + "/a";

  const ApiReply changed = api.patch(
      path, R"({"metadata":{"labels":{"x":"y"}},"spec":{"signerName":"example.com/other"}})");

  EXPECT_EQ(changed.status(), 200) << changed.text();
  EXPECT_EQ(changed.at("spec.signerName"), "example.com/signer");
  EXPECT_EQ(changed.at("metadata.labels.x"), "y");
}

// BK-12
TEST(SigningRequest, IsApprovedThroughItsOwnSubresource) {
  Api api;
  ASSERT_EQ(api.post(kRequests, signing_request("a")).status(), 201);
  const std::string path = std::string{kRequests} + "/a";
  const std::string approved = R"({"type":"Approved","status":"True","reason":"r"})";

  const ApiReply by_status = api.patch(path + "/status", conditions(approved));
  EXPECT_EQ(by_status.status(), 422);
  EXPECT_THAT(by_status.message(),
              HasSubstr("updates may not add a condition of type \"Approved\""));

  const ApiReply both =
      api.patch(path + "/approval", conditions(approved + R"(,{"type":"Denied","status":"True"})"));
  EXPECT_EQ(both.status(), 422);
  EXPECT_THAT(both.message(), HasSubstr("Approved and Denied conditions are mutually exclusive"));
  EXPECT_EQ(api.patch(path + "/approval", conditions(R"({"type":"Approved","status":"False"})"))
                .at("details.causes[0].reason"),
            "FieldValueNotSupported");

  api.patch(path + "/approval", R"({"metadata":{"annotations":{"asked":"yes"}}})");
  const ApiReply done = api.patch(path + "/approval", conditions(approved));
  EXPECT_EQ(done.status(), 200) << done.text();
  EXPECT_EQ(done.at("metadata.annotations.asked"), "yes");
  EXPECT_EQ(done.at("status.conditions[0].lastUpdateTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(done.at("status.conditions[0].lastTransitionTime"), "2026-01-01T00:00:00Z");

  EXPECT_THAT(api.patch(path + "/approval", R"({"status":{"conditions":null}})").message(),
              HasSubstr("updates may not remove a condition of type \"Approved\""));
  EXPECT_THAT(api.patch(path + "/status", R"({"status":{"certificate":"YQ=="}})").message(),
              HasSubstr("must contain at least one CERTIFICATE PEM block"));
}

}  // namespace
}  // namespace kube::testkit::detail
