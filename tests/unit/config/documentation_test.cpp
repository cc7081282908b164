// SPDX-License-Identifier: Apache-2.0
// Keeps docs/config.md correct: its C++ blocks are contained in this file, line by line, and are
// run.
#include "config_fixture.hpp"
#include "support/paths.hpp"

#include <kube/config/credentials.hpp>
#include <kube/config/kubeconfig_edit.hpp>
#include <kube/config/load.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>

namespace kube {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& name) {
  std::ifstream file{testing_support::source_path(name)};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// Returns the text without the indentation of its lines.
std::string flat(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = std::min(text.find_first_not_of(' ', begin), end);
    result += text.substr(first, end - first) + '\n';
    begin = end + 1;
  }
  return result;
}

TEST(ConfigDocumentation, BlocksAreContainedInThisFile) {
  const std::string page = text_of("docs/config.md");
  const std::string program = flat(text_of("tests/unit/config/documentation_test.cpp"));
  const std::string fence = "```c++\n";
  int blocks = 0;
  for (std::size_t at = 0; (at = page.find(fence, at)) != std::string::npos; ++blocks) {
    at += fence.size();
    const std::string block = page.substr(at, page.find("```", at) - at);
    EXPECT_NE(program.find(flat(block)), std::string::npos) << block;
  }
  EXPECT_EQ(blocks, 5);
}

// The blocks read the environment of the process, which is set for the test while they run.
TEST(ConfigDocumentation, BlocksDoWhatThePageSays) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("config", R"(
current-context: prod
clusters: [{name: c, cluster: {server: 'https://c'}}]
users: [{name: me, user: {token: t}}]
contexts: [{name: prod, context: {cluster: c, user: me}}, {name: staging, context: {cluster: c}}]
)");
  ASSERT_EQ(::setenv("KUBECONFIG", file.c_str(), 1), 0);

  const Config config = load_config();
  EXPECT_EQ(config.host, "https://c");

  Config by_hand{.host = "https://10.0.0.1:6443",
                 .tls = {.ca_file = "/etc/kubernetes/pki/ca.crt"},
                 .bearer_token_file = "/var/run/secrets/token"};
  by_hand.user_agent = "inventory/1.0";
  EXPECT_EQ(by_hand.default_namespace, "default");

  const Config staging = load_config({.overrides = {.context_name = "staging",
                                                    .context = {.namespace_ = "team-a"},
                                                    .user = {.impersonate = {.user = "auditor"}},
                                                    .timeout = "30s"}});
  EXPECT_EQ(staging.default_namespace, "team-a");
  EXPECT_EQ(staging.timeout, 30s);

  const auto credentials = make_credentials(config, {.exec = {.deadline = 30s}});
  const std::string header = credentials->authorization();
  EXPECT_EQ(header, "Bearer t");

  modify_kubeconfig([](Kubeconfig& merged) {
    merged.clusters["local"] = {.server = "https://127.0.0.1:6443"};
    merged.contexts["local"] = {.cluster = "local", .user = "me"};
    merged.current_context = "local";
  });
  EXPECT_EQ(load_config().host, "https://127.0.0.1:6443");
  ASSERT_EQ(::unsetenv("KUBECONFIG"), 0);
}

}  // namespace
}  // namespace kube
