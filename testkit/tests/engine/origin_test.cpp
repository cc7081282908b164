// SPDX-License-Identifier: Apache-2.0
#include "engine_fixture.hpp"

#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

constexpr const char* kBody = R"({"metadata":{"name":"a"}})";

EngineOptions with_policy(OriginPolicy policy = {}) {
  EngineOptions options;
  options.tokens["known"] = {.name = "somebody"};
  options.origins = std::move(policy);
  return options;
}

int status_for_host(Api& api, std::string host, Headers more = {}) {
  more.push_back({"Host", std::move(host)});
  return api.send("GET", "/api/v1/namespaces", "", std::move(more)).status();
}

// AU-7: after DNS rebinding, a page sends its own name as Host.
TEST(Origin, AnswersOnlyToNamesOfTheServer) {
  Api api{with_policy({.listen = "192.0.2.7", .allow_hosts = {"dev.example", "[fd00::1]"}})};

  for (const char* host : {"localhost", "localhost:8080", "LOCALHOST.:8080", "api.localhost:1",
                           "127.0.0.1", "127.1.2.3:8080", "[::1]:8080", "[::ffff:127.0.0.1]",
                           "192.0.2.7:8080", "dev.example:99", "Dev.Example", "[fd00::1]:1"}) {
    EXPECT_EQ(status_for_host(api, host), 200) << host;
  }
  for (const char* host :
       {"rebound.example", "rebound.example:8080", "localhost.rebound.example",
        "127.0.0.1.rebound.example", "192.0.2.8", "0.0.0.0:8080", "[::2]", "", "localhost:x",
        "localhost:80:80@", "[::1", "2130706433", "0x7f.1", "127.1"}) {
    EXPECT_EQ(status_for_host(api, host), 403) << host;
  }
  EXPECT_EQ(api.send("GET", "/version").status(), 200) << "no Host at all";
}

// AU-7
TEST(Origin, ChecksEveryHostHeader) {
  Api api{with_policy()};

  EXPECT_EQ(status_for_host(api, "rebound.example", {{"Host", "localhost"}}), 403);
  EXPECT_EQ(status_for_host(api, "localhost", {{"host", "rebound.example"}}), 403);
}

// AU-7
TEST(Origin, AcceptsAnyAddressIfTheServerListensOnAll) {
  Api four{with_policy({.listen = "0.0.0.0"})};
  Api six{with_policy({.listen = "::"})};

  for (Api* api : {&four, &six}) {
    EXPECT_EQ(status_for_host(*api, "192.0.2.8:8080"), 200);
    EXPECT_EQ(status_for_host(*api, "[2001:db8::1]:8080"), 200);
    EXPECT_EQ(status_for_host(*api, "rebound.example"), 403);
  }
}

// AU-7: with TLS, the certificate excludes other names, except for requests without credentials.
TEST(Origin, WithTlsChecksHostOnlyWithoutCredentials) {
  Api plain{with_policy()};
  Api secure{with_policy({.tls = true})};
  const Headers token{{"Authorization", "Bearer known"}};

  EXPECT_EQ(status_for_host(plain, "other.example", token), 403);
  EXPECT_EQ(status_for_host(secure, "other.example", token), 200);
  EXPECT_EQ(status_for_host(secure, "other.example"), 403);
}

// AU-7: the error names cause and remedy; text from the network is escaped.
TEST(Origin, ErrorExplainsHowToAllowAName) {
  Api api{with_policy()};

  const ApiReply refused = api.send("GET", "/api", "", {{"Host", "evil\x1b[2J.example"}});

  EXPECT_EQ(refused.status(), 403);
  EXPECT_EQ(refused.reason(), "Forbidden");
  EXPECT_NE(refused.message().find(R"("evil\x1b[2J.example")"), std::string::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("--allow-host"), std::string::npos);
  EXPECT_NE(refused.message().find("localhost"), std::string::npos);
}

// AU-8: browsers send the origin of a page, also with writes that need no preflight.
TEST(Origin, RefusesForeignOrigins) {
  Api api{with_policy({.allow_hosts = {"dev.example"}})};
  const auto status = [&](std::string origin, Headers more = {}) {
    more.push_back({"Host", "127.0.0.1:8080"});
    more.push_back({"Content-Type", "application/json"});
    more.push_back({"Origin", std::move(origin)});
    return api.send("POST", kConfigMaps, kBody, std::move(more)).status();
  };

  for (const char* origin :
       {"https://evil.example", "null", "", "http://127.0.0.1", "http://127.0.0.1:8081",
        "http://localhost:8080", "http://dev.example.evil.example", "127.0.0.1:8080"}) {
    EXPECT_EQ(status(origin), 403) << origin;
  }
  EXPECT_EQ(status("https://evil.example", {{"Authorization", "Bearer known"}}), 403);
  EXPECT_EQ(status("http://127.0.0.1:8080", {{"Origin", "https://evil.example"}}), 403);
  EXPECT_EQ(api.send("GET", "/api/v1/namespaces/default/pods/a/exec", "",
                     {{"Host", "localhost"},
                      {"Connection", "Upgrade"},
                      {"Upgrade", "websocket"},
                      {"Origin", "https://evil.example"}})
                .status(),
            403);
  EXPECT_EQ(api.send("OPTIONS", kConfigMaps, "", {{"Origin", "https://evil.example"}}).status(),
            403);
  EXPECT_EQ(api.engine.list({"", "configmaps"}).size(), 0U);

  EXPECT_EQ(status("http://127.0.0.1:8080"), 201);
  EXPECT_EQ(status("https://dev.example"), 409);
}

// AU-8: requests for images and frames have no Origin.
TEST(Origin, RefusesCrossSiteRequests) {
  Api api{with_policy({.allow_hosts = {"dev.example"}})};
  const auto status = [&](Headers headers) {
    return api.send("GET", "/api/v1/namespaces", "", std::move(headers)).status();
  };

  EXPECT_EQ(status({{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"sec-fetch-site", "Cross-Site"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://dev.example"}}), 200);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "same-origin"}}), 200);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "none"}}), 200);
}

// AU-9, CT-1: content types that pages may send without a preflight are refused.
TEST(Origin, RefusesContentTypesThatNeedNoPreflight) {
  Api api{with_policy()};

  for (const char* type :
       {"text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x"}) {
    const Headers headers{{"Content-Type", type}};
    EXPECT_EQ(api.send("POST", kConfigMaps, kBody, headers).status(), 415) << type;
    EXPECT_EQ(api.send("PUT", std::string{kConfigMaps} + "/a", kBody, headers).status(), 415);
    EXPECT_EQ(api.send("PATCH", std::string{kConfigMaps} + "/a", "{}", headers).status(), 415);
    EXPECT_EQ(api.send("DELETE", kConfigMaps, "{}", headers).status(), 415) << type;
    EXPECT_EQ(
        api.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}", headers)
            .status(),
        415);
    EXPECT_EQ(api.send("POST", std::string{kPods} + "/a/eviction", "{}", headers).status(), 415);
    EXPECT_EQ(api.send("POST", std::string{kPods} + "/a/binding", "{}", headers).status(), 415);
  }
  const Headers page{{"Host", "localhost"}, {"Origin", "http://localhost"}};
  EXPECT_EQ(api.send("POST", kConfigMaps, kBody, page).status(), 415);
  EXPECT_EQ(api.engine.list({"", "configmaps"}).size(), 0U);
  // Clients that are not browsers may omit the content type.
  EXPECT_EQ(api.send("POST", kConfigMaps, kBody, {{"Host", "localhost"}}).status(), 201);
}

}  // namespace
}  // namespace kube::testkit::detail
