// SPDX-License-Identifier: Apache-2.0
// Service account tokens.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"
#include "testkit/requests/base64url.hpp"

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* kReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kSelf = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kIssuer = "https://kubernetes.default.svc.cluster.local";

struct Fixture {
  Fixture() { api.post(kAccounts, R"({"metadata":{"name":"robot"}})"); }
  ApiReply request(const std::string& spec = "{}") {
    return api.post(std::string{kAccounts} + "/robot/token", R"({"spec":)" + spec + "}");
  }
  std::string token(const std::string& spec = "{}") { return request(spec).at("status.token"); }
  ApiReply whoami(const std::string& token) {
    return api.send("POST", kSelf, "{}",
                    {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token}});
  }
  ApiReply review(const std::string& token, const std::string& audiences = "[]") {
    return api.post(kReviews,
                    R"({"spec":{"token":")" + token + R"(","audiences":)" + audiences + "}}");
  }

  Api api;
};

// AU-10
TEST(AccountToken, NamesTheAccountAndIsAccepted) {
  Fixture f;

  const ApiReply made = f.request();
  const std::string token = made.at("status.token");
  const std::size_t first = token.find('.');
  const auto claims =
      parse_json(*base64url_decode(token.substr(first + 1, token.rfind('.') - first - 1)));

  EXPECT_EQ(made.status(), 201);
  EXPECT_EQ(made.at("metadata.name"), "robot");
  EXPECT_EQ(made.at("spec.expirationSeconds"), "3600");
  EXPECT_EQ(made.at("spec.audiences[0]"), kIssuer);
  EXPECT_EQ(claims->get_string("sub"), "system:serviceaccount:default:robot");
  EXPECT_EQ(claims->get_string("iss"), kIssuer);
  EXPECT_EQ((*claims)["kubernetes.io"]["serviceaccount"]["name"], Value{"robot"});
  const ApiReply self = f.whoami(token);
  EXPECT_EQ(self.status(), 201) << self.text();
  EXPECT_EQ(self.at("status.userInfo.username"), "system:serviceaccount:default:robot");
  EXPECT_THAT(self.text(), HasSubstr("system:serviceaccounts:default"));
}

// AU-10
TEST(AccountToken, IsRefusedForOtherAudiencesOrWhenModified) {
  Fixture f;
  std::string changed = f.token();
  const std::size_t middle = changed.find('.') + 10;
  changed[middle] = changed[middle] == 'A' ? 'B' : 'A';

  EXPECT_EQ(f.whoami(f.token(R"({"audiences":["vault"]})")).status(), 401);
  EXPECT_EQ(f.whoami(changed).status(), 401);
  EXPECT_EQ(f.whoami("a.b.c").status(), 401);
}

// AU-10
TEST(AccountToken, ExpiresWithTimeAccountAndBoundObject) {
  Fixture f;
  f.api.make_pod("p", R"("serviceAccountName":"robot",)");
  f.api.make_pod("other", R"("serviceAccountName":"someone",)");
  const auto bound = [&](const std::string& pod, const std::string& uid = "") {
    return f.request(
        R"({"expirationSeconds":7200,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":")" +
        pod + R"(","uid":")" + uid + R"("}})");
  };
  const std::string plain = f.token();
  const std::string of_pod = bound("p").at("status.token");
  const std::string longer = f.token(R"({"expirationSeconds":7200})");

  EXPECT_EQ(bound("none").status(), 404);
  EXPECT_EQ(bound("other").status(), 400);
  EXPECT_EQ(bound("p", "wrong").status(), 409);
  EXPECT_EQ(f.whoami(of_pod).status(), 201);
  f.api.remove(std::string{kPods} + "/p");
  EXPECT_EQ(f.whoami(of_pod).status(), 401);
  f.api.clock.advance(3601s);
  EXPECT_EQ(f.whoami(plain).status(), 401);
  EXPECT_EQ(f.whoami(longer).status(), 201);
  f.api.remove(std::string{kAccounts} + "/robot");
  f.api.post(kAccounts, R"({"metadata":{"name":"robot"}})");
  EXPECT_EQ(f.whoami(longer).status(), 401);
}

// AU-10
TEST(AccountToken, IsValidForAtLeastTenMinutes) {
  Fixture f;

  const ApiReply refused = f.request(R"({"expirationSeconds":599})");

  EXPECT_EQ(refused.status(), 422);
  EXPECT_THAT(refused.message(), HasSubstr("may not specify a duration less than 10 minutes"));
}

// AU-10
TEST(AccountToken, ReviewsAgree) {
  Fixture f;
  const std::string token = f.token(R"({"audiences":["vault","bank"]})");

  EXPECT_EQ(f.review(f.token()).at("status.authenticated"), "true");
  EXPECT_EQ(f.review(token).at("status.error"), "invalid bearer token");
  const ApiReply vault = f.review(token, R"(["vault","shop"])");
  EXPECT_EQ(vault.at("status.authenticated"), "true");
  EXPECT_EQ(vault.at("status.audiences"), R"(["vault"])");
  EXPECT_EQ(vault.at("status.user.username"), "system:serviceaccount:default:robot");
}

// AU-10: a client that knows only the server's address can verify a token.
TEST(AccountToken, KeysArePublished) {
  Fixture f;

  const ApiReply configuration = f.api.get("/.well-known/openid-configuration");
  const ApiReply keys = f.api.get("/openid/v1/jwks");

  EXPECT_EQ(configuration.at("issuer"), kIssuer);
  EXPECT_THAT(configuration.at("jwks_uri"), HasSubstr("/openid/v1/jwks"));
  EXPECT_EQ(keys.header("Content-Type"), "application/jwk-set+json");
  const auto set = parse_json(keys.text());
  const Value& key = set->get_array("keys")[0];
  const std::string token = f.token();
  const auto header = parse_json(*base64url_decode(token.substr(0, token.find('.'))));
  EXPECT_EQ((*header)["kid"], key["kid"]);
  EXPECT_EQ((*header)["alg"], key["alg"]);
  EXPECT_EQ(base64url_decode(key["x"].as_string())->size(), 32U);
  EXPECT_EQ(base64url_decode(key["y"].as_string())->size(), 32U);
}

}  // namespace
}  // namespace kube::testkit::detail
