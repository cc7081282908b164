// SPDX-License-Identifier: Apache-2.0
#include <kube/config/load.hpp>

#include "config_fixture.hpp"
#include "support/test_certificates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using test::environment_with;
using test::message_of;
using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kTwo = R"(
current-context: one
clusters:
- {name: c1, cluster: {server: 'https://1', tls-server-name: n1, certificate-authority-data: Q0E=}}
- {name: c2, cluster: {server: 'https://2', proxy-url: 'socks5://u:pw@p'}}
users:
- {name: u1, user: {token: t1}}
- {name: u2, user: {username: n2, password: p2}}
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: ns1}}
- {name: two, context: {cluster: c2, user: u2}}
)";

Kubeconfig two() { return parse_kubeconfig(kTwo, "/k"); }

// KC-20
TEST(ConfigFromKubeconfig, PrefersOverrideThenCallersNameThenCurrentContext) {
  EXPECT_EQ(config_from_kubeconfig(two()).host, "https://1");
  EXPECT_EQ(config_from_kubeconfig(two(), {.context_name = "two"}).host, "https://2");
  EXPECT_EQ(
      config_from_kubeconfig(two(), {.context_name = "two", .overrides = {.context_name = "one"}})
          .host,
      "https://1");
}

// KC-20
TEST(ConfigFromKubeconfig, AContextThatDoesNotExistIsAnError) {
  EXPECT_EQ(message_of<ConfigError>(
                [] { return config_from_kubeconfig(two(), {.overrides = {.context_name = "x"}}); }),
            "context \"x\" does not exist");
  EXPECT_THROW(static_cast<void>(config_from_kubeconfig(two(), {.context_name = "x"})),
               ConfigError);
  Kubeconfig dangling = two();
  dangling.current_context = "gone";
  EXPECT_EQ(message_of<ConfigError>([&] { return config_from_kubeconfig(dangling); }),
            "kubeconfig /k: current-context names unknown context \"gone\"");
}

// KC-21
TEST(ConfigFromKubeconfig, OverridesReplaceTheFileFieldByField) {
  const Config config = config_from_kubeconfig(
      two(), {.overrides = {.context = {.cluster = "c2", .namespace_ = "over"},
                            .cluster = {.disable_compression = true},
                            .user = {.token = "t9", .impersonate = {.user = "root"}}}});

  EXPECT_EQ(config.host, "https://2");
  EXPECT_EQ(config.proxy_url, "socks5://u:pw@p");
  EXPECT_TRUE(config.disable_compression);
  EXPECT_EQ(config.bearer_token, "t9");
  EXPECT_EQ(config.impersonate.user, "root");
  EXPECT_EQ(config.default_namespace, "over");
}

// KC-21
TEST(ConfigFromKubeconfig, AnOverrideMustNameEntriesThatExist) {
  EXPECT_EQ(message_of<ConfigError>([] {
              return config_from_kubeconfig(two(), {.overrides = {.context = {.cluster = "x"}}});
            }),
            "cluster \"x\" does not exist");
  EXPECT_EQ(message_of<ConfigError>([] {
              return config_from_kubeconfig(two(), {.overrides = {.context = {.user = "y"}}});
            }),
            "user \"y\" does not exist");
}

// KC-22
TEST(ConfigFromKubeconfig, TrustOverrideReplacesAllTrustFields) {
  const Config skip =
      config_from_kubeconfig(two(), {.overrides = {.cluster = {.insecure_skip_tls_verify = true}}});
  EXPECT_TRUE(skip.tls.insecure_skip_verify);
  EXPECT_EQ(skip.tls.ca_data, "");
  EXPECT_EQ(skip.tls.server_name, "n1");

  Kubeconfig insecure = two();
  insecure.clusters["c1"] = {.server = "https://1", .insecure_skip_tls_verify = true};
  const Config with_ca = config_from_kubeconfig(
      insecure, {.overrides = {.cluster = {.certificate_authority_data = "OTHER"}}});
  EXPECT_FALSE(with_ca.tls.insecure_skip_verify);
  EXPECT_EQ(with_ca.tls.ca_data, "OTHER");
}

// KC-22
TEST(ConfigFromKubeconfig, AnotherServerClearsTheNameOfTheOldOne) {
  const auto name_with = [](KubeconfigCluster cluster) {
    return config_from_kubeconfig(two(), {.overrides = {.cluster = std::move(cluster)}})
        .tls.server_name;
  };

  EXPECT_EQ(name_with({.server = "https://9"}), "");
  EXPECT_EQ(name_with({.server = "https://9", .tls_server_name = "n9"}), "n9");
  EXPECT_EQ(name_with({.tls_server_name = "n9"}), "n9");
}

// KC-22
TEST(ConfigFromKubeconfig, FileAndDataOfAKeyReplaceEachOther) {
  TemporaryFolder folder;
  const std::string file = folder.write("f", "x");
  Kubeconfig config = two();
  config.users["u1"] = {.client_certificate_data = "C", .client_key_data = "K"};

  const Config files = config_from_kubeconfig(
      config, {.overrides = {.user = {.client_certificate = file, .client_key = file}}});
  EXPECT_EQ(files.tls.certificate_file, file);
  EXPECT_EQ(files.tls.certificate_data, "");
  EXPECT_EQ(files.tls.key_file, file);
  EXPECT_EQ(files.tls.key_data, "");

  config.users["u1"] = {.client_certificate = file, .client_key = file};
  const Config data = config_from_kubeconfig(
      config, {.overrides = {.user = {.client_certificate_data = "C", .client_key_data = "K"}}});
  EXPECT_EQ(data.tls.certificate_file, "");
  EXPECT_EQ(data.tls.certificate_data, "C");
  EXPECT_EQ(data.tls.key_file, "");
  EXPECT_EQ(data.tls.key_data, "K");
}

// KC-23
TEST(KubeconfigValidation, CollectsEveryProblemOfACluster) {
  EXPECT_THAT(
      validate(KubeconfigCluster{.certificate_authority = "/nonexistent/ca",
                                 .certificate_authority_data = "CA",
                                 .proxy_url = "ftp://me:pw@p",
                                 .origin = "/k"},
               "c"),
      ElementsAre("kubeconfig /k: cluster \"c\" has no server",
                  "kubeconfig /k: cluster \"c\" has proxy-url \"ftp://me:[redacted]@p\", which "
                  "is not http, https or socks5",
                  "kubeconfig /k: cluster \"c\" has both certificate-authority and "
                  "certificate-authority-data; only one is allowed",
                  HasSubstr("cannot read /nonexistent/ca")));
  for (const char* proxy : {"http://p", "https://p", "socks5://p", "HTTP://p"}) {
    EXPECT_THAT(validate(KubeconfigCluster{.server = "s", .proxy_url = proxy}, "c"), IsEmpty());
  }
}

// KC-23
TEST(KubeconfigValidation, CollectsEveryProblemOfAUser) {
  EXPECT_THAT(validate(KubeconfigUser{.client_certificate = "/nonexistent/crt",
                                      .client_certificate_data = "C",
                                      .token = "secret",
                                      .impersonate = {.groups = {"g"}},
                                      .username = "n",
                                      .auth_provider = KubeconfigAuthProvider{.name = "gcp"},
                                      .exec = ExecConfig{.env = {{"", "v"}}}},
                       "u"),
              ElementsAre(HasSubstr("both client-certificate and client-certificate-data"),
                          HasSubstr("a client certificate but no client-key"),
                          HasSubstr("cannot read /nonexistent/crt"),
                          HasSubstr("both a token and a username or password"),
                          HasSubstr("as-uid, as-groups or as-user-extra, but no as"),
                          HasSubstr("without command"), HasSubstr("without apiVersion"),
                          HasSubstr("without interactiveMode"), HasSubstr("has no name"),
                          HasSubstr("both an exec plugin and an auth-provider")));
  EXPECT_THAT(validate(KubeconfigUser{.client_certificate_data = "C",
                                      .client_key = "/nonexistent/key",
                                      .client_key_data = "K"},
                       "u"),
              ElementsAre(HasSubstr("both client-key and client-key-data"),
                          HasSubstr("cannot read /nonexistent/key")));
  EXPECT_THAT(validate(KubeconfigUser{.impersonate = {.uid = "1"}}, "u"), testing::SizeIs(1));
  EXPECT_THAT(validate(KubeconfigUser{.impersonate = {.extra = {{"a", {"b"}}}}}, "u"),
              testing::SizeIs(1));
}

// KC-23, KC-43: v1beta1 has a default mode, v1 has none.
TEST(KubeconfigValidation, InteractiveModeIsRequiredForV1) {
  const auto problems = [](const char* version, const char* mode) {
    const Kubeconfig config =
        parse_kubeconfig(std::string{"users: [{name: u, user: {exec: {command: c, apiVersion: "} +
                         version + mode + "}}}]");
    return validate(config.users.at("u"), "u");
  };

  EXPECT_THAT(problems("client.authentication.k8s.io/v1beta1", ""), IsEmpty());
  EXPECT_THAT(problems("client.authentication.k8s.io/v1", ""),
              ElementsAre(HasSubstr("without interactiveMode")));
  EXPECT_THAT(problems("client.authentication.k8s.io/v1", ", interactiveMode: Always"), IsEmpty());
  EXPECT_THAT(problems("client.authentication.k8s.io/v1", ", interactiveMode: Maybe"),
              ElementsAre(HasSubstr("not Never, IfAvailable or Always")));
}

// KC-29
TEST(KubeconfigValidation, ReportsDanglingReferencesAndBadNames) {
  const Kubeconfig config = parse_kubeconfig(R"(
current-context: gone
clusters: [{name: '', cluster: {server: s}}]
users: [{name: ''}]
contexts:
- {name: x, context: {cluster: 'y', user: z, namespace: Not_A_Label}}
- {name: ''}
)",
                                             "/home/u/.kube/config");
  const std::vector<std::string> problems = validate(config);

  const std::string file = "kubeconfig /home/u/.kube/config: ";
  EXPECT_THAT(problems, Contains(file + "current-context names unknown context \"gone\""));
  EXPECT_THAT(problems, Contains(file + "context \"x\" names unknown cluster \"y\""));
  EXPECT_THAT(problems, Contains(file + "context \"x\" names unknown user \"z\""));
  EXPECT_THAT(problems, Contains(HasSubstr("has namespace \"Not_A_Label\", which must")));
  EXPECT_THAT(problems, Contains(file + "context has no name"));
  EXPECT_THAT(problems, Contains(file + "cluster has no name"));
  EXPECT_THAT(problems, Contains(file + "user has no name"));
  EXPECT_THAT(validate(two()), IsEmpty());
}

// KC-24
TEST(ConfigFromKubeconfig, MissingServerIsTheEmptyConfiguration) {
  EXPECT_THROW(static_cast<void>(config_from_kubeconfig({})), EmptyConfigError);
  Kubeconfig more = two();
  more.clusters["c1"] = {.proxy_url = "ftp://p"};
  try {
    static_cast<void>(config_from_kubeconfig(more));
    FAIL();
  } catch (const EmptyConfigError&) {
    FAIL() << "there is another problem";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.problems().size(), 2U);
  }
}

// KC-25
TEST(ConfigFromKubeconfig, NamespaceComesFromOverrideContextOrDefault) {
  const Config from_context = config_from_kubeconfig(two());
  EXPECT_EQ(from_context.default_namespace, "ns1");
  EXPECT_FALSE(from_context.namespace_overridden);
  const Config over =
      config_from_kubeconfig(two(), {.overrides = {.context = {.namespace_ = "over"}}});
  EXPECT_EQ(over.default_namespace, "over");
  EXPECT_TRUE(over.namespace_overridden);
  EXPECT_EQ(config_from_kubeconfig(two(), {.context_name = "two"}).default_namespace, "default");
}

// KC-27
TEST(ConfigFromKubeconfig, KeepsThePathOfTheServerButNotItsQuery) {
  const auto host_of = [](const std::string& server) {
    return config_from_kubeconfig({}, {.overrides = {.cluster = {.server = server}}}).host;
  };

  EXPECT_EQ(host_of("https://h:1/p/q?x=1#f"), "https://h:1/p/q");
  EXPECT_EQ(host_of("https://h/p#f"), "https://h/p");
  EXPECT_EQ(host_of("https://h/p/"), "https://h/p/");
  EXPECT_EQ(host_of("https://h/?x"), "https://h/?x");
  EXPECT_EQ(host_of("https://h?x=/y"), "https://h?x=/y");
  EXPECT_EQ(host_of("https://h"), "https://h");
  EXPECT_EQ(host_of("h:80"), "h:80");
}

// KC-28
TEST(ParseTimeout, TakesSecondsAndDurations) {
  EXPECT_EQ(parse_timeout("0"), 0ms);
  EXPECT_EQ(parse_timeout("30"), 30s);
  EXPECT_EQ(parse_timeout("2m"), 2min);
  EXPECT_EQ(parse_timeout("1h0m1.5s"), 1h + 1500ms);
  EXPECT_EQ(parse_timeout("1us"), 1ms);
  for (const char* bad :
       {"", "-1", "-2m", "x", "1 m", "1.5", "99999999999999999999", "9223372036854775807"}) {
    EXPECT_THROW(static_cast<void>(parse_timeout(bad)), ConfigError) << bad;
  }
  EXPECT_EQ(config_from_kubeconfig(two(), {.overrides = {.timeout = "2m"}}).timeout, 2min);
  EXPECT_THROW(static_cast<void>(config_from_kubeconfig(two(), {.overrides = {.timeout = "soon"}})),
               ConfigError);
}

// KC-29
TEST(ConfigFromKubeconfig, AnUnknownUserIsAnonymousAnUnknownClusterIsEmpty) {
  Kubeconfig config = two();
  config.users.clear();
  const Config anonymous = config_from_kubeconfig(config);
  EXPECT_EQ(anonymous.host, "https://1");
  EXPECT_EQ(anonymous.bearer_token, "");

  config = two();
  config.clusters.clear();
  EXPECT_THROW(static_cast<void>(config_from_kubeconfig(config)), EmptyConfigError);
}

// KC-30
TEST(ConfigFromKubeconfig, OnlyHttpsServersGetCredentials) {
  for (const char* server : {"http://1", "1:8080"}) {
    Kubeconfig config = two();
    config.clusters["c1"].server = server;
    config.users["u1"].impersonate.user = "root";
    const Config plain = config_from_kubeconfig(config);

    EXPECT_EQ(plain.host, server);
    EXPECT_EQ(plain.bearer_token, "");
    EXPECT_EQ(plain.tls, TlsConfig{});
    EXPECT_EQ(plain.impersonate.user, "root");
  }
  Kubeconfig loud = two();
  loud.clusters["c1"].server = "HTTPS://1";
  EXPECT_EQ(config_from_kubeconfig(loud).bearer_token, "t1");
}

// KC-31
TEST(ConfigFromKubeconfig, AnUnreadableTokenFileIsAnErrorUnlessThereIsAToken) {
  TemporaryFolder folder;
  Kubeconfig config = two();
  config.users["u1"] = {.token_file = "/nonexistent/token", .origin = "/k"};
  EXPECT_THAT(
      message_of<ConfigError>([&] { return config_from_kubeconfig(config); }),
      HasSubstr("kubeconfig /k: user \"u1\" has a tokenFile that is not usable: cannot read "
                "/nonexistent/token"));

  config.users["u1"].token = "initial";
  EXPECT_EQ(config_from_kubeconfig(config).bearer_token, "initial");
  EXPECT_EQ(config_from_kubeconfig(config).bearer_token_file, "/nonexistent/token");

  config.users["u1"] = {.token_file = folder.write("token", " abc\n")};
  EXPECT_EQ(config_from_kubeconfig(config).bearer_token, "abc");
}

// KC-42: the extension of the cluster is passed to the plugin.
TEST(ConfigFromKubeconfig, GivesThePluginTheExtensionOfItsCluster) {
  const Kubeconfig config = parse_kubeconfig(R"(
current-context: x
clusters:
- name: c
  cluster:
    server: https://s
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: p}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
)");

  EXPECT_EQ(config_from_kubeconfig(config).exec->cluster_config, R"({"audience":"a"})");
}

class Pod : public testing::Test {
 protected:
  Pod() {
    folder_.write("sa/token", "pod-token\n");
    folder_.write("sa/ca.crt", test::TestAuthority{}.certificate());
    folder_.write("sa/namespace", "pod-ns\n");
  }
  [[nodiscard]] Environment environment(std::map<std::string, std::string> more = {}) const {
    more.insert({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
    Environment environment = environment_with(std::move(more));
    environment.service_account_folder = folder_.path("sa");
    return environment;
  }

  TemporaryFolder folder_;
  test::RecordedLog log_;
};

// KC-60, KC-61
TEST_F(Pod, UsesItsServiceAccount) {
  const Config config = in_cluster_config(environment());

  EXPECT_EQ(config.host, "https://10.0.0.1:443");
  EXPECT_EQ(config.bearer_token, "pod-token");
  EXPECT_EQ(config.bearer_token_file, folder_.path("sa/token"));
  EXPECT_EQ(config.tls.ca_file, folder_.path("sa/ca.crt"));
  EXPECT_EQ(config.default_namespace, "pod-ns");
  EXPECT_TRUE(in_cluster_possible(environment()));
}

// KC-60
TEST_F(Pod, WritesIpv6InBrackets) {
  EXPECT_EQ(in_cluster_config(environment({{"KUBERNETES_SERVICE_HOST", "fd00::1"}})).host,
            "https://[fd00::1]:443");
}

// KC-60
TEST_F(Pod, RequiresTheServiceVariables) {
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    EXPECT_THROW(static_cast<void>(in_cluster_config(environment({{name, ""}}))),
                 NotInClusterError);
    EXPECT_FALSE(in_cluster_possible(environment({{name, ""}})));
  }
}

// KC-60
TEST_F(Pod, NeedsATokenButNotACa) {
  std::filesystem::remove(folder_.path("sa/ca.crt"));
  EXPECT_EQ(in_cluster_config(environment(), log_.logger()).tls.ca_file, "");
  folder_.write("sa/ca.crt", "garbage");
  EXPECT_EQ(in_cluster_config(environment(), log_.logger()).tls.ca_file, "");
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("cannot read"), HasSubstr("PEM")));

  std::filesystem::remove(folder_.path("sa/token"));
  EXPECT_THAT(message_of<ConfigError>([&] { return in_cluster_config(environment()); }),
              HasSubstr("sa/token"));
  EXPECT_FALSE(in_cluster_possible(environment()));
}

// KC-61
TEST_F(Pod, TakesItsNamespaceFromTheVariableTheFileOrTheDefault) {
  EXPECT_EQ(in_cluster_config(environment({{"POD_NAMESPACE", "var-ns"}})).default_namespace,
            "var-ns");
  std::filesystem::remove(folder_.path("sa/namespace"));
  EXPECT_EQ(in_cluster_config(environment()).default_namespace, "default");
}

// KC-26
TEST_F(Pod, IsUsedIfTheFilesAreEmpty) {
  EXPECT_EQ(load_config({.sources = {.environment = environment()}}).host, "https://10.0.0.1:443");
  const std::string file = folder_.write("k", kTwo);
  EXPECT_EQ(load_config({.sources = {.environment = environment({{"KUBECONFIG", file}})}}).host,
            "https://1");
}

// KC-26, KC-29: a dangling cluster counts as empty; any other error is reported.
TEST_F(Pod, IsNotUsedToHideAnError) {
  const auto load = [&](std::string_view text) {
    return load_config(
        {.sources = {.explicit_file = folder_.write("k", text), .environment = environment()}});
  };

  EXPECT_EQ(load("current-context: x\ncontexts: [{name: x, context: {cluster: gone}}]").host,
            "https://10.0.0.1:443");
  EXPECT_THROW(static_cast<void>(load("current-context: gone")), ConfigError);
  EXPECT_THROW(static_cast<void>(load("clusters: 5")), ConfigError);
}

// KC-26
TEST_F(Pod, IsUsedIfTheConfigurationIsOnlyTheDeclaredDefault) {
  ConfigOptions options{.sources = {.environment = environment()},
                        .overrides = {.cluster_defaults = {.server = "http://localhost:8080"}}};
  options.declared_default = Config{.host = "http://localhost:8080"};

  EXPECT_EQ(load_config(options).host, "https://10.0.0.1:443");
  options.sources.environment = environment_with({});
  EXPECT_EQ(load_config(options).host, "http://localhost:8080");
}

// KC-26
TEST(LoadConfig, OutsideOfAPodTheOriginalErrorStays) {
  EXPECT_THROW(static_cast<void>(load_config({.sources = {.environment = environment_with({})}})),
               EmptyConfigError);
}

// KC-26: the overrides that apply to a pod.
TEST_F(Pod, TakesOverrides) {
  const Config config = load_config(
      {.sources = {.environment = environment()},
       .overrides = {
           .context = {.namespace_ = "over"}, .user = {.token = "mine"}, .timeout = "3"}});

  EXPECT_EQ(config.bearer_token, "mine");
  EXPECT_EQ(config.bearer_token_file, "");
  EXPECT_EQ(config.default_namespace, "over");
  EXPECT_TRUE(config.namespace_overridden);
  EXPECT_EQ(config.timeout, 3s);
}

// KC-62
TEST_F(Pod, FlagsChooseFileServerOrPod) {
  const std::string file = folder_.write("k", kTwo);
  const Environment with_kubeconfig = environment({{"KUBECONFIG", file}});

  EXPECT_EQ(build_config_from_flags("", "", with_kubeconfig, log_.logger()).host,
            "https://10.0.0.1:443");
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("neither")));
  EXPECT_EQ(build_config_from_flags("", file, environment()).host, "https://1");
  const Config both = build_config_from_flags("https://9", file, environment());
  EXPECT_EQ(both.host, "https://9");
  EXPECT_EQ(both.bearer_token, "t1");
  EXPECT_EQ(build_config_from_flags("https://9", "", with_kubeconfig).bearer_token, "");
  EXPECT_THROW(static_cast<void>(build_config_from_flags("", "/nonexistent/k", environment())),
               ConfigError);
}

// KC-11, KC-24
TEST(LoadConfig, NamesMissingFilesOfKubeconfig) {
  const auto message = [](const std::string& list) {
    return message_of<EmptyConfigError>([&] {
      return load_config({.sources = {.environment = environment_with({{"KUBECONFIG", list}})}});
    });
  };

  EXPECT_THAT(message("/nonexistent/x"),
              HasSubstr("KUBECONFIG names /nonexistent/x, which does not exist"));
  EXPECT_THAT(message("/nonexistent/x:/nonexistent/y"),
              HasSubstr("KUBECONFIG names /nonexistent/x, /nonexistent/y, which do not exist"));
  EXPECT_THAT(message("/nonexistent/x"), Not(HasSubstr("set KUBECONFIG")));
}

// KC-62: KUBECONFIG and the home file are ignored.
TEST(BuildConfigFromFlags, IsEmptyWithoutFlags) {
  TemporaryFolder folder;
  const std::string file = folder.write(".kube/config", kTwo);
  test::RecordedLog log;

  EXPECT_THROW(
      static_cast<void>(build_config_from_flags(
          "", "", environment_with({{"KUBECONFIG", file}, {"HOME", folder.path()}}), log.logger())),
      EmptyConfigError);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("neither"), HasSubstr("does not run in a pod")));
}

// KC-63
TEST_F(Pod, ControllersPreferTheFlagThenThePodUnlessKubeconfigIsSet) {
  const std::string file = folder_.write("k", kTwo);
  const Environment with_kubeconfig = environment({{"KUBECONFIG", file}});

  EXPECT_EQ(controller_config(file, "two", environment()).host, "https://2");
  EXPECT_EQ(controller_config("", "", environment()).host, "https://10.0.0.1:443");
  EXPECT_EQ(controller_config("", "", with_kubeconfig).host, "https://1");
  EXPECT_EQ(controller_config("", "", environment()).qps, -1);
}

// KC-63
TEST(ControllerConfig, FallsBackToTheUsualPlaces) {
  TemporaryFolder folder;
  folder.write(".kube/config", kTwo);
  test::RecordedLog log;

  EXPECT_EQ(
      controller_config("", "", environment_with({{"HOME", folder.path()}}), log.logger()).host,
      "https://1");
  EXPECT_TRUE(log.lines().empty());
  EXPECT_THROW(static_cast<void>(controller_config("", "", environment_with({}), log.logger())),
               EmptyConfigError);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("does not run in a pod")));
}

// GE-4
TEST(ConfigText, HasNoSecrets) {
  const Config config{.host = "https://h",
                      .tls = {.ca_data = std::string(100, 'A') + "TAIL",
                              .certificate_data = std::string(100, 'B') + "TAIL",
                              .key_data = "KEYSECRET"},
                      .bearer_token = "TOKENSECRET",
                      .username = "name",
                      .password = "PASSWORDSECRET",
                      .exec = ExecConfig{.command = "login",
                                         .env = {{"VARIABLE", "ENVSECRET"}},
                                         .cluster_config = "CLUSTERSECRET"},
                      .proxy_url = "http://me:PROXYSECRET@p:1"};
  const std::string text = testing::PrintToString(config);

  EXPECT_EQ(text, to_string(config));
  EXPECT_THAT(text, Not(HasSubstr("SECRET")));
  EXPECT_THAT(text, Not(HasSubstr("TAIL")));
  for (const char* shown : {"https://h", "name", "login", "VARIABLE", "AAAA", "BBBB", "p:1"}) {
    EXPECT_THAT(text, HasSubstr(shown));
  }
}

// KC-35
TEST(ImpersonationHeaders, NameUserUidGroupsAndExtra) {
  EXPECT_THAT(impersonation_headers({}), IsEmpty());
  const std::vector<std::pair<std::string, std::string>> expected{
      {"Impersonate-User", "u"},
      {"Impersonate-Uid", "7"},
      {"Impersonate-Group", "a"},
      {"Impersonate-Group", "b"},
      {"Impersonate-Extra-a%2Fb%25%C3%A9", "1"},
      {"Impersonate-Extra-a%2Fb%25%C3%A9", "2"},
      {"Impersonate-Extra-plain-Key_1", "v"}};
  EXPECT_EQ(impersonation_headers({.user = "u",
                                   .uid = "7",
                                   .groups = {"a", "b"},
                                   .extra = {{"a/b%\u00e9", {"1", "2"}}, {"plain-Key_1", {"v"}}}}),
            expected);
}

// KC-35
TEST(ImpersonationHeaders, RefuseValuesThatHeadersCannotCarry) {
  EXPECT_THROW(static_cast<void>(impersonation_headers({.groups = {"g"}})), ConfigError);
  EXPECT_THROW(static_cast<void>(impersonation_headers({.user = "u\r\nX: y"})), ConfigError);
}

// GE-1: the process environment is only the default.
TEST(EnvironmentOfTheProcess, IsReadWhenAsked) {
  ASSERT_EQ(::setenv("KUBECXX_CONFIG_TEST", "a=b", 1), 0);
  EXPECT_EQ(Environment{}.variable("KUBECXX_CONFIG_TEST"), "a=b");
  ASSERT_EQ(::unsetenv("KUBECXX_CONFIG_TEST"), 0);
  EXPECT_EQ(Environment{}.variable("KUBECXX_CONFIG_TEST"), "");
}

}  // namespace
}  // namespace kube
