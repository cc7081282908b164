// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/base/byte_budget.hpp>
#include <kube/base/metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace kube {
namespace {

using core::v1::Pod;
using test::FakeAnswer;
using test::Scripted;
using testing::HasSubstr;

/// Returns an encoded pod of at least `size` bytes.
std::string large_pod(const std::string& name, std::size_t size) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"shop","resourceVersion":"7","annotations":{"a":")" +
         std::string(size, 'x') + R"("}}})";
}
std::string added(const std::string& pod) { return R"({"type":"ADDED","object":)" + pod + "}\n"; }
FakeAnswer in_pieces(const std::string& body, std::size_t size) {
  FakeAnswer answer;
  for (std::size_t at = 0; at < body.size(); at += size)
    answer.chunks.push_back(body.substr(at, size));
  return answer;
}

struct BudgetTest : testing::Test {
  BudgetTest() {
    scripted.options.max_buffered_bytes = 4096;
    scripted.options.metrics = metrics;
  }
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  Scripted scripted;
};

// RC-72
TEST_F(BudgetTest, AWatchWhoseEventDoesNotFitEndsWithAnErrorThatNamesTheLimit) {
  scripted.transport->answer(in_pieces(added(large_pod("big", 10'000)), 500));
  const Client client = scripted.client();
  Watch<Pod> watch = client.resource<Pod>("shop").watch();

  const auto event = watch.next();
  ASSERT_TRUE(event);
  ASSERT_EQ(event->type, EventType::kError);
  EXPECT_EQ(event->status->code, 500);
  EXPECT_THAT(event->status->message.str(),
              HasSubstr("GET https://server/api/v1/namespaces/shop/pods"));
  EXPECT_THAT(event->status->message.str(), HasSubstr("budget of 4096 bytes"));
  EXPECT_THAT(event->status->message.str(), HasSubstr("ClientOptions::max_buffered_bytes"));
  EXPECT_FALSE(watch.next());
  EXPECT_THAT(metrics->text(), HasSubstr("rest_client_buffer_refusals_total{host=\"server\"} 1\n"));
}

// RC-72
TEST_F(BudgetTest, AListOrAnObjectThatDoesNotFitFails) {
  const std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" +
                           large_pod("big", 10'000) + "]}";
  scripted.transport->answer(in_pieces(list, 500));
  scripted.transport->answer(in_pieces(large_pod("big", 10'000), 500));
  const auto pods = scripted.client().resource<Pod>("shop");

  EXPECT_THROW(static_cast<void>(pods.list()), BudgetError);
  EXPECT_THROW(static_cast<void>(pods.get("big")), BudgetError);
}

// RC-72: items that cannot be decoded before the list states their kind.
TEST_F(BudgetTest, CountsItemsThatWaitForTheEndOfTheirList) {
  std::string list = R"({"items":[)";
  for (int i = 0; i < 100; ++i) {
    list += (i == 0 ? "" : ",") + (R"({"metadata":{"name":"n)" + std::to_string(i) + R"("}})") +
            std::string(100, ' ');
  }
  list += R"(],"kind":"FooList","apiVersion":"example.com/v1"})";
  scripted.transport->answer(in_pieces(list, 500));
  const Client client = scripted.client();

  EXPECT_NO_THROW(static_cast<void>(client.dynamic({"example.com", "v1", "foos"}).list()));
  scripted.options.max_buffered_bytes = 1024;
  scripted.transport->answer(in_pieces(list, 500));
  const Client small = scripted.client();
  EXPECT_THROW(static_cast<void>(small.dynamic({"example.com", "v1", "foos"}).list()), BudgetError);
}

// RC-72: together the watches need far more than the budget, and each of them makes progress.
TEST_F(BudgetTest, ManyWatchesGoOnOverTheBudget) {
  constexpr int kWatches = 50;
  constexpr int kEvents = 5;
  const Client client = scripted.client();
  std::deque<Watch<Pod>> watches;
  for (int i = 0; i < kWatches; ++i) {
    std::string body;
    for (int event = 0; event < kEvents; ++event) {
      body += added(large_pod("pod-" + std::to_string(event), 1000));
    }
    scripted.transport->answer(in_pieces(body, body.size() / 2));
    watches.push_back(client.resource<Pod>("shop").watch());
  }

  std::size_t most = 0;
  for (int event = 0; event < kEvents; ++event) {
    for (Watch<Pod>& watch : watches) {
      const auto next = watch.next();
      ASSERT_TRUE(next);
      ASSERT_EQ(next->type, EventType::kAdded) << next->status->message.str();
      EXPECT_EQ(next->object->metadata.name, "pod-" + std::to_string(event));
    }
    const std::string text = metrics->text();
    const std::string name = "rest_client_buffered_bytes{host=\"server\"} ";
    most = std::max<std::size_t>(most, std::stoul(text.substr(text.find(name) + name.size())));
  }
  // Each holds one event at most; without a budget, each would hold half of its body.
  EXPECT_LE(most, kWatches * std::size_t{1300});
  for (Watch<Pod>& watch : watches) EXPECT_FALSE(watch.next());
}

// RC-72
TEST_F(BudgetTest, ReleasesEverythingAndReportsItsLimit) {
  scripted.transport->answer(in_pieces(added(large_pod("one", 1000)), 300));
  {
    const Client client = scripted.client();
    Watch<Pod> watch = client.resource<Pod>("shop").watch();
    ASSERT_TRUE(watch.next());
    EXPECT_THAT(metrics->text(),
                HasSubstr("rest_client_buffered_bytes_limit{host=\"server\"} 4096\n"));
    EXPECT_THAT(metrics->text(),
                testing::Not(HasSubstr("rest_client_buffered_bytes{host=\"server\"} 0\n")));
  }
  EXPECT_THAT(metrics->text(), HasSubstr("rest_client_buffered_bytes{host=\"server\"} 0\n"));
  EXPECT_THAT(metrics->text(), HasSubstr("rest_client_buffered_bytes_limit{host=\"server\"} 0\n"));
}

/// A stream of events whose second read throws std::bad_alloc.
class ForgetfulStream final : public ResponseStream {
 public:
  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return head_; }
  [[nodiscard]] std::string_view read(std::stop_token) override {
    if (++reads_ == 2) throw std::bad_alloc{};
    return text_;
  }
  void cancel() noexcept override {}

 private:
  const HttpResponseHead head_{200, {{"Content-Type", "application/json"}}};
  const std::string text_ = added(test::pod_json("web", "8"));
  int reads_ = 0;
};
class ForgetfulTransport final : public Transport {
 public:
  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest, std::stop_token) override {
    return std::make_unique<ForgetfulStream>();
  }
};

// After an event that may be lost, no later one is delivered: the next watch starts at the last
// version seen.
TEST_F(BudgetTest, AWatchEndsWhenMemoryRunsOut) {
  scripted.options.transport = std::make_shared<ForgetfulTransport>();
  Watch<Pod> watch = scripted.client().resource<Pod>("shop").watch();

  EXPECT_TRUE(watch.next());
  EXPECT_THROW(static_cast<void>(watch.next()), std::bad_alloc);
  EXPECT_FALSE(watch.next());
}

}  // namespace
}  // namespace kube
