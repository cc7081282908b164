// SPDX-License-Identifier: Apache-2.0
// Sources polled by jobs of a Runtime, over real sockets (RC-74 to RC-76).
#include <kube/api/core/v1.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/inside.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/client/client.hpp>
#include <kube/config/credentials.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/testkit/api_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../../src/cache/async_list_watch.hpp"
#include "../../../src/engine/scheduler.hpp"
#include "../../../src/engine/timer.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using detail::AsyncListWatch;
using detail::Poll;
using testing::Contains;
using testing::HasSubstr;

/// Lists, then watches, and records the objects seen.
class Follower final : public detail::Job {
 public:
  Follower(std::shared_ptr<AsyncListWatch> source, const std::shared_ptr<detail::Scheduler>& on)
      : Job(detail::Placement::kLibrary), source_(std::move(source)), timer_(on, system_clock()) {
    bind(on);
  }

  /// Ends the list or watch, in the thread that polls it.
  [[nodiscard]] bool stop() {
    is_stopping_ = true;
    schedule();
    return wait_for("stopped");
  }
  /// Waits until it has recorded `what`.
  [[nodiscard]] bool wait_for(const std::string& what) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(
        lock, 20s, [&] { return std::find(seen_.begin(), seen_.end(), what) != seen_.end(); });
  }
  [[nodiscard]] std::vector<std::string> seen() {
    const std::lock_guard guard{mutex_};
    return seen_;
  }
  [[nodiscard]] int turns() {
    const std::lock_guard guard{mutex_};
    return turns_;
  }

 private:
  void run() noexcept override {
    try {
      if (is_stopping_) {
        list_.reset();
        watch_.reset();
        note("stopped");
      } else if (!watch_) {
        poll_list();
      } else {
        poll_watch();
      }
    } catch (const std::exception& error) {
      note(std::string{"error: "} + error.what());
    }
  }
  void poll_list() {
    if (!list_) list_ = source_->start_list({.limit = 500}, {weak_from_this(), scheduler()});
    const Poll result = list_->poll(
        [this](const detail::ObjectRef& object) { note("listed " + name_of(object)); }, 1024);
    {
      const std::lock_guard guard{mutex_};
      ++turns_;
    }
    if (result == Poll::kPending) return timer_.set(list_->wake_at(), weak_from_this());
    if (result == Poll::kReady) {
      watch_ = source_->start_watch({.resource_version = list_->metadata().resource_version},
                                    {weak_from_this(), scheduler()});
      list_.reset();
      note("list is complete");
    }
    schedule();
  }
  void poll_watch() {
    if (!is_open_) {
      if (watch_->poll_open() == Poll::kPending) {
        return timer_.set(watch_->wake_at(), weak_from_this());
      }
      is_open_ = true;
      note("watches");
    }
    while (const auto event = watch_->poll_next()) {
      note(std::string{to_string(event->type)} + " " + name_of(event->object));
    }
    if (watch_->has_ended()) return note("ended");
    timer_.set(watch_->wake_at(), weak_from_this());
  }
  void note(std::string what) {
    {
      const std::lock_guard guard{mutex_};
      seen_.push_back(std::move(what));
    }
    changed_.notify_all();
  }
  static std::string name_of(const detail::ObjectRef& object) {
    return object ? object.to<Pod>()->metadata.name.str() : "nothing";
  }

  const std::shared_ptr<AsyncListWatch> source_;
  detail::Timer timer_;
  std::unique_ptr<detail::AsyncList> list_;
  std::unique_ptr<detail::AsyncWatch> watch_;
  bool is_open_ = false;
  std::atomic<bool> is_stopping_ = false;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::vector<std::string> seen_;
  int turns_ = 0;
};

/// Credentials written by the program, which may block.
class Wrapped final : public Credentials {
 public:
  explicit Wrapped(std::shared_ptr<Credentials> inner) : inner_(std::move(inner)) {}
  std::string authorization(std::stop_token stop) override {
    return inner_->authorization(std::move(stop));
  }
  std::shared_ptr<const TlsMaterial> tls(std::stop_token stop) override {
    return inner_->tls(std::move(stop));
  }
  void refused(const std::string& authorization) override { inner_->refused(authorization); }

 private:
  const std::shared_ptr<Credentials> inner_;
};

struct AsyncSource : testing::Test {
  ~AsyncSource() override {
    for (const auto& follower : followers) EXPECT_TRUE(follower->stop());
  }
  std::shared_ptr<AsyncListWatch> source(const Client& client,
                                         std::function<void(ListOptions&)> tweak = nullptr) {
    return detail::ErasedListWatch<Pod>{
        std::make_shared<ResourceListWatch<Pod>>(client.resource<Pod>("shop"), std::move(tweak))}
        .async_form();
  }
  void create(const std::string& name, const std::string& app = "web") {
    Pod pod;
    pod.metadata.name = name;
    pod.metadata.namespace_ = "shop";
    pod.metadata.labels = {{"app", app}};
    server.create(pod);
  }
  std::shared_ptr<Follower> follow(std::shared_ptr<AsyncListWatch> from) {
    auto follower = std::make_shared<Follower>(std::move(from), detail::Inside::core(runtime));
    follower->schedule();
    followers.push_back(follower);
    return follower;
  }

  testkit::ApiServer server;
  Runtime runtime{{.threads = 1}};
  std::vector<std::shared_ptr<Follower>> followers;
};

// RC-74, RC-76
TEST_F(AsyncSource, ListsAndWatchesOnTheThreadsOfARuntime) {
  for (int i = 0; i < 100; ++i) create("pod-" + std::to_string(i));
  const Client client{server.config()};
  const auto follower = follow(source(client));

  ASSERT_TRUE(follower->wait_for("watches")) << testing::PrintToString(follower->seen());
  EXPECT_THAT(follower->seen(), Contains("listed pod-99"));
  EXPECT_GT(follower->turns(), 3) << "1 KiB at a time";
  create("late");
  EXPECT_TRUE(follower->wait_for("ADDED late")) << testing::PrintToString(follower->seen());
  server.remove<Pod>("shop", "late");
  EXPECT_TRUE(follower->wait_for("DELETED late"));

  EXPECT_EQ(server.watch_count(), 1U);
  EXPECT_TRUE(follower->stop());
  EXPECT_TRUE(server.wait_for([&] { return server.watch_count() == 0; }));
}

// RC-74
TEST_F(AsyncSource, NeedsNoThreadPerSource) {
  create("one");
  const Client client{server.config()};
  for (int i = 0; i < 30; ++i) (void)follow(source(client));
  for (const auto& follower : followers) ASSERT_TRUE(follower->wait_for("watches"));
  EXPECT_LE(runtime.threads(), 2U);
  create("late");
  for (const auto& follower : followers) EXPECT_TRUE(follower->wait_for("ADDED late"));
}

// RC-74
TEST_F(AsyncSource, AppliesTheTweakOfTheProgram) {
  create("mine", "web");
  create("other", "db");
  const Client client{server.config()};
  const auto follower =
      follow(source(client, [](ListOptions& options) { options.label_selector = "app=web"; }));
  ASSERT_TRUE(follower->wait_for("watches"));
  EXPECT_THAT(follower->seen(), Contains("listed mine"));
  EXPECT_THAT(follower->seen(), testing::Not(Contains("listed other")));
}

// RC-74
TEST_F(AsyncSource, ReportsErrorsAndTheEndOfAWatch) {
  const Client client{server.config()};
  const auto ended = follow(source(client));
  ASSERT_TRUE(ended->wait_for("watches"));
  server.end_watches();
  EXPECT_TRUE(ended->wait_for("ended"));

  const auto refused = follow(
      source(client, [](ListOptions& options) { options.field_selector = "spec.noSuchField=1"; }));
  ASSERT_TRUE(server.wait_for([&] { return !refused->seen().empty(); }));
  EXPECT_THAT(refused->seen().front(), HasSubstr("error: "));
}

// RC-75
TEST_F(AsyncSource, WorksWithCredentialsOfTheProgram) {
  create("one");
  const Client client{
      server.config(),
      {.credentials = std::make_shared<Wrapped>(make_credentials(server.config()))}};
  const auto follower = follow(source(client));
  EXPECT_TRUE(follower->wait_for("watches")) << testing::PrintToString(follower->seen());
}

// RC-74
TEST(ListWatch, HasNoAsyncFormIfAUserWroteIt) {
  const auto functions =
      std::make_shared<FunctionListWatch<Pod>>(FunctionListWatch<Pod>::List{}, nullptr);
  EXPECT_EQ(detail::ErasedListWatch<Pod>{functions}.async_form(), nullptr);
}

}  // namespace
}  // namespace kube
