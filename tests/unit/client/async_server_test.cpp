// SPDX-License-Identifier: Apache-2.0
// Verbs for coroutines over real sockets.
#include <kube/api/core/v1.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/engine/sleep.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>
#include <kube/engine/when_all.hpp>
#include <kube/engine/when_any.hpp>

#include "support/test_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dirent.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::ConfigMap;
using testing::ElementsAre;

std::size_t thread_count() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count - 2;
}

/// Runs the loop of `runtime` in this thread until the signal is set. Returns false on timeout.
bool run_until(Runtime& runtime, const DoneSignal& done) {
  std::stop_source stop;
  const std::uint64_t registered = done.on_done([stop]() mutable { stop.request_stop(); });
  const std::jthread limit{[&stop](std::stop_token ended) {
    (void)system_clock().sleep_for(60s, ended);
    stop.request_stop();
  }};
  runtime.loop().run(stop.get_token());
  done.forget(registered);
  return done.done();
}

struct AsyncServerTest : testing::Test {
  ConfigMap map(const std::string& name) const { return {.metadata = {.name = name}}; }

  testing_support::TestServer server;
};

// AV-5, RT-6: with threads = 0, the thread that runs the loop does everything.
TEST_F(AsyncServerTest, MakesAThousandRequestsAtOnceOnOneThread) {
  constexpr std::size_t kRequests = 1000;
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client client{server.config(), {.runtime = runtime}};
  const auto maps = client.resource<ConfigMap>(server.space());
  server.create(ConfigMap{.metadata = {.name = "a", .namespace_ = server.space()}});
  const std::size_t before = thread_count();
  std::size_t most = 0;
  std::size_t right = 0;
  const auto one = [](Resource<ConfigMap> from, std::size_t& threads,
                      std::size_t& count) -> Task<void> {
    const Ref<ConfigMap> got = co_await from.get_async("a");
    threads = std::max(threads, thread_count());
    count += got->metadata.name == "a" ? 1 : 0;
  };
  std::vector<Task<void>> tasks;
  for (std::size_t i = 0; i < kRequests; ++i) tasks.push_back(one(maps, most, right));
  ASSERT_TRUE(run_until(*runtime, spawn(*runtime, when_all(std::move(tasks)))));
  EXPECT_EQ(right, kRequests);
  EXPECT_LE(most, before + 1) << "one is the time limit of this test";
}

// AV-5: the memory of a waiting request, without that of a server in this process.
TEST(AsyncMemory, KeepsLessThanTenKilobytesForARequestThatWaits) {
  constexpr std::size_t kRequests = 1000;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 128), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  {
    const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
    Config config;
    config.host = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    config.qps = -1;
    const Client client{config, {.log = Logger{}, .runtime = runtime}};
    const auto maps = client.resource<ConfigMap>("shop");
    std::stop_source stop;
    const auto begin = [&](std::size_t count) {
      std::vector<Task<Ref<ConfigMap>>> tasks;
      for (std::size_t i = 0; i < count; ++i) tasks.push_back(maps.get_async("a"));
      const DoneSignal done =
          spawn(*runtime, when_all(std::move(tasks)), Delivery::kQueued, stop.get_token());
      for (int i = 0; i < 1000; ++i) runtime->loop().run_ready();
      return done;
    };
    const DoneSignal first = begin(10);
    const std::size_t before = ::mallinfo2().uordblks;
    const DoneSignal all = begin(kRequests);
    const std::size_t each = (::mallinfo2().uordblks - before) / kRequests;
    RecordProperty("bytes", static_cast<int>(each));
    EXPECT_LT(each, 10'000U);
    stop.request_stop();
    EXPECT_TRUE(run_until(*runtime, all));
    EXPECT_TRUE(run_until(*runtime, first));
  }
  ::close(listener);
}

// AV-2: the response and the stop arrive from different threads at about the same time.
TEST_F(AsyncServerTest, IsResumedOnceIfTheAnswerAndAStopRace) {
  const Client client{server.config()};
  Runtime runtime{{.threads = 2}};
  const auto maps = client.resource<ConfigMap>(server.space());
  server.create(ConfigMap{.metadata = {.name = "a", .namespace_ = server.space()}});
  const auto body = [](Resource<ConfigMap> from, std::stop_token stop, std::atomic<int>& answers,
                       std::atomic<int>& stops) -> Task<void> {
    const GetOptions options;
    try {
      (void)co_await from.get_async("a", options, stop);
      ++answers;
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), TransportError::Kind::kCanceled);
      ++stops;
    }
  };
  std::atomic<int> answers = 0;
  std::atomic<int> stops = 0;
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; ++i) {
    std::stop_source stop;
    const DoneSignal done = spawn(runtime, body(maps, stop.get_token(), answers, stops));
    const auto end = std::chrono::steady_clock::now() + i * 10us;
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    stop.request_stop();
    ASSERT_TRUE(server.wait_for([&] { return done.done(); }));
  }
  EXPECT_EQ(answers + stops, kRounds);
}

// AV-3: a watch and the writer of its objects are two Tasks of one thread.
TEST_F(AsyncServerTest, WatchesWhatAnotherTaskWrites) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client client{server.config(), {.runtime = runtime}};
  const auto maps = client.resource<ConfigMap>(server.space());
  std::vector<std::string> seen;
  const auto watching = [](Resource<ConfigMap> from, std::string version,
                           std::vector<std::string>& events) -> Task<void> {
    const ListOptions options{.resource_version = version};
    auto watch = co_await from.watch_async(options);
    while (auto event = co_await watch.next()) {
      events.push_back(std::string{to_string(event->type)} + " " +
                       event->object->metadata.name.str());
      if (event->type == EventType::kDeleted) co_return;
    }
  };
  const auto writing = [](Resource<ConfigMap> to, ConfigMap made) -> Task<void> {
    (void)co_await to.create_async(std::move(made));
    (void)co_await to.patch_async("a", PatchType::kMerge, R"({"data":{"x":"1"}})");
    co_await to.delete_async("a");
  };
  const auto all = [&]() -> Task<void> {
    const auto listed = co_await maps.list_all_async();
    Task<void> writer = writing(maps, map("a"));
    co_await when_all(watching(maps, listed.metadata.resource_version, seen), std::move(writer));
  };
  ASSERT_TRUE(run_until(*runtime, spawn(*runtime, all())));
  EXPECT_THAT(seen, ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

// AV-4: the sync of a cache can be awaited.
TEST_F(AsyncServerTest, AwaitsTheSyncOfAnInformer) {
  const Client client{server.config()};
  const auto maps = client.resource<ConfigMap>(server.space());
  server.create(ConfigMap{.metadata = {.name = "a", .namespace_ = server.space()}});
  SharedIndexInformer<ConfigMap> informer{std::make_shared<ResourceListWatch<ConfigMap>>(maps)};
  std::jthread running{[&](std::stop_token stop) { informer.run(stop); }};
  Runtime runtime{{.threads = 1}};
  std::atomic<bool> found = false;
  const auto body = [](SharedIndexInformer<ConfigMap> from, std::string key,
                       std::atomic<bool>& result) -> Task<void> {
    if (!co_await from.synced()) co_return;
    result = from.indexer().find(key) != nullptr;
  };
  const DoneSignal done = spawn(runtime, body(informer, server.space() + "/a", found));
  ASSERT_TRUE(server.wait_for([&] { return done.done(); }));
  EXPECT_TRUE(found);
}

// AV-4: a request is given a time limit by racing it against a sleep.
TEST_F(AsyncServerTest, LimitsTheTimeOfAWatch) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client client{server.config(), {.runtime = runtime}};
  const auto maps = client.resource<ConfigMap>(server.space());
  const auto watching = [](Resource<ConfigMap> from) -> Task<void> {
    auto watch = co_await from.watch_async();
    while (auto event = co_await watch.next()) {
    }
  };
  const auto limit = [](Runtime& on) -> Task<void> { (void)co_await sleep(on, 50ms); };
  std::size_t first = 9;
  const auto body = [&]() -> Task<void> {
    first = (co_await when_any(watching(maps), limit(*runtime))).index();
  };
  ASSERT_TRUE(run_until(*runtime, spawn(*runtime, body())));
  EXPECT_EQ(first, 1U);
}

}  // namespace
}  // namespace kube
