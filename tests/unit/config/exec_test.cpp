// SPDX-License-Identifier: Apache-2.0
#include "../../../src/config/credentials_refresh.hpp"
#include "../../../src/engine/scheduler.hpp"
#include "config_fixture.hpp"
#include "support/items.hpp"
#include "support/test_certificates.hpp"

#include <kube/codec/json.hpp>
#include <kube/config/credentials.hpp>
#include <kube/object/value.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kube {
namespace {

using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using namespace std::chrono_literals;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

/// Plugins are scripts in a temporary folder; each run appends a line to the file `runs`.
class ExecTest : public testing::Test {
 protected:
  ~ExecTest() override {
    // No child process may be left, neither running nor as a zombie.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  std::string plugin(const std::string& body) {
    return folder_.write_program("plugin",
                                 "#!/bin/sh\necho run >> '" + folder_.path("runs") + "'\n" + body);
  }
  /// Returns a script that prints the file `answer`.
  std::string answering() { return plugin("cat '" + folder_.path("answer") + "'\n"); }
  void answer(const Value& status, std::string_view version = kV1) {
    folder_.write("answer",
                  encode_json(Value::object(
                      {{"kind", "ExecCredential"}, {"apiVersion", version}, {"status", status}})));
  }
  [[nodiscard]] std::size_t runs() const {
    std::ifstream file{folder_.path("runs")};
    std::string line;
    std::size_t count = 0;
    while (std::getline(file, line)) ++count;
    return count;
  }
  static Config config(const std::string& command) {
    return {.host = "https://h:1",
            .exec = ExecConfig{.api_version = kV1,
                               .command = command,
                               .interactive_mode = ExecInteractiveMode::kNever}};
  }
  CredentialsOptions options() {
    return {.clock = &clock_,
            .log = log_.logger(),
            .environment = environment_,
            .exec = {.plugins = plugins_, .on_call = [this](int code, ExecOutcome outcome) {
                       calls_.emplace_back(code, outcome);
                     }}};
  }
  std::shared_ptr<Credentials> make(const Config& config) {
    return make_credentials(config, options());
  }
  std::string failure_of(const std::string& command) {
    return message_of<ConfigError>([&] { return make(config(command))->authorization(); });
  }

  testkit::FakeClock clock_;
  test::TemporaryFolder folder_;
  test::RecordedLog log_;
  std::map<std::string, std::string> variables_{{"PATH", "/usr/bin:/bin"}, {"PARENT", "1"}};
  Environment environment_ = test::environment_with(variables_);
  std::shared_ptr<ExecPlugins> plugins_ = std::make_shared<ExecPlugins>();
  std::vector<std::pair<int, ExecOutcome>> calls_;
};

// KC-45
TEST_F(ExecTest, SendsTheTokenThatThePluginPrints) {
  answer(Value::object({{"token", "abc"}}));
  const auto credentials = make(config(answering()));
  EXPECT_EQ(runs(), 0U);

  EXPECT_EQ(credentials->authorization(), "Bearer abc");
  EXPECT_EQ(credentials->authorization(), "Bearer abc");
  EXPECT_EQ(credentials->tls()->certificate, "");
  EXPECT_EQ(runs(), 1U);
  EXPECT_THAT(calls_, ElementsAre(Pair(0, ExecOutcome::kSuccess)));
}

// RC-75
TEST_F(ExecTest, ReportsWhenThePluginWouldHaveToRun) {
  answer(Value::object({{"token", "abc"}, {"expirationTimestamp", "2026-01-01T01:00:00Z"}}));
  const auto credentials = make(config(answering()));
  auto* const ready = dynamic_cast<detail::NonBlockingCredentials*>(credentials.get());
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->try_authorization(), std::nullopt);
  EXPECT_EQ(ready->try_tls(), nullptr);
  EXPECT_EQ(runs(), 0U);

  (void)credentials->authorization();
  EXPECT_EQ(ready->try_authorization(), "Bearer abc");
  EXPECT_NE(ready->try_tls(), nullptr);
  credentials->refused("Bearer abc");
  EXPECT_EQ(ready->try_authorization(), std::nullopt);
  (void)credentials->authorization();
  EXPECT_EQ(ready->try_authorization(), "Bearer abc");
  clock_.advance(2h);
  EXPECT_EQ(ready->try_authorization(), std::nullopt);
  EXPECT_EQ(ready->try_tls(), nullptr);
  EXPECT_EQ(runs(), 2U);
}

// RC-75
TEST_F(ExecTest, FixedTokenNeverBlocks) {
  const auto credentials = make({.host = "https://h:1", .bearer_token = "fixed"});
  auto* const ready = dynamic_cast<detail::NonBlockingCredentials*>(credentials.get());
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->try_authorization(), "Bearer fixed");
  EXPECT_EQ(ready->try_tls(), credentials->tls());
}

// KC-40
TEST_F(ExecTest, RefusesOtherVersions) {
  for (const char* version : {"", "v1", "client.authentication.k8s.io/v1alpha1"}) {
    Config with_version = config("plugin");
    with_version.exec->api_version = version;
    EXPECT_THAT(message_of<ConfigError>([&] { return make(with_version); }),
                HasSubstr(std::string{"apiVersion \""} + version + "\" is not supported"));
  }
}

// KC-40, KC-43, KC-44: v1beta1 has a default mode.
TEST_F(ExecTest, SpeaksV1Beta1) {
  Config beta = config(answering());
  beta.exec->api_version = "client.authentication.k8s.io/v1beta1";
  beta.exec->interactive_mode = ExecInteractiveMode::kUnset;
  answer(Value::object({{"token", "old"}}), beta.exec->api_version);

  EXPECT_EQ(make(beta)->authorization(), "Bearer old");
}

// KC-41
TEST_F(ExecTest, GivesTheChildItsEnvironmentAndArguments) {
  const std::string command =
      plugin("env > '" + folder_.path("env") + "'; printf '%s|' \"$@\" > '" + folder_.path("args") +
             "'\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + kV1 +
             "\",\"status\":{\"token\":\"t\"}}'\n");
  Config with_env = config(command);
  with_env.exec->args = {"a b", "", "$HOME;"};
  with_env.exec->env = {
      {"ADDED", "x"}, {"PARENT", "2"}, {"ADDED", "y=z"}, {"KUBERNETES_EXEC_INFO", "mine"}};
  ASSERT_EQ(make(with_env)->authorization(), "Bearer t");

  std::map<std::string, std::string> seen;
  std::ifstream file{folder_.path("env")};
  for (std::string line; std::getline(file, line);) {
    seen[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  EXPECT_EQ(seen["PATH"], "/usr/bin:/bin");
  EXPECT_EQ(seen["PARENT"], "2");
  EXPECT_EQ(seen["ADDED"], "y=z");
  EXPECT_EQ(seen["KUBERNETES_EXEC_INFO"],
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
  std::ifstream args{folder_.path("args")};
  std::string line;
  std::getline(args, line);
  EXPECT_EQ(line, "a b||$HOME;|");
}

// KC-42
TEST_F(ExecTest, PassesTheClusterToThePluginIfConfigured) {
  const test::TestAuthority authority;
  const std::string command =
      plugin("printf %s \"$KUBERNETES_EXEC_INFO\" > '" + folder_.path("info") + "'\nexit 3\n");
  Config with_cluster = config(command);
  with_cluster.tls = {.server_name = "name",
                      .ca_file = folder_.write("ca", authority.certificate())};
  with_cluster.proxy_url = "http://p";
  with_cluster.disable_compression = true;
  with_cluster.exec->provide_cluster_info = true;
  with_cluster.exec->cluster_config = R"({"audience":"a"})";
  EXPECT_THROW(static_cast<void>(make(with_cluster)->authorization()), ConfigError);

  std::ifstream file{folder_.path("info")};
  std::string line;
  std::getline(file, line);
  const Ref<Value> info = decode_json<Value>(line);
  const Value& cluster = (*info)["spec"]["cluster"];
  EXPECT_EQ(cluster["server"].as_string(), "https://h:1");
  EXPECT_EQ(cluster["tls-server-name"].as_string(), "name");
  EXPECT_EQ(cluster["certificate-authority-data"].as_string().substr(0, 10), "LS0tLS1CRU");
  EXPECT_EQ(cluster["proxy-url"].as_string(), "http://p");
  EXPECT_TRUE(cluster["disable-compression"].as_bool());
  EXPECT_EQ(cluster["config"], Value::object({{"audience", "a"}}));
  EXPECT_TRUE(cluster["insecure-skip-tls-verify"].is_absent());

  Config insecure = with_cluster;
  insecure.tls = {.insecure_skip_verify = true};
  EXPECT_THROW(static_cast<void>(make(insecure)->authorization()), ConfigError);
  std::ifstream again{folder_.path("info")};
  std::getline(again, line);
  EXPECT_TRUE((*decode_json<Value>(line))["spec"]["cluster"]["insecure-skip-tls-verify"].as_bool());
}

/// Prints, as its token, whether it may prompt, and whether there is input.
constexpr std::string_view kTellsStdin = R"(
if read -r line; then has="input-$line"; else has=nothing; fi
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) mode=asks;; *) mode=silent;; esac
echo "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"$mode-$has\"}}"
)";

class ExecStdinTest : public ExecTest {
 protected:
  ExecStdinTest() {
    const std::string file = folder_.write("stdin", "typed\n");
    saved_ = ::dup(STDIN_FILENO);
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    ::dup2(fd, STDIN_FILENO);
    ::close(fd);
  }
  ~ExecStdinTest() override {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  Config with_mode(ExecInteractiveMode mode, bool is_terminal, bool is_unavailable = false) {
    environment_.stdin_is_terminal = [is_terminal] { return is_terminal; };
    Config with = config(plugin(std::string{kTellsStdin}));
    with.exec->interactive_mode = mode;
    with.exec->stdin_unavailable = is_unavailable;
    return with;
  }

 private:
  int saved_ = -1;
};

// KC-43
TEST_F(ExecStdinTest, ModeNeverProvidesEmptyStdin) {
  EXPECT_EQ(make(with_mode(ExecInteractiveMode::kNever, true))->authorization(),
            "Bearer silent-nothing");
}

// KC-43
TEST_F(ExecStdinTest, IfAvailablePassesATerminalThatIsFree) {
  constexpr auto kMode = ExecInteractiveMode::kIfAvailable;
  EXPECT_EQ(make(with_mode(kMode, false))->authorization(), "Bearer silent-nothing");
  plugins_ = std::make_shared<ExecPlugins>();
  EXPECT_EQ(make(with_mode(kMode, true, true))->authorization(), "Bearer silent-nothing");
  plugins_ = std::make_shared<ExecPlugins>();
  EXPECT_EQ(make(with_mode(kMode, true))->authorization(), "Bearer asks-input-typed");
}

// KC-43
TEST_F(ExecStdinTest, AlwaysFailsBeforeItRunsWithoutATerminal) {
  constexpr auto kMode = ExecInteractiveMode::kAlways;
  EXPECT_THAT(
      message_of<ConfigError>([&] { return make(with_mode(kMode, false))->authorization(); }),
      HasSubstr("not a terminal"));
  EXPECT_THAT(
      message_of<ConfigError>([&] { return make(with_mode(kMode, true, true))->authorization(); }),
      HasSubstr("used for something else"));
  EXPECT_EQ(runs(), 0U);
  EXPECT_EQ(make(with_mode(kMode, true))->authorization(), "Bearer asks-input-typed");
}

// KC-43
TEST_F(ExecTest, ModeIsRequiredForV1) {
  for (const auto mode : {ExecInteractiveMode::kUnset, ExecInteractiveMode::kUnknown}) {
    Config without = config("plugin");
    without.exec->interactive_mode = mode;
    EXPECT_THAT(message_of<ConfigError>([&] { return make(without); }),
                HasSubstr("interactiveMode"));
  }
}

// KC-44
TEST_F(ExecTest, PassesErrorsOfTheChildThrough) {
  testing::internal::CaptureStderr();
  const std::string message = failure_of(plugin("echo 'please log in' >&2\nexit 1\n"));

  EXPECT_EQ(testing::internal::GetCapturedStderr(), "please log in\n");
  EXPECT_THAT(message, Not(HasSubstr("please")));
}

// KC-44
TEST_F(ExecTest, RefusesAnAnswerOfAnotherVersionOrKind) {
  answer(Value::object({{"token", "t"}}), "client.authentication.k8s.io/v1beta1");
  EXPECT_THAT(failure_of(answering()),
              AllOf(HasSubstr("\"client.authentication.k8s.io/v1\""),
                    HasSubstr("\"client.authentication.k8s.io/v1beta1\"")));
  EXPECT_THAT(failure_of(plugin("echo '{\"kind\":\"Pod\"}'")), HasSubstr("ExecCredential"));
}

// KC-45
TEST_F(ExecTest, RefusesIncompleteAnswersWithoutQuotingThem) {
  const test::TestAuthority authority;
  const test::CertifiedKey pair = authority.issue_client({});
  const auto failure = [&](const Value& status) {
    answer(status);
    return failure_of(answering());
  };

  EXPECT_THAT(failure(nullptr), HasSubstr("no status"));
  EXPECT_THAT(failure(Value::object()), HasSubstr("neither a token nor"));
  EXPECT_THAT(failure(Value::object({{"clientCertificateData", pair.certificate}})),
              HasSubstr("no key"));
  EXPECT_THAT(failure(Value::object({{"token", "t"}, {"clientKeyData", pair.key}})),
              HasSubstr("no certificate"));
  EXPECT_THAT(failure(Value::object({{"token", "SECRET"}, {"expirationTimestamp", "soon"}})),
              AllOf(HasSubstr("RFC 3339"), Not(HasSubstr("SECRET"))));
  EXPECT_THAT(failure(Value::object(
                  {{"clientCertificateData", pair.certificate}, {"clientKeyData", "SECRET"}})),
              AllOf(HasSubstr("PEM"), Not(HasSubstr("SECRET"))));
  EXPECT_THAT(failure(Value::object({{"token", "SECRET\nX: y"}})),
              AllOf(HasSubstr("control characters"), Not(HasSubstr("SECRET"))));
  EXPECT_THAT(failure(Value::object({{"token", 5}})), HasSubstr("status.token: expected string"));
  EXPECT_EQ(calls_.back(), std::pair(0, ExecOutcome::kSuccess));
}

TEST_F(ExecTest, SurvivesGarbage) {
  EXPECT_THAT(failure_of(plugin("echo 'SECRET: [}'")),
              AllOf(HasSubstr("neither JSON nor YAML"), Not(HasSubstr("SECRET"))));
  EXPECT_THAT(failure_of(plugin("head -c 5000 /dev/urandom")), HasSubstr("exec plugin"));
  EXPECT_THAT(failure_of(plugin("")), HasSubstr("printed nothing"));
  EXPECT_THAT(failure_of(plugin("echo just-text")), HasSubstr("expected object"));
}

TEST_F(ExecTest, KillsAPluginThatPrintsTooMuch) {
  EXPECT_THAT(failure_of(plugin("exec yes")), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(calls_, ElementsAre(Pair(1, ExecOutcome::kInternalError)));
}

// KC-46
TEST_F(ExecTest, RunsAgainOnlyAfterTheExpiry) {
  answer(Value::object({{"token", "one"}, {"expirationTimestamp", "2026-01-01T01:00:00Z"}}));
  const auto credentials = make(config(answering()));
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  answer(Value::object({{"token", "two"}}));

  clock_.advance(1h);
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  clock_.advance(1us);
  EXPECT_EQ(credentials->authorization(), "Bearer two");
  clock_.advance(10000h);  // without an expiry it stays valid
  EXPECT_EQ(credentials->authorization(), "Bearer two");
  EXPECT_EQ(runs(), 2U);
}

// KC-46: a plugin that returns an expired credential does not run endlessly.
TEST_F(ExecTest, UsesAnAnswerThatHasExpiredAlready) {
  answer(Value::object({{"token", "old"}, {"expirationTimestamp", "2020-01-01T00:00:00+01:00"}}));
  const auto credentials = make(config(answering()));

  EXPECT_EQ(credentials->authorization(), "Bearer old");
  EXPECT_EQ(runs(), 1U);
}

// KC-46
TEST_F(ExecTest, EqualConfigurationsShareOnePlugin) {
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(answering());
  Config other_cluster = equal;
  other_cluster.host = "https://other";
  Config other_exec = equal;
  other_exec.exec->args = {"x"};
  const auto one = make(equal);
  const auto two = make(equal);

  EXPECT_EQ(one->authorization(), "Bearer t");
  EXPECT_EQ(two->authorization(), "Bearer t");
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(make(other_cluster)->authorization(), "Bearer t");
  EXPECT_EQ(make(other_exec)->authorization(), "Bearer t");
  EXPECT_EQ(runs(), 3U);
}

// KC-46: without an explicit registry, the process-wide one is used.
TEST_F(ExecTest, SharesInTheProcessByDefault) {
  plugins_ = nullptr;
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(answering());
  auto one = make(equal);
  const auto two = make(equal);
  EXPECT_EQ(one->authorization(), "Bearer t");
  one.reset();

  EXPECT_EQ(two->authorization(), "Bearer t");
  EXPECT_EQ(runs(), 1U);
}

/// A plugin that blocks until the test writes to a pipe.
class ExecWaitTest : public ExecTest {
 protected:
  ExecWaitTest() {
    if (::mkfifo(folder_.path("gate").c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  }
  std::string waiting() {
    return plugin("read -r line < '" + folder_.path("gate") + "'\ncat '" + folder_.path("answer") +
                  "'\nexit $line\n");
  }
  [[nodiscard]] bool wait_for_runs(std::size_t count) const {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (runs() < count) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }
  /// Lets one run end with that exit code. Blocks until the plugin waits.
  void open_gate(const std::string& code) { std::ofstream{folder_.path("gate")} << code << '\n'; }
};

// KC-46
TEST_F(ExecWaitTest, RunsOnceForManyWaiters) {
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(waiting());
  std::vector<std::future<std::string>> results;
  for (int i = 0; i < 8; ++i) {
    results.push_back(std::async(
        std::launch::async, [credentials = make(equal)] { return credentials->authorization(); }));
  }

  open_gate("0");

  for (auto& result : results) EXPECT_EQ(result.get(), "Bearer t");
  EXPECT_EQ(runs(), 1U);
}

// KC-46: callers share a run, whoever started it.
TEST_F(ExecWaitTest, AStopOfTheFirstCallerLeavesTheRunToOthers) {
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(waiting());
  std::stop_source stop;
  auto first = std::async(std::launch::async, [&, credentials = make(equal)] {
    return message_of<ConfigError>([&] { return credentials->authorization(stop.get_token()); });
  });
  ASSERT_TRUE(wait_for_runs(1));
  auto second = std::async(std::launch::async,
                           [credentials = make(equal)] { return credentials->authorization(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(2));  // both have their deadlines

  stop.request_stop();

  EXPECT_THAT(first.get(), HasSubstr("stopped"));
  open_gate("0");
  EXPECT_EQ(second.get(), "Bearer t");
}

// The fixture checks that no process is left.
TEST_F(ExecWaitTest, AStopKillsAPluginThatNoOtherCallerNeeds) {
  const std::string command = waiting();
  const auto credentials = make(config(command));
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    return message_of<ConfigError>([&] { return credentials->authorization(stop.get_token()); });
  });
  ASSERT_TRUE(wait_for_runs(1));
  stop.request_stop();
  EXPECT_THAT(stopped.get(), HasSubstr("stopped"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);

  answer(Value::object({{"token", "t"}}));
  auto next = std::async(std::launch::async, [&] { return credentials->authorization(); });
  open_gate("0");
  EXPECT_EQ(next.get(), "Bearer t");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecWaitTest, AWaiterCanBeStoppedToo) {
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(waiting());
  auto first = std::async(std::launch::async,
                          [credentials = make(equal)] { return credentials->authorization(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  std::stop_source stop;
  auto second = std::async(std::launch::async, [&, credentials = make(equal)] {
    return message_of<ConfigError>([&] { return credentials->authorization(stop.get_token()); });
  });

  stop.request_stop();

  EXPECT_THAT(second.get(), HasSubstr("stopped"));
  open_gate("0");
  EXPECT_EQ(first.get(), "Bearer t");
}

TEST_F(ExecWaitTest, APluginThatHangsIsKilledAtTheDeadline) {
  auto result =
      std::async(std::launch::async, [&, command = waiting()] { return failure_of(command); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 10min);

  clock_.advance(10min);

  EXPECT_THAT(result.get(), HasSubstr("did not end within 600 s"));
  EXPECT_THAT(calls_, ElementsAre(Pair(1, ExecOutcome::kInternalError)));
}

// RT-13: the same with a clock that does not advance.
TEST_F(ExecWaitTest, APluginThatHangsIsKilledByTheClockOfTheMachine) {
  CredentialsOptions given = options();
  given.clock = &system_clock();
  given.exec.deadline = 20ms;
  const auto credentials = make_credentials(config(waiting()), given);

  EXPECT_THAT(message_of<ConfigError>([&] { return credentials->authorization(); }),
              HasSubstr("did not end within 0.02 s"));
}

/// Renews credentials on a loop that only the test runs, as with RuntimeOptions::threads = 0.
class ExecLoopTest : public ExecWaitTest {
 protected:
  ~ExecLoopTest() override { scheduler_->close(); }

  [[nodiscard]] static std::shared_ptr<detail::NonBlockingCredentials> non_blocking(
      const std::shared_ptr<Credentials>& credentials) {
    return std::dynamic_pointer_cast<detail::NonBlockingCredentials>(credentials);
  }
  [[nodiscard]] bool run_until(const std::function<bool()>& done) const {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    pollfd readable{.fd = scheduler_->loop().descriptor(), .events = POLLIN, .revents = 0};
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      ::poll(&readable, 1, 10);
      (void)scheduler_->loop().run_ready(1ms);
    }
    return true;
  }
  /// Runs the loop until the renewal has ended.
  [[nodiscard]] bool finish(const detail::CredentialsRefresh::Call& call) const {
    return run_until([&] { return detail::CredentialsRefresh::poll(call); });
  }

  std::shared_ptr<detail::Scheduler> scheduler_ =
      std::make_shared<detail::Scheduler>(detail::WorkerPoolOptions{.threads = 0}, Logger{});
};

// RT-13, RT-6: the program's thread is not held up, and no thread is made.
TEST_F(ExecLoopTest, TheLoopGoesOnWhileThePluginRuns) {
  answer(Value::object({{"token", "t"}}));
  const auto credentials = make(config(waiting()));
  const std::size_t threads = testing_support::thread_count();
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto call = refresh.join({.scheduler = scheduler_});
  ASSERT_TRUE(run_until([&] { return runs() == 1; }));
  bool ran = false;
  scheduler_->loop().post([&] { ran = true; });
  ASSERT_TRUE(run_until([&] { return ran; }));
  EXPECT_FALSE(detail::CredentialsRefresh::poll(*call));
  EXPECT_EQ(non_blocking(credentials)->try_authorization(), std::nullopt);
  EXPECT_LE(testing_support::thread_count(), threads);

  open_gate("0");
  ASSERT_TRUE(finish(*call));
  EXPECT_EQ(non_blocking(credentials)->try_authorization(), "Bearer t");
  EXPECT_EQ(non_blocking(credentials)->last_authorization(), "Bearer t");
  EXPECT_NE(non_blocking(credentials)->last_tls(), nullptr);
  EXPECT_THAT(calls_, ElementsAre(Pair(0, ExecOutcome::kSuccess)));
}

// RT-13
TEST_F(ExecLoopTest, AnIdleLoopIsNotWokenByAPluginThatRuns) {
  answer(Value::object({{"token", "t"}}));
  const auto credentials = make(config(waiting()));
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto call = refresh.join({.scheduler = scheduler_});
  ASSERT_TRUE(run_until([&] { return runs() == 1; }));
  while (scheduler_->loop().run_ready(1ms)) {
  }
  pollfd readable{.fd = scheduler_->loop().descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&readable, 1, 20), 0);
  open_gate("0");
  EXPECT_TRUE(finish(*call));
}

// RT-13: the deadline is a timer of the loop.
TEST_F(ExecLoopTest, APluginThatHangsIsKilledAtTheDeadline) {
  const auto credentials = make(config(waiting()));
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto call = refresh.join({.scheduler = scheduler_});
  ASSERT_TRUE(run_until([&] { return runs() == 1; }));
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 10min);

  clock_.advance(10min);

  EXPECT_THAT(message_of<ConfigError>([&] { return finish(*call); }),
              HasSubstr("did not end within 600 s"));
  EXPECT_THAT(calls_, ElementsAre(Pair(1, ExecOutcome::kInternalError)));
}

// RT-13
TEST_F(ExecLoopTest, KillsAPluginThatPrintsTooMuch) {
  const auto credentials = make(config(plugin("exec yes")));
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto call = refresh.join({.scheduler = scheduler_});
  EXPECT_THAT(message_of<ConfigError>([&] { return finish(*call); }),
              HasSubstr("more than 1048576 bytes"));
}

// RC-75, RT-13
TEST_F(ExecLoopTest, APluginThatNoRequestNeedsIsKilled) {
  const auto credentials = make(config(waiting()));
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  auto call = refresh.join({.scheduler = scheduler_});
  ASSERT_TRUE(run_until([&] { return runs() == 1; }));
  call.reset();
  EXPECT_EQ(clock_.sleepers(), 0U) << "the clock may go before the loop runs again";
  while (scheduler_->loop().run_ready(1ms)) {
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

// KC-46, RT-13: a thread and loops share a run, and none depends on a loop that nobody runs.
TEST_F(ExecLoopTest, ALoopThatStandsStillHoldsUpNoOtherCaller) {
  answer(Value::object({{"token", "t"}}));
  const Config equal = config(waiting());
  const auto credentials = make(equal);
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto still =
      std::make_shared<detail::Scheduler>(detail::WorkerPoolOptions{.threads = 0}, Logger{});
  const auto first = refresh.join({.scheduler = still});
  while (still->loop().run_ready(1ms)) {
  }
  ASSERT_TRUE(wait_for_runs(1));
  const auto second = refresh.join({.scheduler = scheduler_});
  auto third = std::async(std::launch::async,
                          [other = make(equal)] { return other->authorization(); });
  open_gate("0");

  EXPECT_TRUE(finish(*second));
  EXPECT_EQ(third.get(), "Bearer t");
  EXPECT_EQ(runs(), 1U);
  while (still->loop().run_ready(1ms)) {
  }
  EXPECT_TRUE(detail::CredentialsRefresh::poll(*first));
  still->close();
}

// KC-46: the plugin is not run again for the request that needed it.
TEST_F(ExecLoopTest, UsesAnAnswerThatHasExpiredAlready) {
  answer(Value::object({{"token", "old"}, {"expirationTimestamp", "2020-01-01T00:00:00+01:00"}}));
  const auto credentials = make(config(answering()));
  detail::CredentialsRefresh refresh{non_blocking(credentials)};
  const auto call = refresh.join({.scheduler = scheduler_});
  ASSERT_TRUE(finish(*call));
  EXPECT_EQ(non_blocking(credentials)->last_authorization(), "Bearer old");
  EXPECT_EQ(runs(), 1U);
}

// RT-6, RT-13: no thread waits for the deadline. The plugin counts the threads of the program that runs it.
TEST_F(ExecTest, RunsWithoutAThreadForTheDeadline) {
  const std::string command = plugin(
      "printf "
      "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\",\"status\":{\"token\":\"%s\"}}' " +
      std::string{kV1} + " $(ls /proc/$PPID/task | wc -l)\n");
  const std::size_t threads = testing_support::thread_count();

  const std::string authorization = make(config(command))->authorization();
  ASSERT_EQ(authorization.find("Bearer "), 0U);
  EXPECT_LE(std::stoul(authorization.substr(7)), threads);
}

// A process started by the plugin holds its output open. This must not block the caller.
TEST_F(ExecTest, DoesNotWaitForChildrenOfThePlugin) {
  answer(Value::object({{"token", "t"}}));
  ASSERT_EQ(::mkfifo(folder_.path("gate").c_str(), 0600), 0);
  const std::string command =
      plugin("cat '" + folder_.path("answer") + "'\ncat '" + folder_.path("gate") + "' &\n");

  EXPECT_EQ(make(config(command))->authorization(), "Bearer t");
  std::ofstream{folder_.path("gate")} << "end\n";
}

TEST_F(ExecTest, DoesNotRunAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  const auto credentials = make(config(plugin("")));

  EXPECT_THAT(message_of<ConfigError>([&] { return credentials->authorization(stop.get_token()); }),
              HasSubstr("stopped"));
  EXPECT_EQ(runs(), 0U);
}

// KC-47
TEST_F(ExecTest, RefusalCausesOneRun) {
  answer(Value::object({{"token", "one"}}));
  const auto credentials = make(config(answering()));
  const std::string sent = credentials->authorization();
  answer(Value::object({{"token", "two"}}));

  credentials->refused(sent);
  credentials->refused(sent);
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(credentials->authorization(), "Bearer two");
  credentials->refused(sent);  // a response to an older request
  credentials->refused("Bearer of somebody else");

  EXPECT_EQ(credentials->authorization(), "Bearer two");
  EXPECT_EQ(runs(), 2U);
}

// KC-47: a refused credential stays in use if the plugin fails, and each refusal runs the plugin
// again.
TEST_F(ExecTest, ARefusedTokenStaysIfThePluginFails) {
  answer(Value::object({{"token", "one"}}));
  const std::string command = answering();
  const auto credentials = make(config(command));
  const std::string sent = credentials->authorization();
  plugin("exit 4\n");

  credentials->refused(sent);
  EXPECT_EQ(credentials->authorization(), sent);
  EXPECT_EQ(credentials->authorization(), sent);
  EXPECT_EQ(runs(), 2U);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("exit code 4")));

  credentials->refused(sent);
  EXPECT_EQ(credentials->authorization(), sent);
  EXPECT_EQ(runs(), 3U);
}

// KC-48
TEST_F(ExecTest, NewCertificateIsANewIdentityForAllUsersOfThePlugin) {
  const test::TestAuthority authority;
  const test::CertifiedKey first = authority.issue_client({.common_name = "first"});
  const test::CertifiedKey second = authority.issue_client({.common_name = "second"});
  const auto status = [](const test::CertifiedKey& pair, const char* token) {
    return Value::object({{"token", token},
                          {"clientCertificateData", pair.certificate},
                          {"clientKeyData", pair.key}});
  };
  answer(status(first, "one"));
  const Config equal = config(answering());
  const auto credentials = make(equal);
  const auto neighbour = make(equal);
  int changes = 0;
  int changes_of_neighbour = 0;
  const auto handle = credentials->on_identity_change([&] { ++changes; });
  const auto handle_of_neighbour = neighbour->on_identity_change([&] { ++changes_of_neighbour; });
  const auto before = credentials->tls();
  static_cast<void>(neighbour->tls());
  EXPECT_EQ(before->certificate, first.certificate);
  EXPECT_EQ(before->key, first.key);
  EXPECT_EQ(changes, 0);

  answer(status(first, "two"));  // only the token
  credentials->refused("Bearer one");
  EXPECT_EQ(credentials->authorization(), "Bearer two");
  EXPECT_EQ(credentials->tls(), before);
  EXPECT_EQ(changes, 0);

  answer(status(second, "two"));
  credentials->refused("Bearer two");
  EXPECT_EQ(credentials->authorization(), "Bearer two");
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(changes_of_neighbour, 1);
  EXPECT_EQ(credentials->tls()->certificate, second.certificate);
  EXPECT_NE(credentials->tls()->identity, before->identity);
  EXPECT_EQ(neighbour->tls()->certificate, second.certificate);
  EXPECT_EQ(changes, 1);
}

// KC-45, KC-47: with only a certificate, no header is sent.
TEST_F(ExecTest, ACertificateAloneIsEnough) {
  const test::TestAuthority authority;
  const auto not_after =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now() + 5h);
  const test::CertifiedKey pair = authority.issue_client({.not_after = not_after});
  answer(Value::object({{"clientCertificateData", pair.certificate}, {"clientKeyData", pair.key}}));
  std::vector<std::optional<Clock::WallTime>> expiries;
  CredentialsOptions with_hook = options();
  with_hook.exec.on_certificate = [&](auto expires) { expiries.push_back(expires); };
  const auto credentials = make_credentials(config(answering()), with_hook);

  EXPECT_EQ(credentials->authorization(), "");
  EXPECT_EQ(credentials->tls()->certificate, pair.certificate);
  EXPECT_THAT(expiries, ElementsAre(Clock::WallTime{not_after}));
  credentials->refused("");
  EXPECT_EQ(credentials->authorization(), "");
  EXPECT_EQ(runs(), 2U);
}

// KC-49
TEST_F(ExecTest, OtherCredentialsSuppressThePlugin) {
  const test::TestAuthority authority;
  const test::CertifiedKey pair = authority.issue_client({});
  Config with_token = config("/nonexistent/plugin");
  with_token.bearer_token = "t";
  Config with_file = config("/nonexistent/plugin");
  with_file.bearer_token_file = folder_.write("token", "f");
  Config with_password = config("/nonexistent/plugin");
  with_password.username = "u";
  Config with_certificate = config("/nonexistent/plugin");
  with_certificate.tls = {.certificate_data = pair.certificate, .key_data = pair.key};

  EXPECT_EQ(make(with_token)->authorization(), "Bearer t");
  EXPECT_EQ(make(with_file)->authorization(), "Bearer f");
  EXPECT_EQ(make(with_password)->authorization(), "Basic dTo=");
  EXPECT_EQ(make(with_certificate)->authorization(), "");
  EXPECT_EQ(make(with_certificate)->tls()->certificate, pair.certificate);
  EXPECT_THAT(calls_, IsEmpty());
}

// KC-39
TEST_F(ExecTest, ExcludesAnAuthProvider) {
  Config both = config("plugin");
  both.auth_provider = "gcp";

  EXPECT_THAT(message_of<ConfigError>([&] { return make(both); }), HasSubstr("together"));
}

// KC-50
TEST_F(ExecTest, AMissingProgramComesWithHelpTenTimesAnHour) {
  Config missing = config("no-such-login");
  missing.exec->install_hint = "try \x1b[31mred\x1b[0m\r\xc2\x9b\nsecond line";
  const auto credentials = make(missing);
  const auto failure = [&] {
    return message_of<ConfigError>([&] { return credentials->authorization(); });
  };

  for (int i = 0; i < 10; ++i) {
    const std::string message = failure();
    EXPECT_THAT(message, HasSubstr("\"no-such-login\": the executable was not found"));
    EXPECT_THAT(message, HasSubstr("try \\x1b[31mred\\x1b[0m\\x0d\\xc2\\x9b\nsecond line"));
    EXPECT_THAT(message, HasSubstr("https://kubernetes.io/"));
    EXPECT_THAT(message, Not(HasSubstr("\x1b")));
  }
  clock_.advance(1h - 1ns);
  EXPECT_THAT(failure(), Not(HasSubstr("https://")));
  clock_.advance(1ns);
  EXPECT_THAT(failure(), HasSubstr("second line"));
  EXPECT_EQ(calls_.front(), std::pair(1, ExecOutcome::kNotFound));
}

// KC-50, KC-14: names are searched for on PATH, but never in the current folder.
TEST_F(ExecTest, SearchesBareNamesOnThePath) {
  answer(Value::object({{"token", "t"}}));
  std::filesystem::rename(answering(), folder_.path("my-login"));
  folder_.write("other/my-login", "not executable");
  variables_["PATH"] = ":.:" + folder_.path("other") + ":" + folder_.path() + ":/usr/bin:/bin";
  environment_ = test::environment_with(variables_);

  EXPECT_EQ(make(config("my-login"))->authorization(), "Bearer t");
  EXPECT_THAT(failure_of(folder_.path("other/my-login")), HasSubstr("not found"));
  EXPECT_THAT(failure_of(folder_.path()), HasSubstr("not found"));
}

// KC-50
TEST_F(ExecTest, AFailureNamesExitCodeOrSignal) {
  EXPECT_THAT(failure_of(plugin("exit 42\n")), HasSubstr("failed with exit code 42"));
  EXPECT_THAT(failure_of(plugin("kill -9 $$\n")), HasSubstr("killed by signal 9"));
  EXPECT_THAT(failure_of(folder_.write_program("broken", "#!/nonexistent/shell\n")),
              HasSubstr("cannot start the program"));
  EXPECT_THAT(calls_, ElementsAre(Pair(42, ExecOutcome::kFailed), Pair(-1, ExecOutcome::kFailed),
                                  Pair(1, ExecOutcome::kInternalError)));
}

// The child has only the three standard descriptors open.
TEST_F(ExecTest, TheChildInheritsNoFiles) {
  const int fd = ::open("/dev/null", O_RDONLY);  // deliberately without close-on-exec
  ASSERT_GE(fd, 3);
  const std::string message =
      failure_of(plugin("[ -e /proc/$$/fd/" + std::to_string(fd) + " ] && exit 7\nexit 8\n"));
  ::close(fd);

  EXPECT_THAT(message, HasSubstr("exit code 8"));
}

}  // namespace
}  // namespace kube
