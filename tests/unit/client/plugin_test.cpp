// SPDX-License-Identifier: Apache-2.0
// Requests of a client whose credentials come from a plugin.
#include "../config/config_fixture.hpp"
#include "support/items.hpp"
#include "support/test_server.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/base/done_signal.hpp>
#include <kube/client/client.hpp>
#include <kube/config/credentials.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/engine/serial_queue.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::ConfigMap;

/// The plugin prints the token once the test has opened the gate, a named pipe.
class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    if (::mkfifo(folder_.path("gate").c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    gate_ = ::open(folder_.path("gate").c_str(), O_RDWR | O_CLOEXEC);
    server_.create(ConfigMap{.metadata = {.name = "a", .namespace_ = server_.space()}});
  }
  ~PluginTest() override { ::close(gate_); }

  /// Lets one run of the plugin end. Does not wait for it.
  void open_gate() const { ASSERT_EQ(::write(gate_, "0\n", 2), 2); }
  [[nodiscard]] Client client(std::shared_ptr<Runtime> runtime) const {
    Config config = server_.config_for("root");
    const std::string token{config.bearer_token};
    config.bearer_token.clear();
    config.exec = ExecConfig{
        .api_version = "client.authentication.k8s.io/v1",
        .command = folder_.write_program(
            "plugin", "#!/bin/sh\nread -r line < '" + folder_.path("gate") +
                          "'\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                          "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"" +
                          token + "\"}}'\n"),
        .interactive_mode = ExecInteractiveMode::kNever};
    // A test that would hang fails with the deadline of the plugin.
    auto credentials = make_credentials(
        config, {.log = Logger{},
                 .exec = {.plugins = std::make_shared<ExecPlugins>(), .deadline = 20s}});
    return Client{std::move(config),
                  {.log = Logger{}, .runtime = std::move(runtime), .credentials = credentials}};
  }

  test::TemporaryFolder folder_;
  testing_support::TestServer server_;
  int gate_ = -1;
};

Task<void> get(Resource<ConfigMap> maps, std::promise<std::string>& name) {
  try {
    const Ref<ConfigMap> got = co_await maps.get_async("a");
    name.set_value(got->metadata.name.str());
  } catch (const std::exception& error) {
    name.set_value(error.what());
  }
}

// RT-13: the only worker runs other work meanwhile.
TEST_F(PluginTest, HoldsNoWorkerWhileItRuns) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .max_threads = 1});
  const Client own = client(runtime);
  std::promise<std::string> name;
  std::future<std::string> got = name.get_future();
  const DoneSignal ended =
      spawn(*runtime, get(own.resource<ConfigMap>(server_.space()), name), Delivery::kInline);
  SerialQueue queue{*runtime};
  for (int i = 0; i < 100; ++i) {
    std::promise<void> ran;
    ASSERT_TRUE(queue.post([&] { ran.set_value(); }));
    ASSERT_EQ(ran.get_future().wait_for(20s), std::future_status::ready);
  }
  EXPECT_EQ(got.wait_for(0s), std::future_status::timeout);
  open_gate();
  EXPECT_EQ(got.get(), "a");
  EXPECT_TRUE(ended.wait({}));
}

// RT-13, RT-6: a call that waits for a plugin runs the loop meanwhile.
TEST_F(PluginTest, ABlockingCallRunsTheProgramsLoopMeanwhile) {
  const std::size_t threads = testing_support::thread_count();
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client own = client(runtime);
  std::size_t most = 0;
  runtime->loop().post([&] {
    most = testing_support::thread_count();
    open_gate();
  });
  EXPECT_EQ(own.resource<ConfigMap>(server_.space()).get("a")->metadata.name, "a");
  EXPECT_LE(most, threads);
}

// RT-6, RT-13
TEST_F(PluginTest, AStopEndsABlockingCallOnTheProgramsLoop) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client own = client(runtime);
  std::stop_source stop;
  runtime->loop().post([&] { stop.request_stop(); });
  const auto maps = own.resource<ConfigMap>(server_.space());
  EXPECT_THROW((void)maps.get("a", {}, stop.get_token()), Error);
  // The client can be used again. The first run, which is killed, may have taken a line.
  open_gate();
  open_gate();
  EXPECT_EQ(maps.get("a")->metadata.name, "a");
}

}  // namespace
}  // namespace kube
