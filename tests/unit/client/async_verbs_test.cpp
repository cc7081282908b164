// SPDX-License-Identifier: Apache-2.0
// The verbs for coroutines (AV-1, AV-2, AV-7, AV-8, AV-9).
#include <kube/api/apps/v1.hpp>
#include <kube/api/authentication/v1.hpp>
#include <kube/api/autoscaling/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/engine/when_all.hpp>
#include <kube/engine/when_any.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async_fixture.hpp"

namespace kube::test {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = TransportError::Kind;

struct AsyncVerbsTest : AsyncTest {
  Client client{scripted.config, scripted.options};
  Resource<Pod> pods = client.resource<Pod>("shop");
};

// AV-1
TEST_F(AsyncVerbsTest, SendsNothingBeforeItIsStarted) {
  Task<Ref<Pod>> task = pods.get_async("web-0");
  run_ready();
  EXPECT_EQ(transport->size(), 0U);
  const auto got = start(std::move(task));
  ASSERT_EQ(transport->size(), 1U);
  EXPECT_EQ(transport->last().request.target, "/api/v1/namespaces/shop/pods/web-0");
  EXPECT_FALSE(got->has_ended());
  answer(transport->last(), 200, pod_json("web-0", "8"));
  ASSERT_TRUE(got->value) << got->error;
  EXPECT_EQ((*got->value)->metadata.resource_version, "8");
}

/// A verb in both forms.
struct Twin {
  std::string name;
  std::function<void(const Resource<Pod>& pods)> blocking;
  std::function<Task<void>(const Resource<Pod>& pods)> coroutine;
  std::string body = pod_json("web-0");
};

template <typename T>
Task<void> ignore(Task<T> task) {
  (void)co_await std::move(task);
}

std::vector<Twin> twins() {
  const Pod pod{.metadata = {.name = "web-0", .namespace_ = "shop", .labels = {{"app", "web"}}}};
  const std::string list =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + pod_json("web-0") + "]}";
  const std::string scale =
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web-0"}})";
  const std::string token =
      R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":{"name":"web-0"}})";
  const std::string table =
      R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],"rows":[]})";
  const std::string event = R"({"type":"ADDED","object":)" + pod_json("web-0") + "}\n";
  using Pods = Resource<Pod>;
  return {
      {"get", [](const Pods& p) { (void)p.get("web-0", {.resource_version = "0"}); },
       [](const Pods& p) { return ignore(p.get_async("web-0", {.resource_version = "0"})); }},
      {"find", [](const Pods& p) { (void)p.find("web-0"); },
       [](const Pods& p) { return ignore(p.find_async("web-0")); }},
      {"list", [](const Pods& p) { (void)p.list({.label_selector = "app=web"}); },
       [](const Pods& p) { return ignore(p.list_async({.label_selector = "app=web"})); }, list},
      {"list_page", [](const Pods& p) { p.list_page({.limit = 7}, [](const Ref<Pod>&) {}); },
       [](const Pods& p) {
         return ignore(p.list_page_async({.limit = 7}, [](const Ref<Pod>&) {}));
       },
       list},
      {"list_each", [](const Pods& p) { p.list_each({}, [](const Ref<Pod>&) {}); },
       [](const Pods& p) { return ignore(p.list_each_async({}, [](const Ref<Pod>&) {})); }, list},
      {"list_all", [](const Pods& p) { (void)p.list_all({}, {.page_size = 3}); },
       [](const Pods& p) { return ignore(p.list_all_async({}, {.page_size = 3})); }, list},
      {"watch", [](const Pods& p) { (void)p.watch({.resource_version = "5"}); },
       [](const Pods& p) { return ignore(p.watch_async({.resource_version = "5"})); }, event},
      {"retry_watch", [](const Pods& p) { (void)p.retry_watch({.resource_version = "5"}).next(); },
       [](const Pods& p) -> Task<void> {
         auto watch = p.retry_watch_async({.resource_version = "5"});
         EXPECT_TRUE(co_await watch.next());
       },
       event},
      {"table", [](const Pods& p) { (void)p.table({.limit = 5}, TableObjects::kNone); },
       [](const Pods& p) { return ignore(p.table_async({.limit = 5}, TableObjects::kNone)); },
       table},
      {"create", [=](const Pods& p) { p.create(pod, {.field_manager = "me"}); },
       [=](const Pods& p) { return ignore(p.create_async(pod, {.field_manager = "me"})); }},
      {"update", [=](const Pods& p) { p.update(pod); },
       [=](const Pods& p) { return ignore(p.update_async(pod)); }},
      {"update_status", [=](const Pods& p) { p.update_status(pod, {.dry_run = true}); },
       [=](const Pods& p) { return ignore(p.update_status_async(pod, {.dry_run = true})); }},
      {"patch", [](const Pods& p) { p.patch("web-0", PatchType::kMerge, "{}", {}, "status"); },
       [](const Pods& p) {
         return ignore(p.patch_async("web-0", PatchType::kMerge, "{}", {}, "status"));
       }},
      {"apply", [=](const Pods& p) { p.apply(pod, {.field_manager = "me", .force = true}); },
       [=](const Pods& p) {
         return ignore(p.apply_async(pod, {.field_manager = "me", .force = true}));
       }},
      {"apply_status", [=](const Pods& p) { p.apply_status(pod, {.field_manager = "me"}); },
       [=](const Pods& p) { return ignore(p.apply_status_async(pod, {.field_manager = "me"})); }},
      {"delete", [](const Pods& p) { p.delete_("web-0", {.grace_period_seconds = 3}); },
       [](const Pods& p) { return p.delete_async("web-0", {.grace_period_seconds = 3}); }},
      {"delete_collection",
       [](const Pods& p) { p.delete_collection({.dry_run = true}, {.label_selector = "app=web"}); },
       [](const Pods& p) {
         return p.delete_collection_async({.dry_run = true}, {.label_selector = "app=web"});
       }},
      {"get_status", [](const Pods& p) { (void)p.get_status("web-0"); },
       [](const Pods& p) { return ignore(p.get_status_async("web-0")); }},
      {"get_scale", [](const Pods& p) { (void)p.get_scale("web-0"); },
       [](const Pods& p) { return ignore(p.get_scale_async("web-0")); }, scale},
      {"update_scale",
       [](const Pods& p) {
         p.update_scale("web-0", autoscaling::v1::Scale{.spec = {.replicas = 4}});
       },
       [](const Pods& p) {
         return ignore(
             p.update_scale_async("web-0", autoscaling::v1::Scale{.spec = {.replicas = 4}}));
       },
       scale},
      {"evict", [](const Pods& p) { p.evict(policy::v1::Eviction{.metadata = {.name = "web-0"}}); },
       [](const Pods& p) {
         return p.evict_async(policy::v1::Eviction{.metadata = {.name = "web-0"}});
       }},
      {"bind",
       [](const Pods& p) {
         p.bind(core::v1::Binding{.metadata = {.name = "web-0"}, .target = {.name = "node-7"}});
       },
       [](const Pods& p) {
         return p.bind_async(
             core::v1::Binding{.metadata = {.name = "web-0"}, .target = {.name = "node-7"}});
       }},
      {"create_token",
       [](const Pods& p) { (void)p.create_token("web-0", authentication::v1::TokenRequest{}); },
       [](const Pods& p) {
         return ignore(p.create_token_async("web-0", authentication::v1::TokenRequest{}));
       },
       token},
      {"logs", [](const Pods& p) { (void)p.logs("web-0", {.tail_lines = 9}); },
       [](const Pods& p) { return ignore(p.logs_async("web-0", {.tail_lines = 9})); }},
  };
}

// AV-1: both forms of each verb send the same request, also with a blocking Transport.
TEST(AsyncVerbs, SendTheSameRequestsAsTheBlockingOnes) {
  const std::vector<Twin> all = twins();
  for (const Twin& twin : all) {
    Scripted scripted;
    auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0, .log = Logger{}});
    scripted.options.runtime = runtime;
    const Client client = scripted.client();
    const Resource<Pod> pods = client.resource<Pod>("shop");

    scripted.transport->answer(FakeAnswer::json(twin.body));
    ASSERT_NO_THROW(twin.blocking(pods)) << twin.name;
    const HttpRequest expected = scripted.transport->last();
    scripted.transport->answer(FakeAnswer::json(twin.body));
    const auto outcome = std::make_shared<Outcome<bool>>();
    (void)spawn(*runtime, keep(and_true(twin.coroutine(pods)), outcome));
    while (runtime->loop().run_ready()) {
    }
    EXPECT_TRUE(outcome->value) << twin.name << ": " << outcome->error;
    const HttpRequest request = scripted.transport->last();
    ASSERT_EQ(scripted.transport->requests().size(), 2U) << twin.name;
    EXPECT_EQ(request.method, expected.method) << twin.name;
    EXPECT_EQ(request.target, expected.target) << twin.name;
    EXPECT_EQ(request.headers, expected.headers) << twin.name;
    EXPECT_EQ(request.body, expected.body) << twin.name;
    EXPECT_EQ(request.lane, expected.lane) << twin.name;
  }
}

// AV-1
TEST_F(AsyncVerbsTest, ReportErrorsAsTheBlockingFormsDo) {
  const auto got = start(pods.get_async("none"));
  answer(transport->last(), 404, status_json(404, "NotFound", "no such pod"));
  EXPECT_EQ(got->error, "no such pod");

  const auto found = start(pods.find_async("none"));
  answer(transport->last(), 404, status_json(404, "NotFound"));
  ASSERT_TRUE(found->value) << found->error;
  EXPECT_EQ(*found->value, nullptr);

  const auto lost = start(and_true(pods.delete_async("web-0")));
  transport->last().fail(Kind::kConnectionLost);
  run_ready();
  EXPECT_EQ(kind_of(*lost), Kind::kConnectionLost);

  EXPECT_THROW((void)pods.get_async(""), std::invalid_argument);
  EXPECT_THROW((void)pods.list_async({.label_selector = "=="}), std::invalid_argument);
  EXPECT_THROW((void)pods.retry_watch_async({}), std::invalid_argument);
}

// AV-1, RC-74: a retry waits by the client's clock and without a thread.
TEST_F(AsyncVerbsTest, TryAgainWhenTheServerAsksForIt) {
  const auto got = start(pods.get_async("web-0"));
  transport->last().answer(429, {{"Retry-After", "3"}});
  transport->last().end();
  run_ready();
  EXPECT_EQ(transport->size(), 1U);
  scripted.clock.advance(3s);
  run_ready();
  ASSERT_EQ(transport->size(), 2U);
  answer(transport->last(), 200, pod_json("web-0"));
  EXPECT_TRUE(got->value) << got->error;
}

// AV-2: the token of the call, and that of the spawned Task.
TEST_F(AsyncVerbsTest, EndAsCanceledAfterAStop) {
  for (const bool by_call : {true, false}) {
    std::stop_source stop;
    const auto got = by_call ? start(pods.get_async("web-0", {}, stop.get_token()))
                             : start(pods.get_async("web-0"), stop.get_token());
    ManualExchange& exchange = transport->last();
    stop.request_stop();
    EXPECT_FALSE(got->has_ended()) << "it resumes on the queue, not inside request_stop()";
    run_ready();
    EXPECT_EQ(kind_of(*got), Kind::kCanceled);
    EXPECT_EQ(got->error, "GET https://server/api/v1/namespaces/shop/pods/web-0: canceled");
    EXPECT_TRUE(exchange.canceled);
    EXPECT_TRUE(ended.done());
  }
}

// AV-2
TEST_F(AsyncVerbsTest, SendNothingAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  for (Task<bool>& task : [&] {
         std::vector<Task<bool>> tasks;
         tasks.push_back(and_true(ignore(pods.get_async("web-0", {}, stop.get_token()))));
         tasks.push_back(and_true(ignore(pods.list_async({}, stop.get_token()))));
         tasks.push_back(and_true(ignore(pods.list_all_async({}, {}, stop.get_token()))));
         tasks.push_back(and_true(ignore(pods.watch_async({}, stop.get_token()))));
         tasks.push_back(and_true(ignore(pods.logs_async("web-0", {}, stop.get_token()))));
         return tasks;
       }()) {
    const auto got = start(std::move(task));
    EXPECT_EQ(kind_of(*got), Kind::kCanceled) << got->error;
    EXPECT_THAT(got->error, HasSubstr("GET https://server/api/v1/namespaces/shop/pods"));
  }
  EXPECT_EQ(transport->size(), 0U);
}

// AV-2: both happen before the queue runs; the coroutine is resumed once.
TEST_F(AsyncVerbsTest, AreResumedOnceIfTheAnswerAndAStopCoincide) {
  std::stop_source stop;
  int resumed = 0;
  const auto body = [](Task<Ref<Pod>> task, int& count) -> Task<bool> {
    try {
      (void)co_await std::move(task);
    } catch (const TransportError&) {
    }
    ++count;
    co_return true;
  };
  const auto got = start(body(pods.get_async("web-0", {}, stop.get_token()), resumed));
  transport->last().answer(200);
  transport->last().send(pod_json("web-0"));
  transport->last().end();
  stop.request_stop();
  run_ready();
  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(got->value);
}

// AV-7: arguments are copied by the call; the object is needed again if the server does not accept
// protobuf.
TEST_F(AsyncVerbsTest, CopyTheirArguments) {
  auto task = [&] {
    auto pod = std::make_unique<Pod>(Pod{.metadata = {.name = std::string(100, 'x')}});
    return pods.create_async(*pod, {.field_manager = std::string(50, 'm')});
  }();
  const auto made = start(std::move(task));
  answer(transport->last(), 415, status_json(415, "UnsupportedMediaType"));
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_EQ(decode_json<Pod>(transport->last().request.body)->metadata.name, std::string(100, 'x'));
  EXPECT_THAT(transport->last().request.target, HasSubstr(std::string(50, 'm')));
  answer(transport->last(), 201, pod_json("web-0"));
  EXPECT_TRUE(made->value) << made->error;
}

// AV-8: destroying the frame of when_any() destroys its waiting Tasks.
TEST_F(AsyncVerbsTest, CancelTheRequestOfATaskThatIsDestroyed) {
  { const Task<Ref<Pod>> never_started = pods.get_async("web-0"); }
  EXPECT_EQ(transport->size(), 0U);
  const auto first = start([](Resource<Pod> from) -> Task<std::size_t> {
    const auto result = co_await when_any(from.get_async("slow"), from.get_async("fast"));
    co_return result.index();
  }(pods));
  ASSERT_EQ(transport->size(), 2U);
  answer(transport->exchange(1), 200, pod_json("fast"));
  EXPECT_TRUE(transport->exchange(0).canceled);
  ASSERT_TRUE(first->value) << first->error;
  EXPECT_EQ(*first->value, 1U);
}

// AV-9: a request on one Runtime is awaited on another one that ends.
TEST_F(AsyncVerbsTest, EndAsCanceledWhenTheRuntimeEnds) {
  const auto got = std::make_shared<Outcome<Ref<Pod>>>();
  auto other = std::make_unique<Runtime>(RuntimeOptions{.threads = 0, .log = Logger{}});
  const DoneSignal done = spawn(*other, keep(pods.get_async("web-0"), got));
  while (other->loop().run_ready()) {
  }
  ASSERT_EQ(transport->size(), 1U);
  other.reset();
  EXPECT_TRUE(done.done());
  EXPECT_EQ(kind_of(*got), Kind::kCanceled);
  EXPECT_TRUE(transport->last().canceled);
}

// AV-9: the Task keeps the client alive.
TEST_F(AsyncVerbsTest, OutliveTheClient) {
  std::optional<Client> own{std::in_place, scripted.config, scripted.options};
  const auto got = start(own->resource<Pod>("shop").get_async("web-0"));
  own.reset();
  answer(transport->last(), 200, pod_json("web-0"));
  EXPECT_TRUE(got->value) << got->error;
}

// AV-1, RC-76: pages, and the restart after 410.
TEST_F(AsyncVerbsTest, ListAllPages) {
  const auto page = [](const std::string& names, const std::string& token) {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":")" +
           token + R"("},"items":[)" + names + "]}";
  };
  const auto listed = start(pods.list_all_async({}, {.page_size = 1}));
  answer(transport->last(), 200, page(pod_json("a"), "more"));
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_THAT(transport->last().request.target, HasSubstr("continue=more"));
  answer(transport->last(), 410, status_json(410, "Expired"));
  ASSERT_EQ(transport->size(), 3U);
  EXPECT_THAT(transport->last().request.target, testing::Not(HasSubstr("limit")));
  answer(transport->last(), 200, page(pod_json("a") + "," + pod_json("b"), ""));
  ASSERT_TRUE(listed->value) << listed->error;
  EXPECT_EQ(listed->value->items.size(), 2U);
  EXPECT_EQ(listed->value->metadata.resource_version, "9");
}

// AV-1: an exception of the callback ends the list.
TEST_F(AsyncVerbsTest, PropagateExceptionsOfTheItemCallback) {
  const auto listed =
      start(pods.list_page_async({}, [](const Ref<Pod>&) { throw std::runtime_error("enough"); }));
  answer(transport->last(), 200,
         R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + pod_json("a") + "]}");
  EXPECT_EQ(listed->error, "enough");
}

// AV-3: events are delivered one by one, and are not read before they are requested.
TEST_F(AsyncVerbsTest, WatchHoldsTheServerBackUntilEventsAreTaken) {
  std::vector<std::string> seen;
  DoneSignal go_on;
  const auto watched = start(
      [](Resource<Pod> from, std::vector<std::string>& names, DoneSignal signal) -> Task<bool> {
        const ListOptions options{.resource_version = "5"};
        auto watch = co_await from.watch_async(options);
        co_await signal;
        while (auto event = co_await watch.next())
          names.push_back(event->object->metadata.name.str());
        co_return watch.has_ended();
      }(pods, seen, go_on));
  ManualExchange& exchange = transport->last();
  exchange.answer(200);
  for (const char* name : {"a", "b", "c"}) {
    exchange.send(R"({"type":"ADDED","object":)" + pod_json(name) + "}\n");
  }
  run_ready();
  EXPECT_EQ(exchange.reads, 0);
  go_on.fire();
  run_ready();
  EXPECT_THAT(seen, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(watched->has_ended());
  exchange.end();
  run_ready();
  EXPECT_EQ(watched->value, true) << watched->error;
}

// AV-2: a stop token is enough; no options have to be made in the statement that awaits, which
// g++ 12 would destroy twice.
TEST_F(AsyncVerbsTest, TakeAStopTokenWithoutOptions) {
  std::vector<std::string> ended_verbs;
  const auto task = [](Resource<Pod> from, std::stop_token token,
                       std::vector<std::string>& canceled) -> Task<bool> {
    const auto note = [&](const char* verb, const TransportError& error) {
      if (error.kind() == TransportError::Kind::kCanceled) canceled.emplace_back(verb);
    };
    const Pod pod{.metadata = {.name = "x", .namespace_ = "shop"}};
    const std::string patch = "{}";
    // clang-format off
    try { (void)co_await from.get_async("x", token); } catch (const TransportError& e) { note("get", e); }
    try { (void)co_await from.find_async("x", token); } catch (const TransportError& e) { note("find", e); }
    try { (void)co_await from.list_async(token); } catch (const TransportError& e) { note("list", e); }
    try { (void)co_await from.list_all_async(token); } catch (const TransportError& e) { note("list all", e); }
    try { (void)co_await from.watch_async(token); } catch (const TransportError& e) { note("watch", e); }
    try { (void)co_await from.create_async(pod, token); } catch (const TransportError& e) { note("create", e); }
    try { (void)co_await from.update_async(pod, token); } catch (const TransportError& e) { note("update", e); }
    try { (void)co_await from.update_status_async(pod, token); } catch (const TransportError& e) { note("update status", e); }
    try { (void)co_await from.patch_async("x", PatchType::kMerge, patch, token); } catch (const TransportError& e) { note("patch", e); }
    try { co_await from.delete_async("x", token); } catch (const TransportError& e) { note("delete", e); }
    try { (void)co_await from.get_status_async("x", token); } catch (const TransportError& e) { note("get status", e); }
    try { (void)co_await from.logs_async("x", token); } catch (const TransportError& e) { note("logs", e); }
    // clang-format on
    co_return true;
  };
  std::stop_source stop;
  const auto ran = start(task(pods, stop.get_token(), ended_verbs));
  ASSERT_EQ(transport->size(), 1U) << "the first of them is under way";
  stop.request_stop();
  run_ready();

  EXPECT_EQ(ran->value, true) << ran->error;
  EXPECT_THAT(ended_verbs,
              ElementsAre("get", "find", "list", "list all", "watch", "create", "update",
                          "update status", "patch", "delete", "get status", "logs"));
  EXPECT_EQ(transport->size(), 1U);
}

// AV-3: a stop of the wait for an event ends the watch.
TEST_F(AsyncVerbsTest, WatchEndsAfterAStop) {
  std::stop_source stop;
  const auto watched = start([](Resource<Pod> from, std::stop_token token) -> Task<bool> {
    auto watch = co_await from.watch_async();
    EXPECT_FALSE(co_await watch.next(token));
    EXPECT_FALSE(co_await watch.next());
    co_return watch.has_ended();
  }(pods, stop.get_token()));
  transport->last().answer(200);
  run_ready();
  stop.request_stop();
  run_ready();
  EXPECT_EQ(watched->value, true) << watched->error;
  EXPECT_TRUE(transport->last().canceled);
}

// AV-3
TEST_F(AsyncVerbsTest, RetryWatchGoesOnWhereItEnded) {
  std::vector<std::string> seen;
  const auto watched =
      start([](Resource<Pod> from, std::vector<std::string>& names) -> Task<std::string> {
        auto watch = from.retry_watch_async({.resource_version = "5"});
        while (auto event = co_await watch.next()) {
          names.push_back(event->type == EventType::kError ? std::to_string(event->status->code)
                                                           : event->object->metadata.name.str());
        }
        co_return watch.last_version();
      }(pods, seen));
  transport->last().answer(200);
  transport->last().send(R"({"type":"ADDED","object":)" + pod_json("a", "6") + "}\n");
  transport->last().end();
  run_ready();
  EXPECT_EQ(transport->size(), 1U) << "the next attempt comes a second later";
  scripted.clock.advance(1s);
  run_ready();
  ASSERT_EQ(transport->size(), 2U);
  EXPECT_THAT(transport->last().request.target, HasSubstr("resourceVersion=6"));
  answer(transport->last(), 500, status_json(500, "InternalError"));
  scripted.clock.advance(1s);
  run_ready();
  ASSERT_EQ(transport->size(), 3U);
  transport->last().answer(200);
  transport->last().send(R"({"type":"ADDED","object":)" + pod_json("b", "7") + "}\n");
  transport->last().send(R"({"type":"ERROR","object":)" + status_json(410, "Expired") + "}\n");
  run_ready();
  EXPECT_THAT(seen, ElementsAre("a", "b", "410"));
  EXPECT_EQ(watched->value, "7") << watched->error;
}

// AV-3
TEST_F(AsyncVerbsTest, RetryWatchEndsAfterAStop) {
  std::stop_source stop;
  const auto watched = start(
      [](Resource<Pod> from) -> Task<bool> {
        auto watch = from.retry_watch_async({.resource_version = "5"});
        co_return (co_await watch.next()).has_value();
      }(pods),
      stop.get_token());
  ASSERT_EQ(transport->size(), 1U);
  stop.request_stop();
  run_ready();
  EXPECT_EQ(watched->value, false);
  EXPECT_TRUE(transport->last().canceled);
}

// AV-1
TEST_F(AsyncVerbsTest, ReadLogsByLines) {
  std::vector<std::string> lines;
  const auto read = start([](Resource<Pod> from, std::vector<std::string>& seen) -> Task<bool> {
    const LogOptions options{.follow = true};
    auto log = co_await from.logs_async("web-0", options);
    while (auto line = co_await log.next_line()) seen.push_back(*line);
    co_return true;
  }(pods, lines));
  transport->last().answer(200, {});
  transport->last().send("one\ntw");
  run_ready();
  EXPECT_THAT(lines, ElementsAre("one"));
  transport->last().send("o\n\nlast");
  transport->last().end();
  run_ready();
  EXPECT_THAT(lines, ElementsAre("one", "two", "", "last"));
  EXPECT_TRUE(read->value) << read->error;
}

// AV-4: concurrently on one thread.
TEST_F(AsyncVerbsTest, RunConcurrently) {
  std::vector<Task<Ref<Pod>>> tasks;
  for (int i = 0; i < 40; ++i) tasks.push_back(pods.get_async("web-" + std::to_string(i)));
  const auto all = start(when_all(std::move(tasks)));
  ASSERT_EQ(transport->size(), 40U);
  for (std::size_t i = 40; i-- > 0;) {
    answer(transport->exchange(i), 200, pod_json("web-" + std::to_string(i)));
  }
  ASSERT_TRUE(all->value) << all->error;
  EXPECT_EQ((*all->value)[7]->metadata.name, "web-7");
}

}  // namespace
}  // namespace kube::test
