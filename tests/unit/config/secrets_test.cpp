// SPDX-License-Identifier: Apache-2.0
#include "config_fixture.hpp"

#include "base/file_descriptor.hpp"
#include <kube/base/secret_text.hpp>
#include <kube/config/credentials.hpp>
#include <kube/config/load.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace kube {
namespace {

using test::environment_with;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::Not;

/// A secret that the program contains only in encoded form, so that every match in memory is a
/// copy.
constexpr std::size_t kLength = 48;
constexpr char letter(std::size_t at) {
  return static_cast<char>('A' + (at * at * 7 + at * 3) % 26);
}

/// Writes `before`, the secret and `after` without leaving a copy of the secret in memory.
std::string write_with_secret(const TemporaryFolder& folder, const std::string& name,
                              std::string_view before, std::string_view after, mode_t mode = 0600) {
  const std::string path = folder.path(name);
  const detail::FileDescriptor file{
      ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode)};
  EXPECT_TRUE(file);
  EXPECT_EQ(::write(file.get(), before.data(), before.size()), static_cast<ssize_t>(before.size()));
  for (std::size_t i = 0; i < kLength; ++i) {
    const char c = letter(i);
    EXPECT_EQ(::write(file.get(), &c, 1), 1);
  }
  EXPECT_EQ(::write(file.get(), after.data(), after.size()), static_cast<ssize_t>(after.size()));
  return path;
}

/// Returns how often the secret occurs in the writable memory of this process.
int copies_in_memory() {
  struct Region {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::vector<Region> regions;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    Region region;
    char dash = 0;
    std::string flags;
    std::istringstream{line} >> std::hex >> region.begin >> dash >> region.end >> flags;
    if (flags.starts_with("rw")) regions.push_back(region);
  }
  const detail::FileDescriptor memory{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
  EXPECT_TRUE(memory);
  // The text read here would be found again in the buffer, so only one byte of it is kept at a
  // time.
  static std::array<char, 1 << 16> window;
  int copies = 0;
  for (const Region& region : regions) {
    std::size_t matched = 0;
    for (std::uintptr_t at = region.begin; at < region.end; at += window.size()) {
      const ssize_t count =
          ::pread(memory.get(), window.data(),
                  std::min<std::size_t>(window.size(), region.end - at), static_cast<off_t>(at));
      if (count <= 0) break;
      for (ssize_t i = 0; i < count; ++i) {
        char& c = window[static_cast<std::size_t>(i)];
        matched = c == letter(matched) ? matched + 1 : c == letter(0) ? 1 : 0;
        if (matched == kLength) {
          ++copies;
          matched = 0;
        }
        c = 0;
      }
    }
  }
  return copies;
}

/// The memory of sanitizers is too large to scan, and retains freed blocks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanScan = false;
#else
constexpr bool kCanScan = true;
#endif

TEST(Secrets, AreFoundInMemoryWhileTheyAreThere) {
  if (!kCanScan) GTEST_SKIP();
  SecretText secret{std::string(kLength, ' ')};
  for (std::size_t i = 0; i < kLength; ++i) secret[i] = letter(i);
  EXPECT_GE(copies_in_memory(), 1);
  wipe(secret);
  EXPECT_EQ(copies_in_memory(), 0);
}

TEST(Secrets, OfATokenFileAreOverwritten) {
  if (!kCanScan) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string file = write_with_secret(folder, "token", "", "\n");
  testkit::FakeClock clock;
  {
    const auto credentials = make_credentials({.bearer_token_file = file}, {.clock = &clock});
    SecretText header{credentials->authorization()};
    clock.advance(std::chrono::minutes{2});
    header = credentials->authorization();
    EXPECT_EQ(header.size(), 7 + kLength);
  }
  EXPECT_EQ(copies_in_memory(), 0);
}

TEST(Secrets, OfAPluginAreOverwritten) {
  if (!kCanScan) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string answer = write_with_secret(
      folder, "answer",
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")",
      R"("}})");
  const std::string plugin = folder.write_program("plugin", "#!/bin/sh\ncat '" + answer + "'\n");
  {
    const auto credentials =
        make_credentials({.host = "https://h",
                          .exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                             .command = plugin,
                                             .interactive_mode = ExecInteractiveMode::kNever}},
                         {.environment = environment_with({{"PATH", "/usr/bin:/bin"}})});
    const SecretText header{credentials->authorization()};
    EXPECT_EQ(header.size(), 7 + kLength);
  }
  EXPECT_EQ(copies_in_memory(), 0);
}

TEST(Secrets, OfAKubeconfigAreOverwritten) {
  if (!kCanScan) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string file = write_with_secret(
      folder, "config",
      R"({"clusters":[{"name":"c","cluster":{"server":"https://h"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x","users":[{"name":"u","user":{"token":")",
      R"("}}]})");
  {
    const Config config =
        load_config({.sources = {.explicit_file = file, .environment = environment_with({})}});
    EXPECT_EQ(config.bearer_token.size(), kLength);
  }
  EXPECT_EQ(copies_in_memory(), 0);
}

// GE-4: messages about a malformed file do not quote its content.
TEST(Secrets, AreNotInTheMessagesOfMalformedFiles) {
  const std::vector<std::string> malformed{
      "users: [{name: u, user: {token: hunter2\n",
      "users: [{name: u, user: {token: [hunter2]}}]",
      "users: [{name: u, user: {token: *hunter2}}]",
      "users: [{name: u, user: {client-key-data: hunter2!}}]",
      "users: [{name: u, user: {password: {hunter2: x}}}]",
      "users: hunter2",
      "{\"users\": [{\"name\": \"u\", \"user\": {\"token\": \"hunter2}}]}",
      "{\"users\": [{\"name\": \"u\", \"user\": {\"token\": \"hunter2\" \"hunter2\"}}]}",
      "token: \"hunter2\\q\"",
      "token: hunter2: hunter2",
      "\thunter2: x",
      "hunter2\x01",
      "? [hunter2]\n: x",
      "!!binary hunter2",
      "%hunter2\n---\n",
      "a: &hunter2 1\nb: *hunter3",
      "a: 'hunter2",
  };
  for (const std::string& text : malformed) {
    try {
      static_cast<void>(parse_kubeconfig(text, "/etc/kubeconfig"));
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("hunter"))) << text;
      EXPECT_THAT(error.what(), HasSubstr("kubeconfig /etc/kubeconfig: "));
    }
  }
}

}  // namespace
}  // namespace kube
