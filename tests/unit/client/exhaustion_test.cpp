// SPDX-License-Identifier: Apache-2.0
// Plugins, requests and watches when memory or threads are exhausted at any point.
#include "../../../src/client/list_operation.hpp"
#include "../../../src/engine/scheduler.hpp"
#include "../config/config_fixture.hpp"
#include "fixture.hpp"
#include "support/counting_waker.hpp"
#include "support/failing_memory.hpp"
#include "support/failing_threads.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/base/metrics.hpp>
#include <kube/config/credentials.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace kube {
namespace {

using core::v1::Pod;
using test::FakeAnswer;
using test::Scripted;
using testing_support::MemoryFault;
using testing_support::MemoryFaultAnywhere;
using testing_support::ThreadFault;

std::size_t open_files() {
  const std::filesystem::directory_iterator files{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

struct PluginExhaustion : testing::Test {
  std::shared_ptr<Credentials> credentials() {
    return make_credentials({.host = "https://h",
                             .exec = ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                                .command = plugin,
                                                .interactive_mode = ExecInteractiveMode::kNever}},
                            {.environment = test::environment_with({{"PATH", "/usr/bin:/bin"}}),
                             .exec = {.plugins = std::make_shared<ExecPlugins>()}});
  }
  test::TemporaryFolder folder;
  const std::string plugin = folder.write_program(
      "plugin",
      "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
      "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"abc\"}}'\n");
};

TEST_F(PluginExhaustion, OfMemoryIsAnErrorAndTheNextRequestSucceeds) {
  EXPECT_EQ(credentials()->authorization(), "Bearer abc");
  const std::size_t files = open_files();
  // One failed allocation; then so many that there is no memory for the error report either.
  for (const std::uint64_t times : {1, 10}) {
    bool happened = true;
    for (std::uint64_t number = 1; happened; ++number) {
      const auto made = credentials();
      bool succeeded = false;
      {
        const MemoryFaultAnywhere fault{number, times};
        try {
          succeeded = made->authorization() == "Bearer abc";
        } catch (const std::exception& error) {
          EXPECT_NE(std::string_view{error.what()}, "");
        }
        happened = fault.happened();
      }
      EXPECT_TRUE(succeeded || happened);
      EXPECT_EQ(made->authorization(), "Bearer abc") << number;
      ASSERT_EQ(open_files(), files) << number;
      ASSERT_FALSE(has_children()) << number;
    }
  }
}

// RT-13
TEST_F(PluginExhaustion, OfThreadsIsNoProblem) {
  const auto made = credentials();
  const std::size_t files = open_files();
  {
    const ThreadFault fault{1};
    EXPECT_EQ(made->authorization(), "Bearer abc");
    EXPECT_EQ(fault.left(), 1) << "a thread was created";
  }
  EXPECT_FALSE(has_children());
  EXPECT_EQ(open_files(), files);
}

TEST(RequestExhaustion, OfMemoryIsAnErrorAndTheNextRequestSucceeds) {
  Scripted scripted;
  scripted.options.metrics = std::make_shared<Metrics>();
  scripted.transport->on_request(
      [](const HttpRequest&) { return FakeAnswer::json(test::pod_json("web")); });
  const auto pods = scripted.client().resource<Pod>("shop");
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    {
      const MemoryFault fault{number};
      try {
        EXPECT_EQ(pods.get("web")->metadata.name, "web");
      } catch (const std::exception& error) {
        EXPECT_NE(std::string_view{error.what()}, "");
      }
      happened = fault.happened();
    }
    EXPECT_EQ(pods.get("web")->metadata.name, "web") << number;
    ASSERT_EQ(scripted.transport->totals().open, 0) << number;
  }
}

// RC-74, RC-75: neither the operation nor a worker that it waits for hangs.
TEST(ListExhaustion, OfMemoryIsAnErrorOfAListThatIsPolled) {
  Scripted scripted;
  scripted.credentials->value = "Bearer mine";
  scripted.transport->on_request([](const HttpRequest&) {
    const testing_support::ExemptFromFaults exempt;
    return FakeAnswer::json(R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" +
                            test::pod_json("web") + "]}");
  });
  const auto pods = detail::Inside::core(scripted.client().resource<Pod>("shop"));
  const auto waker = std::make_shared<test::CountingWaker>();
  const auto workers =
      std::make_shared<detail::Scheduler>(detail::WorkerPoolOptions{.threads = 0}, Logger{});
  const auto list = [&] {
    std::size_t items = 0;
    const auto operation = pods.start_list({}, {.waker = waker, .scheduler = workers});
    const auto count = [&](const detail::AnyRef&) { ++items; };
    while (operation->poll(count, 1000) == detail::Poll::kPending) {
      (void)workers->loop().run_ready({});
      if (waker->take() == 0) throw std::logic_error("nobody wakes it");
    }
    return items;
  };
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    {
      const MemoryFault fault{number};
      try {
        EXPECT_EQ(list(), 1U);
      } catch (const std::exception& error) {
        EXPECT_NE(std::string_view{error.what()}, "");
        EXPECT_NE(std::string_view{error.what()}, "nobody wakes it") << number;
      }
      happened = fault.happened();
    }
    while (workers->loop().run_ready({})) {
    }
    (void)waker->take();
    ASSERT_EQ(list(), 1U) << number;
    ASSERT_EQ(scripted.transport->totals().open, 0) << number;
  }
  workers->close();
}

/// Collects the versions ("1", "2", ...) of the events that a watch delivers until it ends or
/// throws.
template <typename WatchType>
void collect(WatchType& watch, std::vector<std::string>& versions, std::size_t most) {
  while (versions.size() < most) {
    const auto event = watch.next();
    if (!event) return;
    const testing_support::ExemptFromFaults exempt;
    ASSERT_NE(event->type, EventType::kError) << event->status->message.str();
    versions.push_back(event->object->metadata.resource_version.str());
  }
}
std::string events(int from, int to) {
  std::string text;
  for (int version = from; version <= to; ++version) {
    text += R"({"type":"ADDED","object":)" + test::pod_json("web", std::to_string(version)) + "}\n";
  }
  return text;
}
const std::vector<std::string> kAll{"1", "2", "3", "4"};

TEST(WatchExhaustion, OfMemoryLosesNoEventInTheMiddle) {
  Scripted scripted;
  const std::string body = events(1, 4);
  scripted.transport->on_request([&](const HttpRequest&) {
    return FakeAnswer{.chunks = {body.substr(0, 150), body.substr(150)}};
  });
  const auto pods = scripted.client().resource<Pod>("shop");
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    std::vector<std::string> versions;
    auto watch = pods.watch();
    {
      const MemoryFault fault{number};
      try {
        collect(watch, versions, 4);
      } catch (const std::bad_alloc&) {
      }
      happened = fault.happened();
    }
    try {
      collect(watch, versions, 4);
    } catch (const std::bad_alloc&) {
      ADD_FAILURE() << "there was memory again";
    }
    ASSERT_EQ(versions, std::vector(kAll.begin(),
                                    kAll.begin() + static_cast<std::ptrdiff_t>(versions.size())))
        << number;
  }
}

TEST(WatchExhaustion, OfMemoryIsOvercomeByARetryingWatch) {
  Scripted scripted;
  scripted.transport->on_request([&](const HttpRequest& request) -> std::optional<FakeAnswer> {
    const testing_support::ExemptFromFaults exempt;
    const std::size_t at = request.target.find("resourceVersion=");
    const int version = at == std::string::npos ? 0 : std::stoi(request.target.substr(at + 16));
    return FakeAnswer{.chunks = {events(version % 100 + 1, 4)}};
  });
  const auto pods = scripted.client().resource<Pod>("shop");
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    std::vector<std::string> versions;
    auto watch = pods.retry_watch({.resource_version = "100"});
    {
      const MemoryFault fault{number};
      try {
        collect(watch, versions, 4);
      } catch (const std::bad_alloc&) {
      }
      happened = fault.happened();
    }
    collect(watch, versions, 4);
    ASSERT_EQ(versions, kAll) << number;
  }
}

}  // namespace
}  // namespace kube
