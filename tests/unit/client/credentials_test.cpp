// SPDX-License-Identifier: Apache-2.0
#include "../config/config_fixture.hpp"
#include "fixture.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/config/credentials.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube {
namespace {

using core::v1::Pod;
using test::api_error;
using test::FakeAnswer;
using test::message_of;
using test::Scripted;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Returns a client whose credentials come from its Config.
Client configured(Scripted& scripted, Config config) {
  config.qps = -1;
  scripted.config = std::move(config);
  scripted.options.credentials = nullptr;
  return scripted.client();
}

// KC-34, RC-73
TEST(Credentials, AreNotSentWithoutTlsToOtherMachines) {
  std::vector<Config> with_secrets(4);
  with_secrets[0].bearer_token = "hunter2";
  with_secrets[1].bearer_token_file = "/nonexistent/token";
  with_secrets[2].username = "admin";
  with_secrets[2].password = "hunter2";
  with_secrets[3].exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                    .command = "/nonexistent/plugin",
                                    .interactive_mode = ExecInteractiveMode::kNever};
  for (Config& config : with_secrets) {
    for (const char* host :
         {"http://10.0.0.1:8080", "10.0.0.1:8080", "http://localhost.example.com",
          "http://127.0.0.1.example.com", "http://[::2]:80"}) {
      Scripted scripted;
      config.host = host;
      const std::string message =
          message_of<ConfigError>([&] { return configured(scripted, config); });
      EXPECT_THAT(message, AllOf(HasSubstr("has no TLS"), HasSubstr("allow_insecure_credentials"),
                                 HasSubstr("http://"), Not(HasSubstr("hunter2"))))
          << host;
    }
  }
}

// RC-73
TEST(Credentials, AreSentLocallyOverTlsOrIfAllowed) {
  for (const char* host : {"http://localhost:8080", "http://127.0.0.1", "http://127.9.9.9:1",
                           "http://[::1]:8080", "https://10.0.0.1"}) {
    Scripted scripted;
    scripted.transport->answer(FakeAnswer::json(test::pod_json("web")));
    const Client client = configured(scripted, {.host = host, .bearer_token = "abc"});
    EXPECT_NO_THROW(static_cast<void>(client.resource<Pod>("shop").get("web"))) << host;
    EXPECT_EQ(*find_header(scripted.transport->last().headers, "Authorization"), "Bearer abc");
  }
  Scripted scripted;
  scripted.options.allow_insecure_credentials = true;
  EXPECT_NO_THROW(configured(scripted, {.host = "http://10.0.0.1", .bearer_token = "abc"}));
}

// RC-73
TEST(Credentials, OfTheProgramAreNotSentWithoutTlsEither) {
  Scripted scripted{{.host = "http://10.0.0.1"}};
  const Client client = scripted.client();
  scripted.transport->answer(FakeAnswer::json(test::pod_json("web")));
  EXPECT_NO_THROW(static_cast<void>(client.resource<Pod>("shop").get("web")));  // it has none

  scripted.credentials->value = "Bearer hunter2";
  EXPECT_THAT(message_of<ConfigError>([&] { return client.resource<Pod>("shop").get("web"); }),
              AllOf(HasSubstr("http://10.0.0.1"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(scripted.transport->requests().size(), 1U);
}

// A password in an address is not quoted.
TEST(Credentials, InAServerAddressAreNotQuoted) {
  for (const char* host :
       {"https://u:hunter2@h", "ftp://u:hunter2@h", "u:hunter2@h/x", "https://u:hunter2@h h"}) {
    Scripted scripted;
    EXPECT_THAT(message_of<ConfigError>([&] { return configured(scripted, {.host = host}); }),
                Not(HasSubstr("hunter2")));
  }
}

// KC-47: the refused request fails at once and is not repeated; the plugin runs before the next
// one.
TEST(Credentials, OfAPluginAreRenewedBeforeTheRequestAfterARefusal) {
  const test::TemporaryFolder folder;
  const std::string count = folder.path("runs");
  const std::string plugin = folder.write_program(
      "plugin",
      "#!/bin/sh\necho >> '" + count + "'\nn=$(wc -l < '" + count +
          "')\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
          "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"token-'$n'\"}}'\n");
  Scripted scripted;
  scripted.options.clock = &system_clock();  // the plugin runs in real time
  scripted.variables["PATH"] = "/usr/bin:/bin";
  const Client client =
      configured(scripted, {.host = "https://server",
                            .exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                               .command = plugin,
                                               .interactive_mode = ExecInteractiveMode::kNever}});
  scripted.transport->answer(FakeAnswer::json(test::status_json(401, "Unauthorized"), 401));
  scripted.transport->answer(FakeAnswer::json(test::pod_json("web")));
  const auto pods = client.resource<Pod>("shop");
  const auto runs = [&] { return std::filesystem::file_size(count); };

  EXPECT_EQ(api_error([&] { return pods.get("web"); }).code(), 401);
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(scripted.transport->requests().size(), 1U);
  EXPECT_NO_THROW(static_cast<void>(pods.get("web")));
  EXPECT_EQ(runs(), 2U);

  std::vector<std::string> sent;
  for (const HttpRequest& request : scripted.transport->requests()) {
    sent.push_back(*find_header(request.headers, "Authorization"));
  }
  EXPECT_THAT(sent, ElementsAre("Bearer token-1", "Bearer token-2"));
}

}  // namespace
}  // namespace kube
