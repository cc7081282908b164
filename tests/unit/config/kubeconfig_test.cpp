// SPDX-License-Identifier: Apache-2.0
#include <kube/config/kubeconfig.hpp>

#include "config_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace kube {
namespace {

using test::environment_with;
using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kEverything = R"(
apiVersion: v1
kind: Config
current-context: work
preferences: {colors: true}
something-new: {a: [1, 2]}
extensions:
- name: tool
  extension: {answer: 42}
clusters:
- name: far
  cluster:
    server: https://far.example:6443/prefix
    tls-server-name: near.example
    insecure-skip-tls-verify: true
    certificate-authority: ca.pem
    certificate-authority-data: Q0E=
    proxy-url: http://proxy:3128
    disable-compression: true
    unheard-of: yes
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: x}
users:
- name: me
  user:
    client-certificate: me.crt
    client-certificate-data: Q0VSVA==
    client-key: me.key
    client-key-data: S0VZ
    token: secret
    tokenFile: me.token
    as: you
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {reason: [r, s]}
    username: name
    password: word
    auth-provider: {name: gcp, config: {k: v}}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./login
      args: [--fast, "1"]
      env: [{name: A, value: b}]
      installHint: fetch it
      provideClusterInfo: true
      interactiveMode: Never
contexts:
- name: work
  context: {cluster: far, user: me, namespace: team}
)";

// KC-1, KC-4, KC-5, KC-6: every key; unknown ones are ignored.
TEST(Kubeconfig, ReadsEveryKey) {
  const Kubeconfig config = parse_kubeconfig(kEverything, "/etc/k");

  EXPECT_EQ(config.current_context, "work");
  EXPECT_EQ(config.current_context_origin, "/etc/k");
  EXPECT_EQ(config.extensions.at("tool"), Value::object({{"answer", 42}}));
  EXPECT_EQ(config.clusters.at("far"),
            (KubeconfigCluster{.server = "https://far.example:6443/prefix",
                               .tls_server_name = "near.example",
                               .insecure_skip_tls_verify = true,
                               .certificate_authority = "ca.pem",
                               .certificate_authority_data = "CA",
                               .proxy_url = "http://proxy:3128",
                               .disable_compression = true,
                               .extensions = {{"client.authentication.k8s.io/exec",
                                               Value::object({{"audience", "x"}})}},
                               .origin = "/etc/k"}));
  const KubeconfigUser& user = config.users.at("me");
  EXPECT_EQ(user.client_certificate, "me.crt");
  EXPECT_EQ(user.client_certificate_data, "CERT");
  EXPECT_EQ(user.client_key, "me.key");
  EXPECT_EQ(user.client_key_data, "KEY");
  EXPECT_EQ(user.token, "secret");
  EXPECT_EQ(user.token_file, "me.token");
  EXPECT_EQ(
      user.impersonate,
      (Impersonation{
          .user = "you", .uid = "7", .groups = {"a", "b"}, .extra = {{"reason", {"r", "s"}}}}));
  EXPECT_EQ(user.username, "name");
  EXPECT_EQ(user.password, "word");
  EXPECT_EQ(user.auth_provider, (KubeconfigAuthProvider{.name = "gcp", .config = {{"k", "v"}}}));
  EXPECT_EQ(user.exec, (ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                   .command = "./login",
                                   .args = {"--fast", "1"},
                                   .env = {{"A", "b"}},
                                   .install_hint = "fetch it",
                                   .provide_cluster_info = true,
                                   .interactive_mode = ExecInteractiveMode::kNever}));
  EXPECT_EQ(config.contexts.at("work"),
            (KubeconfigContext{
                .cluster = "far", .user = "me", .namespace_ = "team", .origin = "/etc/k"}));
}

// KC-1
TEST(Kubeconfig, ReadsJsonAndFlowStyle) {
  const Kubeconfig json = parse_kubeconfig(
      "{\n\t\"clusters\": [{\"name\": \"a\", \"cluster\": {\"server\": \"https:\\/\\/s\"}}]}");
  const Kubeconfig flow =
      parse_kubeconfig("{clusters: [{name: a, cluster: {server: 'https://s'}}]}");

  EXPECT_EQ(json.clusters.at("a").server, "https://s");
  EXPECT_EQ(json, flow);
}

// KC-1
TEST(Kubeconfig, RefusesOtherKindsAndVersions) {
  EXPECT_THAT(
      message_of<ConfigError>([] { return parse_kubeconfig("kind: Pod\napiVersion: v1", "/f"); }),
      HasSubstr("kubeconfig /f: expected kind Config of apiVersion v1, found kind \"Pod\""));
  EXPECT_THAT(message_of<ConfigError>([] { return parse_kubeconfig("apiVersion: v2"); }),
              HasSubstr("\"v2\""));
}

// KC-2
TEST(Kubeconfig, ReadsEmptyDocuments) {
  for (const std::string_view text : {"", "\n", "# nothing\n", "---\n", "null", "{}"}) {
    EXPECT_EQ(parse_kubeconfig(text), Kubeconfig{}) << text;
  }
  EXPECT_EQ(parse_kubeconfig("clusters: null\nusers: ~\ncontexts:\ncurrent-context: ''\n"),
            Kubeconfig{});
}

// KC-3
TEST(Kubeconfig, RefusesDuplicateNames) {
  EXPECT_THAT(message_of<ConfigError>([] {
                return parse_kubeconfig("users: [{name: a}, {name: b}, {name: a}]", "/f");
              }),
              HasSubstr("kubeconfig /f: users[2]: the name \"a\" is there twice"));
  EXPECT_THROW(static_cast<void>(parse_kubeconfig("clusters: [{name: a}, {name: a}]")),
               ConfigError);
  EXPECT_THROW(static_cast<void>(parse_kubeconfig("contexts: [{name: a}, {name: a}]")),
               ConfigError);
}

TEST(Kubeconfig, NamesThePathOfAWrongTypeButNotItsContent) {
  const std::string message = message_of<ConfigError>(
      [] { return parse_kubeconfig("users:\n- name: a\n  user:\n    token: 123456789\n", "/f"); });

  EXPECT_THAT(message, HasSubstr("users[0].user.token: expected string, found integer"));
  EXPECT_THAT(message, Not(HasSubstr("123456789")));
  EXPECT_THAT(message_of<ConfigError>([] { return parse_kubeconfig("clusters: 5"); }),
              HasSubstr("clusters: expected list, found integer"));
  EXPECT_THAT(message_of<ConfigError>([] { return parse_kubeconfig("[1, 2]"); }),
              HasSubstr("expected object, found"));
  const std::string data = message_of<ConfigError>(
      [] { return parse_kubeconfig("users: [{name: a, user: {client-key-data: '!!key!!'}}]"); });
  EXPECT_THAT(data, HasSubstr("users[0].user.client-key-data: expected base64"));
  EXPECT_THAT(data, Not(HasSubstr("!!key!!")));
}

// KC-12: malformed input is rejected in bounded time, with a message that names the file.
TEST(Kubeconfig, RefusesMalformedCyclicAndGiantDocuments) {
  const auto message = [](std::string_view text) {
    return message_of<ConfigError>([&] { return parse_kubeconfig(text, "/f"); });
  };

  EXPECT_THAT(message("clusters: [\n"), HasSubstr("kubeconfig /f: "));
  EXPECT_THAT(message("a: 1\n---\nb: 2\n"), HasSubstr("expected one document, found 2"));
  EXPECT_THAT(message("extensions: &a\n- name: x\n  extension: *a\n"),
              HasSubstr("kubeconfig /f: "));
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k == 0 ? "" : ", ") + below;
    laughs += "]\n";
  }
  EXPECT_THAT(message(laughs), HasSubstr("too many values"));
  EXPECT_THAT(message(std::string(100'000, '[')), HasSubstr("kubeconfig /f: "));
  EXPECT_THAT(message(std::string(kMaxKubeconfigSize + 1, ' ')),
              HasSubstr("more than 4194304 bytes"));
}

TEST(Kubeconfig, RefusesAGiantFileWithoutReadingItAll) {
  EXPECT_THAT(message_of<ConfigError>([] { return read_kubeconfig("/dev/zero"); }),
              HasSubstr("/dev/zero: it has more than 4194304 bytes"));
}

// KC-16: the formatted text can be parsed again.
TEST(Kubeconfig, FormatsWhatItReads) {
  const Kubeconfig config = parse_kubeconfig(kEverything, "/etc/k");

  EXPECT_EQ(parse_kubeconfig(format_kubeconfig(config), "/etc/k"), config);
  EXPECT_EQ(parse_kubeconfig(format_kubeconfig({})), Kubeconfig{});
}

class KubeconfigFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string cluster(const std::string& name, const std::string& file,
                                    const std::string& body) const {
    return folder_.write(file, "clusters: [{name: " + name + ", cluster: {" + body + "}}]\n");
  }
  [[nodiscard]] KubeconfigSources sources(const std::string& list) {
    return {.environment = environment_with({{"KUBECONFIG", list}, {"HOME", folder_.path()}}),
            .log = log_.logger()};
  }

  TemporaryFolder folder_;
  test::RecordedLog log_;
};

// KC-10
TEST_F(KubeconfigFiles, AnExplicitFileIsUsedAlone) {
  const std::string one = cluster("one", "one", "server: 'https://1'");
  KubeconfigSources from = sources(cluster("two", "two", "server: 'https://2'"));
  from.explicit_file = one;

  EXPECT_THAT(kubeconfig_files(from), ElementsAre(one));
  const Kubeconfig loaded = load_kubeconfig(from).or_throw();
  EXPECT_TRUE(loaded.clusters.contains("one"));
  EXPECT_FALSE(loaded.clusters.contains("two"));
}

// KC-10
TEST_F(KubeconfigFiles, TheListOfTheVariableHidesTheHomeFile) {
  const std::string home = cluster("home", ".kube/config", "server: 'https://h'");

  EXPECT_THAT(kubeconfig_files(sources("")), ElementsAre(home));
  EXPECT_TRUE(load_kubeconfig(sources("")).or_throw().clusters.contains("home"));
  EXPECT_THAT(kubeconfig_files(sources("/b:/a::/b:/c:")), ElementsAre("/b", "/a", "/c"));
  EXPECT_TRUE(load_kubeconfig(sources("/nonexistent/x")).or_throw().clusters.empty());
  EXPECT_TRUE(kubeconfig_files({.environment = environment_with({})}).empty());
}

// KC-11
TEST_F(KubeconfigFiles, AMissingExplicitFileIsAnError) {
  KubeconfigSources from = sources("");
  from.explicit_file = folder_.path("none");

  EXPECT_THAT(message_of<ConfigError>([&] { return load_kubeconfig(from); }),
              HasSubstr("kubeconfig " + folder_.path("none") + ": cannot read"));
}

// KC-11
TEST_F(KubeconfigFiles, WarnsOnceAboutMissingFilesOfTheVariable) {
  EXPECT_EQ(load_kubeconfig(sources("/nonexistent/a:/nonexistent/b")).or_throw(), Kubeconfig{});
  EXPECT_THAT(log_.lines(),
              ElementsAre("KUBECONFIG names /nonexistent/a, /nonexistent/b, which do not exist"));
}

// KC-11
TEST_F(KubeconfigFiles, SkipsAndNamesAMissingFileBesideOneThatExists) {
  const std::string one = cluster("one", "one", "server: 'https://1'");

  EXPECT_EQ(load_kubeconfig(sources("/nonexistent/a:" + one)).or_throw().clusters.size(), 1U);
  EXPECT_THAT(log_.lines(), ElementsAre("KUBECONFIG names /nonexistent/a, which does not exist"));
}

// KC-11
TEST_F(KubeconfigFiles, DoesNotWarnIfTheHomeFileIsMissing) {
  EXPECT_EQ(load_kubeconfig(sources("")).or_throw(), Kubeconfig{});
  EXPECT_TRUE(log_.lines().empty());
}

// KC-12
TEST_F(KubeconfigFiles, MergesReadableFilesAndReportsAllOthers) {
  const std::string good = cluster("good", "good", "server: 'https://1'");
  const std::string bad = folder_.write("bad", "clusters: 5");
  const std::string directory = folder_.path();

  const LoadedKubeconfig loaded = load_kubeconfig(sources(bad + ':' + directory + ':' + good));

  EXPECT_TRUE(loaded.merged.clusters.contains("good"));
  ASSERT_THAT(loaded.problems, ElementsAre(HasSubstr(bad), HasSubstr(directory)));
  const std::string message = message_of<ConfigError>([&] { return loaded.or_throw(); });
  EXPECT_THAT(message, HasSubstr("kubeconfig " + bad + ": clusters: expected list"));
  EXPECT_THAT(message, HasSubstr("directory"));
}

// KC-12: the file exists but cannot be opened, not even by root.
TEST_F(KubeconfigFiles, ReportsAFileThatCannotBeOpened) {
  std::filesystem::create_symlink("loop", folder_.path("loop"));

  EXPECT_THAT(load_kubeconfig(sources(folder_.path("loop"))).problems,
              ElementsAre(HasSubstr("symbolic links")));
}

// KC-13
TEST_F(KubeconfigFiles, TheFirstFileOwnsAnEntryAsAWhole) {
  const std::string first = folder_.write("first", R"(
clusters: [{name: a, cluster: {server: 'https://1'}}]
users: [{name: u, user: {token: one}}]
)");
  const std::string second = folder_.write("second", R"(
clusters: [{name: a, cluster: {server: 'https://2', proxy-url: 'http://p'}}, {name: b}]
users: [{name: u, user: {token: two, username: who}}]
contexts: [{name: c, context: {cluster: a}}]
current-context: c
)");
  const std::string third = folder_.write("third", "current-context: d\ncontexts: [{name: c}]\n");

  const Kubeconfig merged = load_kubeconfig(sources(first + ':' + second + ':' + third)).or_throw();

  EXPECT_EQ(merged.clusters.at("a"), (KubeconfigCluster{.server = "https://1", .origin = first}));
  EXPECT_EQ(merged.clusters.at("b").origin, second);
  EXPECT_EQ(merged.users.at("u"), (KubeconfigUser{.token = "one", .origin = first}));
  EXPECT_EQ(merged.contexts.at("c").cluster, "a");
  EXPECT_EQ(merged.current_context, "c");
  EXPECT_EQ(merged.current_context_origin, second);
}

constexpr std::string_view kPaths = R"(
clusters: [{name: a, cluster: {certificate-authority: ca.pem}}]
users:
- name: u
  user:
    client-certificate: ../pki/me.crt
    client-key: /abs/me.key
    tokenFile: ~/token
    exec: {command: bin/login}
- name: v
  user: {exec: {command: login}}
)";

// KC-14, KC-15: the tilde is not expanded.
TEST_F(KubeconfigFiles, ResolvesPathsAgainstTheFolderOfTheirFile) {
  const Kubeconfig loaded = load_kubeconfig(sources(folder_.write("sub/k", kPaths))).or_throw();

  EXPECT_EQ(loaded.clusters.at("a").certificate_authority, folder_.path("sub/ca.pem"));
  const KubeconfigUser& user = loaded.users.at("u");
  EXPECT_EQ(user.client_certificate, folder_.path("pki/me.crt"));
  EXPECT_EQ(user.client_key, "/abs/me.key");
  EXPECT_EQ(user.token_file, folder_.path("sub/~/token"));
  EXPECT_EQ(user.exec->command, folder_.path("sub/bin/login"));
  EXPECT_EQ(loaded.users.at("v").exec->command, "login");
}

// KC-15
TEST_F(KubeconfigFiles, LeavesPathsAloneForEditors) {
  KubeconfigSources from = sources(folder_.write("sub/k", kPaths));
  from.resolve_paths = false;

  const Kubeconfig loaded = load_kubeconfig(from).or_throw();

  EXPECT_EQ(loaded.clusters.at("a").certificate_authority, "ca.pem");
  EXPECT_EQ(loaded.users.at("u").client_certificate, "../pki/me.crt");
  EXPECT_EQ(loaded.users.at("u").exec->command, "bin/login");
}

}  // namespace
}  // namespace kube
