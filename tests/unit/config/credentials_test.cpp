// SPDX-License-Identifier: Apache-2.0
#include <kube/config/credentials.hpp>

#include "config_fixture.hpp"
#include "support/items.hpp"
#include "support/test_certificates.hpp"

#include "config/non_blocking_credentials.hpp"
#include <kube/engine/runtime.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>

namespace kube {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class CredentialsTest : public testing::Test {
 protected:
  std::shared_ptr<Credentials> make(const Config& config) {
    return make_credentials(
        config,
        {.clock = &clock_, .log = log_.logger(), .environment = test::environment_with({})});
  }
  std::string error_of(const Config& config) {
    return message_of<ConfigError>([&] { return make(config); });
  }

  testkit::FakeClock clock_;
  test::TemporaryFolder folder_;
  test::RecordedLog log_;
  test::TestAuthority authority_;
};

TEST_F(CredentialsTest, AnonymousUserHasNoAuthorization) {
  const auto credentials = make({.host = "http://h"});

  EXPECT_EQ(credentials->authorization(), "");
  const auto tls = credentials->tls();
  EXPECT_FALSE(tls->has_ca);
  EXPECT_EQ(tls->certificate, "");
  EXPECT_EQ(credentials->tls(), tls);
}

TEST_F(CredentialsTest, SendTokenOrPassword) {
  EXPECT_EQ(make({.bearer_token = "abc"})->authorization(), "Bearer abc");
  EXPECT_EQ(make({.username = "Aladdin", .password = "open sesame"})->authorization(),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

// KC-34
TEST_F(CredentialsTest, TokenAndPasswordExcludeEachOther) {
  EXPECT_THAT(error_of({.bearer_token = "secret", .username = "u"}), HasSubstr("together"));
  EXPECT_THAT(error_of({.bearer_token_file = "/f", .password = "p"}), HasSubstr("together"));
}

TEST_F(CredentialsTest, RefuseATokenThatWouldEndTheHeader) {
  const std::string message = error_of({.bearer_token = "secret\r\nX-Evil: 1"});

  EXPECT_THAT(message, HasSubstr("control characters"));
  EXPECT_THAT(message, Not(HasSubstr("secret")));
}

// KC-31
TEST_F(CredentialsTest, TokenFileTakesPrecedenceOverToken) {
  const std::string file = folder_.write("token", "from-file");

  EXPECT_EQ(make({.bearer_token = "initial", .bearer_token_file = file})->authorization(),
            "Bearer from-file");
  EXPECT_EQ(
      make({.bearer_token = "initial", .bearer_token_file = "/nonexistent/t"})->authorization(),
      "Bearer initial");
  EXPECT_THAT(error_of({.bearer_token_file = "/nonexistent/t"}), HasSubstr("/nonexistent/t"));
  EXPECT_THAT(error_of({.bearer_token_file = folder_.write("empty", " \n")}), HasSubstr("empty"));
}

// KC-32
TEST_F(CredentialsTest, TheTokenFileIsReadAgainAfterFiftySeconds) {
  const std::string file = folder_.write("token", "\n one \n");
  const auto credentials = make({.bearer_token_file = file});
  EXPECT_EQ(credentials->authorization(), "Bearer one");

  folder_.write("token", "two");
  clock_.advance(50s - 1ns);
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  clock_.advance(1ns);
  EXPECT_EQ(credentials->authorization(), "Bearer two");
}

// KC-32
TEST_F(CredentialsTest, TheOlderTokenStaysIfTheFileCannotBeRead) {
  const std::string file = folder_.write("token", "one");
  const auto credentials = make({.bearer_token_file = file});

  folder_.write("token", "");
  clock_.advance(1min);
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  std::filesystem::remove(file);
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("is empty"), HasSubstr("cannot read")));

  folder_.write("token", "two");
  EXPECT_EQ(credentials->authorization(), "Bearer two");
}

// KC-33
TEST_F(CredentialsTest, ARefusalDoesNotMakeTheTokenFileOlder) {
  const auto credentials = make({.bearer_token_file = folder_.write("token", "one")});
  folder_.write("token", "two");

  credentials->refused("Bearer one");

  EXPECT_EQ(credentials->authorization(), "Bearer one");
}

class CertificateTest : public CredentialsTest {
 protected:
  void write_pair(const test::CertifiedKey& pair) {
    folder_.write("me.crt", pair.certificate);
    folder_.write("me.key", pair.key);
  }
  [[nodiscard]] Config with_files() const {
    return {
        .host = "https://h",
        .tls = {.certificate_file = folder_.path("me.crt"), .key_file = folder_.path("me.key")}};
  }

  test::CertifiedKey first_ = authority_.issue_client({.common_name = "first"});
  test::CertifiedKey second_ = authority_.issue_client({.common_name = "second"});
};

// KC-36
TEST_F(CertificateTest, InlineDataIsStatic) {
  const auto credentials = make(
      {.tls = {
           .server_name = "n", .certificate_data = first_.certificate, .key_data = first_.key}});
  const auto tls = credentials->tls();

  EXPECT_EQ(tls->certificate, first_.certificate);
  EXPECT_EQ(tls->key, first_.key);
  EXPECT_EQ(tls->server_name, "n");
  clock_.advance(1h);
  EXPECT_EQ(credentials->tls(), tls);
}

// KC-36
TEST_F(CertificateTest, FilesAreReadAgainAfterASecond) {
  write_pair(first_);
  const auto credentials = make(with_files());
  const auto before = credentials->tls();
  EXPECT_EQ(before->certificate, first_.certificate);

  write_pair(second_);
  clock_.advance(1s);
  EXPECT_EQ(credentials->tls(), before);
  clock_.advance(1ns);
  const auto after = credentials->tls();

  EXPECT_EQ(after->certificate, second_.certificate);
  EXPECT_EQ(after->key, second_.key);
  EXPECT_NE(after->identity, before->identity);
  EXPECT_EQ(after->trust, before->trust);
}

// KC-36: one new file of a pair is not used without the other.
TEST_F(CertificateTest, TheOlderPairStaysIfFilesDoNotFitTogether) {
  write_pair(first_);
  const auto credentials = make(with_files());
  const auto before = credentials->tls();

  folder_.write("me.crt", second_.certificate);
  clock_.advance(2s);
  EXPECT_EQ(credentials->tls(), before);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("does not belong")));

  folder_.write("me.key", second_.key);
  clock_.advance(2s);
  EXPECT_EQ(credentials->tls()->certificate, second_.certificate);
}

// KC-36
TEST_F(CertificateTest, FilesAreCheckedEveryFiveMinutesInTheBackground) {
  write_pair(first_);
  const auto credentials = make(with_files());
  const auto before = credentials->tls();
  std::mutex mutex;
  std::condition_variable changed;
  int changes = 0;
  const auto handle = credentials->on_identity_change([&] {
    const std::scoped_lock lock{mutex};
    ++changes;
    changed.notify_all();
  });
  const auto wait_for_changes = [&](int count) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, 10s, [&] { return changes >= count; });
  };
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 5min);

  clock_.advance(5min);  // no change
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  write_pair(second_);
  clock_.advance(5min);

  ASSERT_TRUE(wait_for_changes(1));
  EXPECT_NE(credentials->tls()->identity, before->identity);
  EXPECT_EQ(changes, 1);
}

// KC-36, RT-6, RT-13: with a loop, no thread is needed for that.
TEST_F(CertificateTest, FilesAreCheckedByATimerOfALoop) {
  write_pair(first_);
  const auto credentials = make(with_files());
  static_cast<void>(credentials->tls());
  const std::size_t threads = testing_support::thread_count();
  Runtime runtime{{.threads = 0}};
  const auto run = [&] {
    while (runtime.loop().run_ready()) {
    }
  };
  int changes = 0;
  auto handle = dynamic_cast<detail::NonBlockingCredentials&>(*credentials)
                    .on_identity_change([&] { ++changes; }, detail::Inside::core(runtime));
  run();
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 5min);

  clock_.advance(5min);  // nothing is new
  run();
  write_pair(second_);
  clock_.advance(5min - 1ns);
  run();
  EXPECT_EQ(changes, 0);
  clock_.advance(1ns);
  run();
  EXPECT_EQ(changes, 1);
  EXPECT_LE(testing_support::thread_count(), threads);

  handle.reset();
  EXPECT_EQ(clock_.sleepers(), 0U);
}

// KC-36: the first pair causes no notification, even if the files changed after the credentials
// were made.
TEST_F(CertificateTest, FirstLoadNotifiesNoListener) {
  write_pair(first_);
  const auto credentials = make(with_files());
  int changes = 0;
  const auto handle = credentials->on_identity_change([&] { ++changes; });
  write_pair(second_);
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  clock_.advance(2s);

  EXPECT_EQ(credentials->tls()->certificate, second_.certificate);
  EXPECT_EQ(changes, 0);
  write_pair(first_);
  clock_.advance(2s);
  static_cast<void>(credentials->tls());
  EXPECT_EQ(changes, 1);
}

// A listener that reads the new material briefly holds a reference. If all other references are
// dropped meanwhile, the credentials are destroyed on the thread that checks files.
TEST_F(CertificateTest, MayEndOnTheThreadThatChecksFiles) {
  write_pair(first_);
  auto credentials = make(with_files());
  static_cast<void>(credentials->tls());
  std::promise<void> called;
  std::promise<void> released;
  std::promise<void> ended;
  const auto handle = credentials->on_identity_change(
      [&, weak = std::weak_ptr{credentials}, released = released.get_future().share()] {
        auto alive = weak.lock();
        called.set_value();
        released.wait();
        alive.reset();
        ended.set_value();
      });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  write_pair(second_);
  clock_.advance(5min);
  ASSERT_EQ(called.get_future().wait_for(10s), std::future_status::ready);

  credentials.reset();
  released.set_value();

  EXPECT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(clock_.wait_for_sleepers(1));  // the thread continues until the handle is destroyed
}

TEST_F(CertificateTest, RefusesAPairThatCannotBeUsed) {
  EXPECT_THAT(error_of({.tls = {.certificate_data = first_.certificate}}), HasSubstr("no key"));
  EXPECT_THAT(error_of({.tls = {.key_data = first_.key}}), HasSubstr("no certificate"));
  EXPECT_THAT(error_of({.tls = {.certificate_data = first_.certificate, .key_data = second_.key}}),
              HasSubstr("does not belong"));
  EXPECT_THAT(error_of({.tls = {.certificate_data = "x", .key_data = first_.key}}),
              HasSubstr("certificate is not in PEM form"));
  const std::string message =
      error_of({.tls = {.certificate_data = first_.certificate, .key_data = "SECRETKEY"}});
  EXPECT_THAT(message, HasSubstr("key is not in PEM form"));
  EXPECT_THAT(message, Not(HasSubstr("SECRETKEY")));
  EXPECT_THAT(error_of({.tls = {.certificate_file = "/nonexistent/c", .key_file = "/f"}}),
              HasSubstr("cannot read /nonexistent/c"));
}

// KC-38
TEST_F(CredentialsTest, ACaIsTheOnlyRootAndExcludesSkippingTheCheck) {
  const auto credentials = make({.tls = {.ca_data = authority_.certificate()}});
  EXPECT_TRUE(credentials->tls()->has_ca);
  EXPECT_EQ(credentials->tls()->ca, authority_.certificate());

  EXPECT_TRUE(make({.tls = {.insecure_skip_verify = true}})->tls()->insecure_skip_verify);
  EXPECT_THAT(error_of({.tls = {.insecure_skip_verify = true, .ca_data = "x"}}),
              HasSubstr("insecure_skip_verify"));
  EXPECT_THAT(error_of({.tls = {.insecure_skip_verify = true, .ca_file = "/nonexistent/ca"}}),
              HasSubstr("insecure_skip_verify"));
  EXPECT_THAT(error_of({.tls = {.ca_file = "/nonexistent/ca"}}), HasSubstr("/nonexistent/ca"));
  EXPECT_THAT(error_of({.tls = {.ca_data = "garbage"}}), HasSubstr("PEM"));
}

// KC-38
TEST_F(CredentialsTest, EmptyCaFileTrustsNoServer) {
  const auto tls = make({.tls = {.ca_file = folder_.write("ca", "")}})->tls();

  EXPECT_TRUE(tls->has_ca);
  EXPECT_EQ(tls->ca, "");
}

// KC-37
TEST_F(CredentialsTest, ACaFileIsReadAgainAfterFiveMinutes) {
  const test::TestAuthority other{"other"};
  const auto credentials =
      make({.tls = {.ca_file = folder_.write("ca", authority_.certificate())}});
  const auto before = credentials->tls();
  folder_.write("ca", other.certificate());

  clock_.advance(5min - 1ns);
  EXPECT_EQ(credentials->tls(), before);
  clock_.advance(1ns);
  const auto after = credentials->tls();

  EXPECT_EQ(after->ca, other.certificate());
  EXPECT_NE(after->trust, before->trust);
  EXPECT_EQ(after->identity, before->identity);
}

// KC-37
TEST_F(CredentialsTest, TheOlderCaStaysIfTheFileCannotBeUsed) {
  const std::string file = folder_.write("ca", authority_.certificate());
  const auto credentials = make({.tls = {.ca_file = file}});
  const auto before = credentials->tls();

  for (const std::string_view content : {"", "garbage"}) {
    folder_.write("ca", content);
    clock_.advance(5min);
    EXPECT_EQ(credentials->tls(), before);
  }
  std::filesystem::remove(file);
  clock_.advance(5min);
  EXPECT_EQ(credentials->tls(), before);
  EXPECT_EQ(log_.lines().size(), 3U);
}

// KC-39
TEST_F(CredentialsTest, RefuseAuthProvidersButNotBeforeAClientIsMade) {
  for (const char* name : {"gcp", "azure"}) {
    const std::string message = error_of({.auth_provider = name});
    EXPECT_THAT(message, HasSubstr("removed"));
    EXPECT_THAT(message, HasSubstr("exec plugin"));
  }
  EXPECT_THAT(error_of({.auth_provider = "oidc"}),
              HasSubstr("no Auth Provider found for name \"oidc\""));
}

}  // namespace
}  // namespace kube
