// SPDX-License-Identifier: Apache-2.0
// End to end over real sockets: Config, credentials, transport, client.
#include <kube/api/core/v1.hpp>
#include <kube/base/metrics.hpp>
#include <kube/client/client.hpp>
#include <kube/client/discovery.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "support/fixtures.hpp"
#include "support/scripted_server.hpp"
#include "support/test_certificates.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using test::Peer;
using test::ScriptedServer;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kJson = "Content-Type: application/json\r\n";
constexpr std::string_view kProtobuf = "Content-Type: application/vnd.kubernetes.protobuf\r\n";
constexpr std::string_view kStream =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string pod_event(const std::string& type, const std::string& name,
                      const std::string& version) {
  return R"({"type":")" + type +
         R"(","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","resourceVersion":")" + version + "\"}}}\n";
}

Config config_of(const ScriptedServer& server) { return {.host = server.url(), .qps = -1}; }

TEST(ClientOverSockets, ReadsAndWritesObjects) {
  std::promise<std::string> written;
  ScriptedServer server{[&](Peer& peer) {
    while (true) {
      const std::string head = peer.read_request();
      if (head.empty()) return;
      if (head.starts_with("GET /prefix/api/v1/namespaces/shop/pods/web-0 ")) {
        peer.respond("200 OK", encode_protobuf(Pod{.metadata = {.name = "web-0"}}), kProtobuf);
      } else if (head.starts_with("GET /prefix/api/v1/pods?limit=2 ")) {
        peer.respond("200 OK", test::fixture("core_v1_pods.pb"), kProtobuf);
      } else if (head.starts_with("POST /prefix/api/v1/namespaces/shop/pods ")) {
        written.set_value(peer.body());
        peer.respond("201 Created", encode_json(Pod{.metadata = {.name = "new"}}), kJson);
      } else {
        peer.respond("404 Not Found", test::fixture("notfound.json"), kJson);
      }
    }
  }};
  Config config = config_of(server);
  config.host += "/prefix/";
  const Client client{config};
  const auto pods = client.resource<Pod>("shop");

  EXPECT_EQ(pods.get("web-0")->metadata.name, "web-0");
  EXPECT_EQ(client.resource<Pod>().list({.limit = 2}).items.size(), 1U);
  EXPECT_EQ(pods.create({.metadata = {.name = "new"}})->metadata.name, "new");
  EXPECT_EQ(decode_protobuf<Pod>(written.get_future().get())->metadata.name, "new");
  EXPECT_EQ(pods.find("none"), nullptr);
  EXPECT_EQ(server.accepted(), 1) << "one connection for all";
}

TEST(ClientOverSockets, AuthenticatesAndTrustsOnlyItsAuthority) {
  const test::TestAuthority authority;
  const test::TestAuthority stranger{"stranger"};
  std::promise<std::string> seen;
  ScriptedServer server{[&](Peer& peer) {
                          if (!peer.handshake()) return;
                          const std::string head = peer.read_request();
                          if (head.empty()) return;
                          seen.set_value(head);
                          peer.respond("200 OK", "ok");
                        },
                        test::ServerTls{.certificate = authority.issue_server()}};
  Config config = config_of(server);
  config.tls.ca_data = stranger.certificate();
  config.bearer_token = "secret";
  try {
    (void)Client{config}.raw().get("/healthz");
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kTls);
    EXPECT_THAT(error.what(), HasSubstr(server.url() + "/healthz"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("secret")));
  }
  config.tls.ca_data = authority.certificate();
  EXPECT_EQ(Client{config}.raw().get("/healthz"), "ok");
  EXPECT_THAT(seen.get_future().get(), HasSubstr("Authorization: Bearer secret"));
}

TEST(ClientOverSockets, WatchesUntilTheServerEndsIt) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write(kStream);
    const std::string events = pod_event("ADDED", "a", "1") + pod_event("DELETED", "a", "2");
    for (std::size_t at = 0; at < events.size(); at += 7) {
      peer.write(test::chunk(events.substr(at, 7)));
    }
    peer.write("0\r\n\r\n");
    peer.wait_for_end();
  }};
  // The client itself has been destroyed when the first event arrives.
  std::vector<std::string> seen;
  for (const WatchEvent<Pod>& event : Client{config_of(server)}.resource<Pod>().watch()) {
    seen.push_back(std::string{to_string(event.type)} + ' ' + event.object->metadata.name.str());
  }
  EXPECT_THAT(seen, ElementsAre("ADDED a", "DELETED a"));
}

// WA-9
TEST(ClientOverSockets, EndsAWatchThatIsCutWithinAFrame) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write(kStream);
    peer.write(test::chunk(pod_event("ADDED", "a", "1") + R"({"type":"ADDED","obj)"));
  }};
  const Client client{config_of(server)};
  Watch<Pod> watch = client.resource<Pod>().watch();
  EXPECT_EQ(watch.next()->object->metadata.name, "a");
  EXPECT_EQ(watch.next(), std::nullopt);
}

// RC-70
TEST(ClientOverSockets, CountsHowLongNamesTook) {
  ScriptedServer server{[&](Peer& peer) {
    while (!peer.read_request().empty()) peer.respond("200 OK", "ok");
  }};
  const auto metrics = std::make_shared<Metrics>();
  {
    Config config = config_of(server);
    config.host = server.url("localhost");
    const Client client{config, {.metrics = metrics}};
    EXPECT_EQ(client.raw().get("/healthz"), "ok");
  }
  EXPECT_THAT(metrics->text(),
              HasSubstr("rest_client_dns_resolution_duration_seconds_count{host="));
}

// WA-10
TEST(ClientOverSockets, StopsAWatchThatIsSilent) {
  std::promise<void> is_gone;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write(kStream);
    peer.wait_for_end();
    is_gone.set_value();
  }};
  const Client client{config_of(server)};
  Watch<Pod> watch = client.resource<Pod>().watch();
  std::jthread stopper{[&] { watch.stop(); }};
  EXPECT_EQ(watch.next(), std::nullopt);
  EXPECT_EQ(is_gone.get_future().wait_for(10s), std::future_status::ready)
      << "the connection is closed";
}

// RC-13
TEST(ClientOverSockets, TriesAgainWhenTheServerIsBusy) {
  std::atomic<int> asked = 0;
  ScriptedServer server{[&](Peer& peer) {
    while (!peer.read_request().empty()) {
      if (++asked == 1) {
        peer.respond("503 Service Unavailable", "later", "Retry-After: 0\r\n");
      } else {
        peer.respond("200 OK", "ok");
      }
    }
  }};
  EXPECT_EQ(Client{config_of(server)}.raw().get("/healthz"), "ok");
  EXPECT_EQ(asked, 2);
}

TEST(ClientOverSockets, ReportsARefusedConnection) {
  std::string url;
  {
    const ScriptedServer gone{[](Peer&) {}};
    url = gone.url();
  }
  try {
    (void)Discovery{Client{{.host = url, .qps = -1}}}.server_version();
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kConnect);
    EXPECT_THAT(error.what(), HasSubstr("GET " + url + "/version"));
  }
}

TEST(ClientOverSockets, CancelsARequestThatIsNotAnswered) {
  std::stop_source stop;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    stop.request_stop();
    peer.wait_for_end();
  }};
  try {
    (void)Client{config_of(server)}.resource<Pod>("shop").get("web-0", {}, stop.get_token());
    FAIL();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCanceled);
  }
}

// A Resource and a Watch keep their dependencies alive.
TEST(ClientOverSockets, ResourcesOutliveTheirClient) {
  ScriptedServer server{[&](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.respond("200 OK", encode_json(Pod{.metadata = {.name = "web-0"}}), kJson);
    }
  }};
  const auto pods = Client{config_of(server)}.resource<Pod>("shop");
  EXPECT_EQ(pods.get("web-0")->metadata.name, "web-0");
}

}  // namespace
}  // namespace kube
