// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"

namespace kube::testkit::detail {
namespace {

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

std::string cells_of(Api& api, const std::string& path) {
  const ApiReply reply = api.get(path, kTable);
  EXPECT_EQ(reply.status(), 200) << reply.text();
  return reply.at("rows[0].cells");
}

// TB-7
TEST(Tables, HaveTheColumnsOfARealServer) {
  Api api;
  const Ref<Value> recorded = parse_json(test::fixture("table_columns.json"));
  for (const auto& [path, columns] : recorded->as_object()) {
    const ApiReply reply = api.get(path.view(), kTable);
    ASSERT_EQ(reply.status(), 200) << path.view();
    Value given = Value::array();
    for (const Value& column : reply.json->get_array("columnDefinitions")) {
      given.push_back(Value::object({{"name", column["name"]},
                                     {"type", column["type"]},
                                     {"format", column["format"]},
                                     {"priority", column["priority"]}}));
    }
    EXPECT_EQ(json_text(given), json_text(columns)) << path.view();
  }
}

// TB-7
TEST(Tables, ShowQuotasRequestsAndApis) {
  Api api;
  api.engine.seed(
      R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},)"
      R"("status":{"hard":{"limits.cpu":"4","pods":"10","requests.cpu":"2"},"used":{"pods":"3"}}})");
  api.engine.seed(
      R"({"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"c"},)"
      R"("spec":{"signerName":"a.b/c","username":"jane","expirationSeconds":3600},)"
      R"("status":{"conditions":[{"type":"Approved","status":"True"}],"certificate":"YQ=="}})");
  api.engine.seed(
      R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.a.b"},)"
      R"("spec":{"service":{"namespace":"n","name":"s"}},)"
      R"("status":{"conditions":[{"type":"Available","status":"False","reason":"Missing"}]}})");

  EXPECT_EQ(cells_of(api, "/api/v1/namespaces/default/resourcequotas/q"),
            R"(["q","pods: 3/10, requests.cpu: 0/2","limits.cpu: 0/4","0s"])");
  EXPECT_EQ(cells_of(api, "/apis/certificates.k8s.io/v1/certificatesigningrequests/c"),
            R"(["c","0s","a.b/c","jane","60m","Approved,Issued"])");
  EXPECT_EQ(cells_of(api, "/apis/apiregistration.k8s.io/v1/apiservices/v1.a.b"),
            R"x(["v1.a.b","n/s","False (Missing)","0s"])x");
}

// TB-7
TEST(Tables, AreNotAvailableForReviews) {
  Api api;
  const ApiReply reply = api.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}",
                                  {{"Content-Type", "application/json"}, {"Accept", kTable}});
  EXPECT_EQ(reply.status(), 406);
  EXPECT_EQ(reply.reason(), "NotAcceptable");
}

}  // namespace
}  // namespace kube::testkit::detail
