// SPDX-License-Identifier: Apache-2.0
#include <kube/config/kubeconfig_edit.hpp>

#include "config_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <sys/stat.h>

namespace kube {
namespace {

using test::message_of;
using testing::HasSubstr;

class KubeconfigEdit : public testing::Test {
 protected:
  /// Clears the umask, so that files get exactly the requested modes.
  KubeconfigEdit() : old_mask_(::umask(0)) {}
  ~KubeconfigEdit() override { ::umask(old_mask_); }

  static unsigned mode_of(const std::string& file) {
    return static_cast<unsigned>(std::filesystem::status(file).permissions());
  }
  [[nodiscard]] KubeconfigSources sources(const std::string& list) const {
    return {.environment =
                test::environment_with({{"KUBECONFIG", list}, {"HOME", folder_.path()}})};
  }

  test::TemporaryFolder folder_;

 private:
  mode_t old_mask_;
};

// KC-16
TEST_F(KubeconfigEdit, WritesFilesForTheirOwnerOnly) {
  const std::string file = folder_.path("a/b/config");

  write_kubeconfig({.current_context = "x"}, file);

  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(mode_of(folder_.path("a")), 0755U);
  EXPECT_EQ(mode_of(folder_.path("a/b")), 0755U);
  EXPECT_EQ(read_kubeconfig(file).current_context, "x");
  EXPECT_FALSE(std::filesystem::exists(file + ".lock"));
}

TEST_F(KubeconfigEdit, KeepsModeAndLinkOfAFileThatExists) {
  const std::string file = folder_.write("real", "");
  std::filesystem::permissions(file, std::filesystem::perms{0640});
  std::filesystem::create_symlink(file, folder_.path("link"));

  write_kubeconfig({.current_context = "x"}, folder_.path("link"));

  EXPECT_EQ(mode_of(file), 0640U);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("link")));
  EXPECT_EQ(read_kubeconfig(file).current_context, "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_.path()}, {}), 2);
}

// KC-16
TEST_F(KubeconfigEdit, ALockKeepsOtherWritersAway) {
  const std::string file = folder_.path("config");
  {
    const KubeconfigLock lock{{file}};
    EXPECT_TRUE(std::filesystem::exists(file + ".lock"));
    EXPECT_THAT(message_of<ConfigError>([&] { write_kubeconfig({}, file); }),
                HasSubstr(file + " is being written by another program"));
  }
  EXPECT_NO_THROW(write_kubeconfig({}, file));
}

// KC-16
TEST_F(KubeconfigEdit, SeveralLocksAreTakenInOrderOrNotAtAll) {
  const std::string a = folder_.path("a");
  const std::string b = folder_.path("b");
  const std::string c = folder_.path("c");
  const KubeconfigLock other{{c, b}};

  EXPECT_THAT(message_of<ConfigError>([&] {
                const KubeconfigLock lock{{c, b, a, a}};
              }),
              HasSubstr("kubeconfig " + b));
  EXPECT_FALSE(std::filesystem::exists(a + ".lock"));
  EXPECT_TRUE(std::filesystem::exists(b + ".lock"));
}

TEST_F(KubeconfigEdit, ReportsAFolderThatCannotBeWrittenTo) {
  const std::string file = folder_.write("file", "");

  EXPECT_THROW(write_kubeconfig({}, file + "/config"), ConfigError);
  EXPECT_THROW(write_kubeconfig({}, "/proc/nowhere/config"), ConfigError);
}

// KC-14, KC-15, KC-16: each entry is written back to its file, with unchanged paths.
TEST_F(KubeconfigEdit, ModifiesEachEntryWhereItComesFrom) {
  const std::string one = folder_.write("one", R"(
clusters: [{name: a, cluster: {server: 'https://1', certificate-authority: ca.pem}}]
)");
  const std::string two = folder_.write("two", R"(
clusters: [{name: b, cluster: {server: 'https://2'}}, {name: c, cluster: {server: 'https://3'}}]
users: [{name: u, user: {token: t}}]
current-context: x
extensions: [{name: e, extension: 1}]
)");

  modify_kubeconfig(
      [](Kubeconfig& merged) {
        merged.clusters["b"].server = "https://new";
        merged.clusters.erase("c");
        merged.contexts["x"] = {.cluster = "a", .user = "u"};
        merged.current_context = "y";
        merged.extensions.clear();
      },
      sources("/nonexistent/k:" + one + ':' + two));

  const Kubeconfig first = read_kubeconfig(one);
  const Kubeconfig second = read_kubeconfig(two);
  EXPECT_EQ(first.clusters.at("a").certificate_authority, "ca.pem");
  EXPECT_EQ(first.contexts.at("x").cluster, "a");
  EXPECT_EQ(first.current_context, "y");
  EXPECT_EQ(first.clusters.size(), 1U);
  EXPECT_EQ(second.clusters.at("b").server, "https://new");
  EXPECT_FALSE(second.clusters.contains("c"));
  EXPECT_EQ(second.users.at("u").token, "t");
  EXPECT_EQ(second.current_context, "");
  EXPECT_TRUE(second.extensions.empty());
  EXPECT_FALSE(std::filesystem::exists(one + ".lock"));
}

TEST_F(KubeconfigEdit, WritesNothingThatHasNotChanged) {
  const std::string text = "# a comment\nclusters: [{name: a}]\n";
  const std::string file = folder_.write("one", text);
  modify_kubeconfig([](Kubeconfig&) {}, sources(file));
  EXPECT_THROW(modify_kubeconfig(
                   [](Kubeconfig& merged) {
                     merged.clusters.clear();
                     throw std::runtime_error("no");
                   },
                   sources(file)),
               std::runtime_error);

  std::ifstream stream{file};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{stream}, {}}), text);
  EXPECT_FALSE(std::filesystem::exists(file + ".lock"));
}

TEST_F(KubeconfigEdit, MakesTheFirstFile) {
  modify_kubeconfig([](Kubeconfig& merged) { merged.clusters["a"].server = "https://1"; },
                    sources(""));

  EXPECT_EQ(read_kubeconfig(folder_.path(".kube/config")).clusters.at("a").server, "https://1");
  EXPECT_THROW(modify_kubeconfig([](Kubeconfig&) {}, {.environment = test::environment_with({})}),
               ConfigError);
}

// A malformed file is not overwritten.
TEST_F(KubeconfigEdit, LeavesABrokenFileAlone) {
  const std::string file = folder_.write("one", "clusters: 5");

  EXPECT_THROW(
      modify_kubeconfig([](Kubeconfig& merged) { merged.clusters["a"] = {}; }, sources(file)),
      ConfigError);
  EXPECT_THAT(message_of<ConfigError>([&] { return read_kubeconfig(file); }),
              HasSubstr("expected list"));
}

}  // namespace
}  // namespace kube
