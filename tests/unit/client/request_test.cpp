// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/client/user_agent.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;
using apps::v1::Deployment;
using core::v1::Node;
using core::v1::Pod;
using test::FakeAnswer;
using test::header;
using test::Scripted;
using testing::HasSubstr;

/// Returns the URL that a client for `config` requests, as shown in its error message.
std::string url_for(Config config) {
  config.qps = -1;
  const auto transport = std::make_shared<test::FakeTransport>();
  const Client client{
      config, {.transport = transport, .credentials = std::make_shared<test::FakeCredentials>()}};
  try {
    static_cast<void>(client.raw().get("/x"));
  } catch (const TransportError& error) {
    const std::string text = error.what();
    return text.substr(4, text.find(": scripted") - 4);
  }
  return "no error";
}

// RC-1
TEST(ServerAddress, MayBeAHostAHostWithPortOrAUrl) {
  EXPECT_EQ(url_for({}), "http://localhost/x");
  EXPECT_EQ(url_for({.host = "10.0.0.1:8080"}), "http://10.0.0.1:8080/x");
  EXPECT_EQ(url_for({.host = "HTTPS://api.example.com/k8s/clusters/c-1/"}),
            "https://api.example.com/k8s/clusters/c-1/x");
}

// RC-1
TEST(ServerAddress, IsHttpsIfAnythingOfTlsIsConfigured) {
  EXPECT_EQ(url_for({.host = "h", .tls = {.insecure_skip_verify = true}}), "https://h/x");
  EXPECT_EQ(url_for({.host = "h", .tls = {.ca_data = "x"}}), "https://h/x");
  EXPECT_EQ(url_for({.host = "h", .tls = {.certificate_file = "x"}}), "https://h/x");
}

// RC-1
TEST(ServerAddress, IsRefusedWithTheReason) {
  for (const char* host : {"host/path", "ftp://host", "https://", "https://a b", "https:///x",
                           "https://h:x", "https://[::1", "::1"}) {
    try {
      static_cast<void>(url_for({.host = host}));
      FAIL() << host;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(host));
      EXPECT_THAT(error.what(), HasSubstr("https://10.0.0.1:6443"));
    }
  }
  // Text that may be a password is not quoted.
  try {
    static_cast<void>(url_for({.host = "https://me:secret@host"}));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("secret")));
  }
}

struct Urls : testing::Test {
  std::string target_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const TransportError&) {
      // There is no response; only the request matters.
    }
    return scripted.transport->last().target;
  }
  Scripted scripted;
  Client client = scripted.client();
};

// RC-2
TEST_F(Urls, HaveGroupVersionNamespaceResourceNameAndSubresource) {
  EXPECT_EQ(target_of([&] { (void)client.resource<Pod>("shop").get("web-0"); }),
            "/api/v1/namespaces/shop/pods/web-0");
  EXPECT_EQ(target_of([&] { (void)client.resource<Pod>().list(); }), "/api/v1/pods");
  EXPECT_EQ(target_of([&] { (void)client.resource<Node>().get("n"); }), "/api/v1/nodes/n");
  EXPECT_EQ(target_of([&] { (void)client.resource<Deployment>("shop").get_status("web"); }),
            "/apis/apps/v1/namespaces/shop/deployments/web/status");
  EXPECT_EQ(target_of([&] {
              (void)client.dynamic({"example.com", "v1", "Widgets"}, "shop").get("a");
            }),
            "/apis/example.com/v1/namespaces/shop/widgets/a");
}

// RC-2: the same URLs through the chain of groups and versions.
TEST_F(Urls, OfTheChainAreThoseOfTheType) {
  EXPECT_EQ(target_of([&] { (void)client.apps().v1().deployments("shop").get("web"); }),
            "/apis/apps/v1/namespaces/shop/deployments/web");
  EXPECT_EQ(target_of([&] { (void)client.core().v1().nodes().list(); }), "/api/v1/nodes");
}

TEST_F(Urls, IgnoreTheNamespaceOfKindsThatHaveNone) {
  EXPECT_EQ(target_of([&] { (void)client.resource<Node>("shop").list(); }), "/api/v1/nodes");
}

// RC-3
TEST_F(Urls, RefuseInvalidPathSegments) {
  const auto pods = client.resource<Pod>("shop");
  for (const char* name : {".", "..", "a/b", "a%2fb", "../../secrets"}) {
    EXPECT_THROW((void)pods.get(name), std::invalid_argument) << name;
    EXPECT_THROW((void)client.resource<Pod>(name).get("a"), std::invalid_argument) << name;
    EXPECT_THROW((void)client.dynamic({"g", "v1", name}).get("a"), std::invalid_argument) << name;
    EXPECT_THROW((void)pods.get_subresource<Pod>("a", name), std::invalid_argument) << name;
  }
  EXPECT_THROW((void)pods.get(""), std::invalid_argument);
  EXPECT_TRUE(scripted.transport->requests().empty());
}

// RC-3: all other characters are encoded.
TEST_F(Urls, EncodeNames) {
  EXPECT_EQ(target_of([&] { (void)client.resource<Node>().get("system:node 1\xc3\xa9?#"); }),
            "/api/v1/nodes/system:node%201%C3%A9%3F%23");
}

// RC-4
TEST_F(Urls, OfOneObjectNeedANamespaceIfTheKindHasSome) {
  const auto pods = client.resource<Pod>();
  EXPECT_THROW(pods.create(Pod{}), std::invalid_argument);
  EXPECT_THROW((void)pods.get("web-0"), std::invalid_argument);
  EXPECT_THROW(pods.update({.metadata = {.name = "web-0"}}), std::invalid_argument);
  EXPECT_THROW(pods.delete_("web-0"), std::invalid_argument);
  EXPECT_THROW(pods.patch("web-0", PatchType::kMerge, "{}"), std::invalid_argument);
  EXPECT_TRUE(scripted.transport->requests().empty());
}

// RC-5, RC-6
TEST_F(Urls, HaveSortedAndEncodedQueries) {
  EXPECT_EQ(target_of([&] {
              (void)client.resource<Pod>().list({.label_selector = "app in (a,b),x!=y",
                                                 .field_selector = "spec.nodeName=n 1",
                                                 .resource_version = "12",
                                                 .resource_version_match = "NotOlderThan",
                                                 .timeout = 5s,
                                                 .limit = 500,
                                                 .continue_token = "a+b/=",
                                                 .shard_selector = "s"});
            }),
            "/api/v1/pods?continue=a%2Bb%2F%3D&fieldSelector=spec.nodeName%3Dn%201"
            "&labelSelector=app%20in%20%28a%2Cb%29%2Cx%21%3Dy&limit=500&resourceVersion=12"
            "&resourceVersionMatch=NotOlderThan&shardSelector=s&timeout=5s&timeoutSeconds=5");
  EXPECT_EQ(scripted.transport->last().timeout, 5s);
}

// RC-6
TEST_F(Urls, OfWatchesCarryTheOptions) {
  EXPECT_EQ(target_of([&] {
              (void)client.resource<Pod>("shop").watch({.resource_version = "7",
                                                        .timeout = 300s,
                                                        .allow_watch_bookmarks = true,
                                                        .send_initial_events = false});
            }),
            "/api/v1/namespaces/shop/pods?allowWatchBookmarks=true&resourceVersion=7"
            "&sendInitialEvents=false&timeout=5m0s&timeoutSeconds=300&watch=true");
  EXPECT_EQ(scripted.transport->last().lane, Lane::kWatches);
  // The server ends the watch in time; a client that disconnects at the same moment would lose
  // events.
  EXPECT_GT(scripted.transport->last().timeout, 310s);
}

TEST_F(Urls, LeaveOutUnsetOptions) {
  EXPECT_EQ(target_of([&] { (void)client.resource<Pod>().list(); }), "/api/v1/pods");
  EXPECT_EQ(target_of([&] { (void)client.resource<Pod>("a").get("b", {.resource_version = "0"}); }),
            "/api/v1/namespaces/a/pods/b?resourceVersion=0");
}

// RC-7
TEST(UserAgent, NamesProgramVersionPlatformAndCommit) {
  EXPECT_THAT(make_user_agent("tool", "v1.2.3-beta.1+abc", "0123456789abcdef"),
              testing::MatchesRegex("tool/v1\\.2\\.3 \\([a-z]+/[a-z0-9_]+\\) kubernetes/0123456"));
  EXPECT_THAT(make_user_agent(),
              testing::MatchesRegex("client_test/unknown \\(.*\\) kubernetes/unknown"));
  EXPECT_EQ(with_user_agent_suffix({.user_agent = "me"}, "leader-election").user_agent,
            "me/leader-election");
  EXPECT_THAT(with_user_agent_suffix({}, "role").user_agent, HasSubstr("kubernetes/unknown/role"));
}

// RC-7
TEST_F(Urls, CarryTheUserAgentUnlessTheRequestHasOne) {
  target_of([&] { (void)client.resource<Pod>().list(); });
  EXPECT_THAT(header(scripted.transport->last(), "User-Agent"), HasSubstr("client_test/unknown ("));

  target_of([&] { (void)client.raw().send({.headers = {{"user-agent", "mine"}}}); });
  EXPECT_EQ(header(scripted.transport->last(), "User-Agent"), "mine");
}

TEST_F(Urls, OfRawRequestsAreTakenAsTheyAre) {
  EXPECT_EQ(target_of([&] {
              (void)client.raw().send({.path = "/metrics", .query = {{"b", "1 2"}, {"a", ""}}});
            }),
            "/metrics?a=&b=1%202");
  for (const char* path : {"healthz", "", "/a?b", "/a b", "/a\r\nX: y"}) {
    EXPECT_THROW((void)client.raw().get(path), std::invalid_argument) << path;
  }
}

struct Identity : testing::Test {
  HttpRequest sent(const Client& client, Headers headers = {}) {
    scripted.transport->answer(FakeAnswer::text("ok", 200));
    (void)client.raw().send({.headers = std::move(headers)});
    return scripted.transport->last();
  }
  Scripted scripted;
};

// KC-34
TEST_F(Identity, IsTheCredentialsUnlessTheRequestHasItsOwn) {
  scripted.credentials->value = "Bearer t";
  const Client client = scripted.client();
  EXPECT_EQ(header(sent(client), "Authorization"), "Bearer t");
  EXPECT_EQ(header(sent(client, {{"authorization", "Basic x"}}), "Authorization"), "Basic x");

  scripted.options.on_request = [](HttpRequest& request) {
    request.headers.push_back({"Authorization", "from the hook"});
    request.headers.push_back({"traceparent", "00-1-2-01"});
  };
  const HttpRequest hooked = sent(scripted.client());
  EXPECT_EQ(header(hooked, "Authorization"), "from the hook");
  EXPECT_EQ(header(hooked, "traceparent"), "00-1-2-01");
}

// KC-34
TEST_F(Identity, IsNotATokenAndAPasswordAtOnce) {
  scripted.options.credentials = nullptr;
  scripted.config.bearer_token = "t";
  scripted.config.username = "u";
  EXPECT_THROW(scripted.client(), ConfigError);
}

// KC-30, KC-35: also over http.
TEST_F(Identity, MayImpersonateAnotherUser) {
  scripted.config.host = "http://server";
  scripted.config.impersonate = {.user = "jane",
                                 .uid = "42",
                                 .groups = {"devs", "admins"},
                                 .extra = {{"example.com/scopes%", {"view", "edit"}}}};
  Headers expected{{"Impersonate-User", "jane"},
                   {"Impersonate-Uid", "42"},
                   {"Impersonate-Group", "devs"},
                   {"Impersonate-Group", "admins"},
                   {"Impersonate-Extra-example.com%2Fscopes%25", "view"},
                   {"Impersonate-Extra-example.com%2Fscopes%25", "edit"}};
  EXPECT_THAT(sent(scripted.client()).headers, testing::IsSupersetOf(expected));

  const HttpRequest own = sent(scripted.client(), {{"Impersonate-User", "bob"}});
  EXPECT_EQ(header(own, "Impersonate-User"), "bob");
  EXPECT_EQ(header(own, "Impersonate-Group"), "");
}

// KC-47
TEST_F(Identity, IsNotifiedOfARefusalAndTheRequestIsNotRepeated) {
  scripted.credentials->value = "Bearer old";
  const Client client = scripted.client();
  scripted.transport->answer(FakeAnswer::json(test::status_json(401, "Unauthorized"), 401));
  const ApiError error = test::api_error([&] { (void)client.raw().get("/x"); });
  EXPECT_TRUE(is_unauthorized(error));
  EXPECT_EQ(scripted.credentials->refusals, std::vector<std::string>{"Bearer old"});
  EXPECT_EQ(scripted.transport->requests().size(), 1U);
}

}  // namespace
}  // namespace kube
