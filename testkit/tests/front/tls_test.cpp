// SPDX-License-Identifier: Apache-2.0
#include "front_fixture.hpp"
#include "testkit/server/tls_authority.hpp"

#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

class TlsFront : public testing::Test {
 protected:
  TlsFront() {
    server.handler.answer = [](const ServerRequest& request) {
      std::string who = "nobody";
      if (request.certificate) {
        who = request.certificate->common_name;
        for (const std::string& group : request.certificate->organizations) who += '|' + group;
      }
      return ServerResponse{.body = who};
    };
  }
  static FrontOptions options(const TlsAuthority& authority) {
    const Certificate own = authority.issue_server("127.0.0.1");
    return {.tls = {own.certificate, own.key, authority.ca_pem()}};
  }

  TlsAuthority authority;
  FrontUnderTest server{options(authority)};
};

TEST_F(TlsFront, ServesOverTlsWithACertificateOfItsAuthority) {
  RawClient client{server.port(), authority.ca_pem()};

  client.get("/x");

  EXPECT_EQ(client.read_response().body, "nobody");
}

TEST_F(TlsFront, IsNotTrustedWithAnotherAuthority) {
  const TlsAuthority other;

  EXPECT_THROW(RawClient(server.port(), other.ca_pem()), std::runtime_error);
}

// AU-5
TEST_F(TlsFront, ReportsUserAndGroupsOfAClientCertificate) {
  const Certificate own = authority.issue_client("alice", {"admins", "system:masters"});
  RawClient client{server.port(), authority.ca_pem(), own.certificate, own.key};

  client.get("/x");

  EXPECT_EQ(client.read_response().body, "alice|admins|system:masters");
}

// AU-5: the engine answers 401 to a certificate without a name.
TEST_F(TlsFront, ReportsNoNameForAnUnverifiedCertificate) {
  const TlsAuthority other;
  const Certificate forged = other.issue_client("alice", {"system:masters"});
  RawClient client{server.port(), authority.ca_pem(), forged.certificate, forged.key};

  client.get("/x");

  EXPECT_EQ(client.read_response().body, "");
}

// RQ-9
TEST_F(TlsFront, ChoosesTheProtocolByAlpn) {
  EXPECT_EQ(RawClient(server.port(), authority.ca_pem(), {}, {}, "\x02h2\x08http/1.1"sv).protocol(),
            "h2");
  EXPECT_EQ(RawClient(server.port(), authority.ca_pem(), {}, {}, "\x08http/1.1"sv).protocol(),
            "http/1.1");
  EXPECT_EQ(RawClient(server.port(), authority.ca_pem()).protocol(), "");
}

TEST_F(TlsFront, SurvivesClientsWithoutTls) {
  RawClient plain{server.port()};
  plain.send("GET / HTTP/1.1\r\n\r\n");
  (void)plain.read_to_end();
  RawClient leaves{server.port()};
  leaves.send("\x16\x03\x01\x02");
  leaves.close();

  RawClient client{server.port(), authority.ca_pem()};
  client.get("/x");
  EXPECT_EQ(client.read_response().status, 200);
}

TEST_F(TlsFront, StreamsOverTls) {
  server.stream_script();
  RawClient client{server.port(), authority.ca_pem()};
  client.get("/watch");
  (void)client.read_head();

  server.script.push(std::string(300000, 'x'));
  EXPECT_EQ(client.read_chunk().size(), 300000U);
  server.script.push("small\n");
  EXPECT_EQ(client.read_chunk(), "small\n");
  client.close();
  EXPECT_TRUE(server.script.wait_until_dropped());
}

TEST(TlsAuthority, RefusesInvalidMaterial) {
  TestHandler handler;
  Pipeline pipeline{handler, {}};

  EXPECT_THROW(HttpFront(pipeline, {.tls = {"no certificate", "no key", ""}}), Error);
}

}  // namespace
}  // namespace kube::testkit::detail
