// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer.hpp>

#include "support/failing_memory.hpp"
#include "support/fake_list_watch.hpp"
#include "support/items.hpp"
#include "support/recorder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::ExemptFromFaults;
using testing_support::FakeListWatch;
using testing_support::Item;
using testing_support::MemoryFaultAnywhere;
using testing_support::pieces_in_use;
using testing_support::Recorder;
using testing_support::show;
using testing_support::status;
using testing_support::thread_count;
using testing_support::threads_return_to;

/// A handler exempt from allocation failures: whatever it misses was not reported to it.
EventHandler<Item> exempt(Recorder& recorder) {
  auto handler = std::make_shared<EventHandler<Item>>(recorder.handler());
  return {.on_add =
              [handler](const Ref<Item>& now, bool initial) {
                const ExemptFromFaults exempt;
                handler->on_add(now, initial);
              },
          .on_update =
              [handler](const Ref<Item>& before, const Ref<Item>& now) {
                const ExemptFromFaults exempt;
                handler->on_update(before, now);
              },
          .on_delete =
              [handler](const Deleted<Item>& gone) {
                const ExemptFromFaults exempt;
                handler->on_delete(gone);
              }};
}

template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (!condition() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  return condition();
}

struct Setting {
  QueueKind queue;
  bool watch_list;
  BacklogPolicy backlog;
  std::uint64_t times;  ///< number of consecutive allocations that fail
};
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.queue == QueueKind::kInOrder ? "in-order" : "DeltaFifo")
       << (setting.watch_list ? ", streamed" : ", listed") << ", policy "
       << static_cast<int>(setting.backlog) << ", " << setting.times << " in a row";
}

class InformerWithoutMemory : public ::testing::TestWithParam<Setting> {
 protected:
  /// Runs an informer for a short time. Returns false if the allocation with this number was never
  /// made.
  static bool live(std::uint64_t number) {
    const std::size_t threads_before = thread_count();
    const auto server = std::make_shared<FakeListWatch>();
    server->set_watch_list(GetParam().watch_list);
    for (const char* name : {"a", "b", "c", "d"}) server->put("n", name, {{"app", name}});
    InformerOptions<Item> options;
    options.queue_kind = GetParam().queue;
    options.backoff.initial = 1ms;
    options.backoff.cap = 5ms;
    options.reconnect_floor = 1ms;
    options.compress = true;
    options.indexers = {{"letter", [](const Item& object) {
                           return std::vector<std::string>{object.metadata.name.str()};
                         }}};
    SharedIndexInformer<Item> informer{server, options};
    Recorder one;
    Recorder other;
    const HandlerRegistration registered = informer.add_event_handler(
        exempt(one), {.name = "one", .backlog = GetParam().backlog, .high_water = 2});
    informer.add_event_handler(exempt(other), {.name = "other"});
    const MemoryFaultAnywhere fault{number, GetParam().times};
    const ExemptFromFaults exempt_test;
    std::jthread run{[&](std::stop_token stop) {
      // If the start fails, the caller receives an exception, and calls again.
      for (bool again = true; again;) {
        try {
          informer.run(stop);
          again = false;
        } catch (const std::bad_alloc&) {
          EXPECT_FALSE(informer.is_stopped());
        }
      }
    }};
    const auto settles = [&] {
      const std::string truth = show(server->objects());
      EXPECT_TRUE(one.wait_until_believes(truth))
          << "allocation " << number << "\nserver  " << truth << "\nhandler " << one.believes()
          << "\ncache   " << show(informer.indexer().list()) << "\nreason  "
          << informer.last_error();
      EXPECT_TRUE(other.wait_until_believes(truth))
          << "allocation " << number << "\nserver  " << truth << "\nhandler " << other.believes();
      EXPECT_EQ(show(informer.indexer().list()), truth) << number;
    };
    settles();
    server->put("n", "b");
    settles();
    server->remove("n", "a");
    server->put("n", "e");
    server->put("n", "b");
    settles();
    server->remove("n", "c", true);  // watches do not report it
    server->forget_history();
    server->end_watches(status(410, "Expired"));
    server->put("n", "f");
    server->remove("n", "f");
    server->put("n", "last");
    settles();
    EXPECT_EQ(informer.indexer().by_index("letter", "last").size(), 1U) << number;
    EXPECT_TRUE(comes_true([&] { return informer.has_synced(); })) << number;
    EXPECT_TRUE(comes_true([&] { return registered.has_synced(); })) << number;
    EXPECT_EQ(one.contradiction(), "") << number;
    EXPECT_EQ(other.contradiction(), "") << number;
    run.request_stop();
    run.join();
    EXPECT_EQ(server->open_watches(), 0U);
    EXPECT_TRUE(threads_return_to(threads_before));
    return fault.happened();
  }
};

// C-13: the promise of an informer, while one or several allocations of its threads fail: in the
// end the cache equals the server, each handler has received everything once, and nothing is
// leaked.
TEST_P(InformerWithoutMemory, EndsWithTheStateOfTheServer) {
  const ExemptFromFaults exempt_test;
  ASSERT_FALSE(live(1'000'000));
  // Hazard pointers are never freed: the process keeps one per concurrently reading thread.
  const auto pieces = [] {
    return pieces_in_use() - static_cast<std::int64_t>(detail::HazardPointer::count());
  };
  const std::int64_t before = pieces();
  // Repeated failures are retried with growing pauses, so only some of the allocations are tested
  // then.
  const std::uint64_t step = GetParam().times == 1 ? 1 : 13;
  std::uint64_t number = 1;
  for (; !HasFailure() && live(number); number += step) {
    EXPECT_EQ(pieces(), before) << number;
  }
  EXPECT_GT(number, 100U);
}

INSTANTIATE_TEST_SUITE_P(
    All, InformerWithoutMemory,
    ::testing::Values(Setting{QueueKind::kInOrder, false, BacklogPolicy::kCoalesce, 1},
                      Setting{QueueKind::kInOrder, true, BacklogPolicy::kUnbounded, 1},
                      Setting{QueueKind::kInOrder, true, BacklogPolicy::kCoalesce, 3},
                      Setting{QueueKind::kDeltaFifo, false, BacklogPolicy::kBlock, 1},
                      Setting{QueueKind::kDeltaFifo, false, BacklogPolicy::kCoalesce, 4}));

}  // namespace
}  // namespace kube
