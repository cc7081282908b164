// SPDX-License-Identifier: Apache-2.0
// TLS trust: refused certificates, error messages, and certificate rotation.
#include "helpers.hpp"

#include <openssl/pem.h>

namespace kube::test {
namespace {

class Tls : public testing::Test {
 protected:
  TestAuthority authority;

  /// Connects to a server with that certificate and returns the kind of the error.
  Kind failure(const CertifiedKey& certificate, TlsMaterial material,
               std::string_view host = "127.0.0.1") {
    ScriptedServer server{answer_ok, ServerTls{.certificate = certificate}};
    const auto transport =
        make_http_transport({.base_url = server.url(host),
                             .credentials = std::make_shared<SetCredentials>(std::move(material))});
    return kind_of([&] { (void)transport->open({}); }, &message);
  }

  [[nodiscard]] TlsMaterial trust() const {
    return {.ca = authority.certificate(), .has_ca = true};
  }

  std::string message;
};

TEST_F(Tls, SpeaksHttp1WhereTheServerDoesNotKnowHttp2) {
  ScriptedServer server{answer_ok, ServerTls{.certificate = authority.issue_server()}};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
}

TEST_F(Tls, AnExpiredCertificateIsRefused) {
  const auto now = std::chrono::system_clock::now();
  EXPECT_EQ(failure(authority.issue_server(
                        {.names = {"127.0.0.1"}, .not_before = now - 48h, .not_after = now - 24h}),
                    trust()),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("has expired"));
  EXPECT_THAT(message, testing::HasSubstr("https://127.0.0.1:"));
  EXPECT_EQ(failure(authority.issue_server(
                        {.names = {"127.0.0.1"}, .not_before = now + 24h, .not_after = now + 48h}),
                    trust()),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("not valid yet"));
}

TEST_F(Tls, ACertificateForAnotherHostIsRefused) {
  EXPECT_EQ(failure(authority.issue_server({.names = {"other.example"}}), trust()), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("another host"));
  EXPECT_EQ(failure(authority.issue_server({.names = {"other.example"}}), trust(), "localhost"),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("another host"));
}

TEST_F(Tls, AnAddressMustBeAnIpAddressInTheCertificate) {
  EXPECT_EQ(failure(authority.issue_server({.names = {"127.0.0.2", "localhost"}}), trust()),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("another host"));
  // A common name does not count.
  EXPECT_EQ(failure(authority.issue_server({.common_name = "localhost"}), trust(), "localhost"),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("another host"));

  for (const char* address : {"127.0.0.1", "fd00::7"}) {
    std::string asked_for = "?";
    ScriptedServer server{[&](Peer& peer) {
                            asked_for = peer.server_name();
                            answer_ok(peer);
                          },
                          ServerTls{.certificate = authority.issue_server({.names = {address}})}};
    TlsMaterial material = trust();
    material.server_name = address;
    const auto transport = make_http_transport(
        {.base_url = server.url(), .credentials = std::make_shared<SetCredentials>(material)});

    EXPECT_EQ(read_all(*transport->open({})), "ok");
    EXPECT_EQ(asked_for, "");  // SNI is for names only
  }
}

TEST_F(Tls, AnUnknownAuthorityIsRefused) {
  const TestAuthority other{"other authority"};
  EXPECT_EQ(failure(other.issue_server(), trust()), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("unknown authority"));
}

// KC-38
TEST_F(Tls, WithoutCaTheSystemsRootsAreTrustedAndAnEmptyCaTrustsNone) {
  EXPECT_EQ(failure(authority.issue_server(), {}), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("unknown authority"));
  EXPECT_EQ(failure(authority.issue_server(), {.has_ca = true}), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("unknown authority"));
}

TEST_F(Tls, MaterialThatIsNotPemIsRefused) {
  EXPECT_EQ(failure(authority.issue_server(), {.ca = "nonsense", .has_ca = true}), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("certificate-authority"));
  TlsMaterial material = trust();
  material.certificate = "nonsense";
  material.key = "secret nonsense";
  EXPECT_EQ(failure(authority.issue_server(), material), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("client certificate"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("nonsense")));
}

// KC-38
TEST_F(Tls, OldProtocolVersionsAreRefused) {
  ScriptedServer server{
      answer_ok, ServerTls{.certificate = authority.issue_server(), .max_version = TLS1_1_VERSION}};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }), Kind::kTls);
}

TEST_F(Tls, VerificationCanBeSkipped) {
  const TestAuthority other;
  ScriptedServer server{answer_ok,
                        ServerTls{.certificate = other.issue_server({.names = {"elsewhere"}})}};
  const auto transport = make_http_transport(
      {.base_url = server.url(),
       .credentials = std::make_shared<SetCredentials>(TlsMaterial{.insecure_skip_verify = true})});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
}

TEST_F(Tls, TheServersNameCanBeAnotherThanTheHost) {
  std::string asked_for, head;
  ScriptedServer server{
      [&](Peer& peer) {
        asked_for = peer.server_name();
        head = peer.read_request();
        peer.respond("200 OK", "ok");
      },
      ServerTls{.certificate = authority.issue_server({.names = {"api.example"}})}};
  TlsMaterial material = trust();
  material.server_name = "api.example";
  const auto transport = make_http_transport(
      {.base_url = server.url(), .credentials = std::make_shared<SetCredentials>(material)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(asked_for, "api.example");
  EXPECT_THAT(head, testing::HasSubstr("Host: 127.0.0.1:"));

  material.server_name = "wrong.example";
  EXPECT_EQ(failure(authority.issue_server({.names = {"api.example", "127.0.0.1"}}), material),
            Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("another host"));
}

TEST_F(Tls, TheClientShowsItsCertificate) {
  std::string name;
  ScriptedServer server{
      [&](Peer& peer) {
        name = peer.client_name();
        answer_ok(peer);
      },
      ServerTls{.certificate = authority.issue_server(), .client_ca = authority.certificate()}};
  const CertifiedKey mine = authority.issue_client({.common_name = "jane"});
  TlsMaterial material = trust();
  material.certificate = mine.certificate;
  material.key = mine.key;
  const auto transport = make_http_transport(
      {.base_url = server.url(), .credentials = std::make_shared<SetCredentials>(material)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(name, "jane");
}

TEST_F(Tls, TheClientShowsTheWholeChain) {
  int shown = 0;
  ScriptedServer server{
      [&](Peer& peer) {
        shown = sk_X509_num(SSL_get_peer_cert_chain(peer.ssl()));
        answer_ok(peer);
      },
      ServerTls{.certificate = authority.issue_server(), .client_ca = authority.certificate()}};
  const CertifiedKey mine = authority.issue_client({.common_name = "jane"});
  TlsMaterial material = trust();
  material.certificate = mine.certificate + "text between\n" + authority.certificate();
  material.key = mine.key;
  const auto transport = make_http_transport(
      {.base_url = server.url(), .credentials = std::make_shared<SetCredentials>(material)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(shown, 1);  // besides the client's certificate
}

TEST_F(Tls, AnEncryptedKeyIsRefusedWithoutAsking) {
  const CertifiedKey mine = authority.issue_client({});
  BIO* const from = BIO_new_mem_buf(mine.key.data(), static_cast<int>(mine.key.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(from, nullptr, nullptr, nullptr);
  BIO* const to = BIO_new(BIO_s_mem());
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(to, key, EVP_aes_128_cbc(), "word", 4, nullptr, nullptr),
            1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(to, &text);
  TlsMaterial material = trust();
  material.certificate = mine.certificate;
  material.key.assign(text, static_cast<std::size_t>(size));
  BIO_free(to);
  BIO_free(from);
  EVP_PKEY_free(key);

  EXPECT_EQ(failure(authority.issue_server(), material), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("the key must have no password"));

  material.key = authority.issue_client({}).key;
  EXPECT_EQ(failure(authority.issue_server(), material), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("both must be PEM and match"));
}

// Many connections share one context, and none resumes the session of another.
TEST_F(Tls, SessionsAreNotResumed) {
  std::atomic<int> resumed = 0;
  ScriptedServer server{[&](Peer& peer) {
                          resumed += SSL_session_reused(peer.ssl());
                          (void)peer.read_request();
                          peer.respond("200 OK", "ok", "Connection: close\r\n");
                        },
                        ServerTls{.certificate = authority.issue_server()}};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

  for (int i = 0; i < 3; ++i) EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(server.accepted(), 3);
  EXPECT_EQ(resumed, 0);
}

TEST_F(Tls, AMissingClientCertificateIsNamed) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    ScriptedServer server{answer_ok, ServerTls{.certificate = authority.issue_server(),
                                               .client_ca = authority.certificate(),
                                               .max_version = version}};
    const auto transport =
        make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

    EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kTls) << message;
    EXPECT_THAT(message, testing::HasSubstr("client certificate"));
  }
}

TEST_F(Tls, PlainHttpOnAPortForTlsIsNamed) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_some();
    peer.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  }};
  std::string url = server.url();
  url.replace(0, 4, "https");
  const auto transport = make_http_transport({.base_url = url, .credentials = trusting(authority)});

  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kTls);
  EXPECT_THAT(message, testing::HasSubstr("does not speak TLS"));
}

TEST_F(Tls, AServerThatClosesDuringTheHandshakeIsLost) {
  ScriptedServer server{[](Peer& peer) { (void)peer.read_some(); }};
  std::string url = server.url();
  url.replace(0, 4, "https");
  const auto transport = make_http_transport({.base_url = url, .credentials = trusting(authority)});

  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kConnectionLost)
      << message;
}

TEST_F(Tls, BodyWithoutCloseNotifyIsLost) {
  ScriptedServer server{[](Peer& peer) {
                          (void)peer.read_request();
                          peer.write("HTTP/1.1 200 OK\r\n\r\nup to the");
                          peer.cut();
                        },
                        ServerTls{.certificate = authority.issue_server()}};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

  EXPECT_EQ(kind_of([&] { read_all(*transport->open({})); }, &message), Kind::kConnectionLost);
  EXPECT_THAT(message, testing::HasSubstr("without a TLS close_notify"));
}

class Rotation : public testing::Test {
 protected:
  TestAuthority authority;
  std::mutex mutex;
  std::vector<std::shared_ptr<Http2Body>> bodies;
  Http2Server server{authority.issue_server(),
                     [this](const Http2Request& request) {
                       Http2Reply reply;
                       if (request.headers.at(":path") == "/watch") {
                         const std::lock_guard lock{mutex};
                         bodies.push_back(reply.body);
                       } else {
                         reply.body->end();
                       }
                       return reply;
                     },
                     {.client_ca = authority.certificate()}};

  TlsMaterial material(std::uint64_t identity, std::uint64_t trust) {
    const CertifiedKey mine = authority.issue_client({});
    return {.ca = authority.certificate(),
            .has_ca = true,
            .certificate = mine.certificate,
            .key = mine.key,
            .identity = identity,
            .trust = trust};
  }
  std::shared_ptr<SetCredentials> credentials = std::make_shared<SetCredentials>(material(1, 1));
  std::unique_ptr<Transport> transport =
      make_http_transport({.base_url = server.url(), .credentials = credentials});
};

// KC-36
TEST_F(Rotation, ANewIdentityEndsWatchesOfTheOldOne) {
  const auto watch = transport->open({.target = "/watch", .lane = Lane::kWatches});
  EXPECT_EQ(read_all(*transport->open({})), "");

  credentials->set(material(2, 1));
  EXPECT_EQ(read_all(*transport->open({})), "");  // a request notifies the transport

  EXPECT_EQ(kind_of([&] { (void)watch->read(); }), Kind::kConnectionLost);
  EXPECT_EQ(server.accepted(), 3);
  EXPECT_TRUE(eventually([&] { return server.open() == 1; }));
}

// KC-36: the credentials notify the transport even without a request
TEST_F(Rotation, ANewIdentityEndsWatchesWhenNothingElseRuns) {
  const auto watch = transport->open({.target = "/watch", .lane = Lane::kWatches});

  credentials->set(material(2, 1));
  credentials->tell();

  EXPECT_EQ(kind_of([&] { (void)watch->read(); }), Kind::kConnectionLost);
}

// KC-37
TEST_F(Rotation, NewTrustClosesIdleConnectionsAndLeavesWatches) {
  const auto watch = transport->open({.target = "/watch", .lane = Lane::kWatches});
  EXPECT_EQ(read_all(*transport->open({})), "");

  credentials->set(material(1, 2));
  EXPECT_EQ(read_all(*transport->open({})), "");

  EXPECT_EQ(server.accepted(), 3);
  EXPECT_TRUE(eventually([&] { return server.open() == 2; }));
  {
    const std::lock_guard lock{mutex};
    bodies[0]->write("alive");
  }
  EXPECT_EQ(watch->read(), "alive");
  const auto second = transport->open({.target = "/watch", .lane = Lane::kWatches});
  EXPECT_EQ(server.accepted(), 4);
}

TEST_F(Rotation, OutdatedMaterialIsIgnored) {
  const auto old = credentials->tls({});
  credentials->set(material(2, 1));
  const auto watch = transport->open({.target = "/watch", .lane = Lane::kWatches});

  credentials->set(*old);
  EXPECT_EQ(read_all(*transport->open({})), "");

  const std::lock_guard lock{mutex};
  bodies[0]->write("alive");
  EXPECT_EQ(watch->read(), "alive");
}

}  // namespace
}  // namespace kube::test
