// SPDX-License-Identifier: Apache-2.0
// Wherever memory runs out, an added item is returned, and an item that could not be added can be
// added again. Regression: an item was marked as ready but was in no heap, so a controller lost
// requests.
#include <kube/base/metrics.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/work_queue.hpp>

#include "support/failing_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::MemoryFault;

const std::vector<std::string> kItems{"the first of the items that are long enough",
                                      "the second of the items that are long enough",
                                      "the third of the items that are long enough"};

/// Repeats `call` until it does not run out of memory.
template <typename Call>
void insist(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
    }
  }
}

/// Adds items with `add(queue, item, at)` and takes them all; repeats this with each allocation
/// failing in turn.
template <typename Queue, typename Add>
void fail_each_allocation(Add add) {
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    testkit::FakeClock clock;
    Queue queue{{.name = "q", .metrics = std::make_shared<Metrics>(), .clock = &clock}};
    {
      const MemoryFault fault{number};
      for (std::size_t i = 0; i < kItems.size(); ++i) insist([&] { add(queue, kItems[i], i); });
      happened = fault.happened();
    }
    clock.advance(1min);
    ASSERT_EQ(queue.size(), kItems.size()) << "at allocation " << number;
    for (std::size_t i = 0; i < kItems.size(); ++i) {
      std::stop_source limit;
      const std::jthread timer{[&limit](std::stop_token enough) {
        if (system_clock().sleep_for(10s, std::move(enough))) limit.request_stop();
      }};
      const auto item = queue.get(limit.get_token());
      ASSERT_TRUE(item) << "at allocation " << number;
      queue.done(*item);
    }
    EXPECT_EQ(queue.size(), 0U) << "at allocation " << number;
  }
}

TEST(PriorityQueueMemory, LosesNoItemThatIsAdded) {
  fail_each_allocation<PriorityQueue<std::string>>(
      [](auto& queue, const std::string& item, std::size_t i) {
        queue.add(item, {.priority = static_cast<int>(i)});
      });
}

TEST(PriorityQueueMemory, LosesNoItemThatIsAddedLater) {
  fail_each_allocation<PriorityQueue<std::string>>(
      [](auto& queue, const std::string& item, std::size_t) { queue.add_after(item, 1s); });
}

TEST(WorkQueueMemory, LosesNoItemThatIsAdded) {
  fail_each_allocation<WorkQueue<std::string>>(
      [](auto& queue, const std::string& item, std::size_t) { queue.add(item); });
}

TEST(WorkQueueMemory, LosesNoItemThatIsAddedLater) {
  fail_each_allocation<WorkQueue<std::string>>(
      [](auto& queue, const std::string& item, std::size_t) { queue.add_after(item, 1s); });
}

}  // namespace
}  // namespace kube
