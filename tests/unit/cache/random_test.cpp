// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/shared_informer.hpp>
#include <kube/transport/error.hpp>

#include "support/fake_list_watch.hpp"
#include "support/items.hpp"
#include "support/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::api_error;
using testing_support::FakeListWatch;
using testing_support::Item;
using testing_support::Recorder;
using testing_support::show;
using testing_support::status;
using testing_support::thread_count;
using testing_support::threads_return_to;

struct Setting {
  QueueKind queue;
  bool watch_list;
  bool compress;
  std::size_t max_items;
};
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.queue == QueueKind::kInOrder ? "in-order" : "DeltaFifo")
       << (setting.watch_list ? ", streamed" : ", listed")
       << (setting.compress ? ", compressed" : "") << ", at most " << setting.max_items;
}

class RandomHistory : public ::testing::TestWithParam<Setting> {};

// Consistency promise, F-2, D-7, C-9, R-15, R-21, R-27, R-40, W-10, S-13, S-19, K-1, K-2: whatever
// the server and the network do, in the end the cache equals the server, and each handler has
// received a consistent history that ends in the same state.
TEST_P(RandomHistory, EndsWithTheStateOfTheServer) {
  const std::size_t threads_before = thread_count();
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random{seed};
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    const auto server = std::make_shared<FakeListWatch>();
    server->set_watch_list(GetParam().watch_list);

    InformerOptions<Item> options;
    options.queue_kind = GetParam().queue;
    options.resync = 1s;
    options.max_queued = GetParam().max_items;
    options.compress = GetParam().compress;
    options.batch_size = 1 + random() % 20;
    options.log = Logger{};
    options.page_size = static_cast<std::int64_t>(random() % 2 * 7);
    options.backoff.initial = 100us;
    options.backoff.cap = 1ms;
    options.reconnect_floor = 100us;
    options.reconnect_cap = 1ms;
    options.indexers = {{"letter", [](const Item& object) {
                           return std::vector<std::string>{object.metadata.name.str().substr(0, 1)};
                         }}};
    SharedIndexInformer<Item> informer{server, options};

    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<HandlerRegistration> registrations;
    const auto add_handler = [&] {
      recorders.push_back(std::make_unique<Recorder>());
      const auto policy = static_cast<BacklogPolicy>(random() % 3);
      registrations.push_back(informer.add_event_handler(
          recorders.back()->handler(), {.backlog = policy, .high_water = 1 + random() % 30}));
    };
    add_handler();
    std::jthread run{[&](std::stop_token stop) { informer.run(std::move(stop)); }};

    for (int step = 0; step < 1'500; ++step) {
      const std::string space = fmt::format("n{}", random() % 3);
      const std::string name =
          fmt::format("{}{}", static_cast<char>('a' + random() % 4), random() % 10);
      const std::string app = std::to_string(random() % 3);
      const bool silently = chance(10);  // the watch misses it; a list must deliver it
      if (chance(70)) {
        server->put(space, name, {{"app", app}}, silently);
      } else {
        server->remove(space, name, silently);
      }
      if (silently) server->end_watches(status(410, "Expired"));
      if (chance(2)) server->end_watches();
      if (chance(1)) server->end_watches(status(500, "InternalError"));
      if (chance(1)) server->end_watches(status(429, "TooManyRequests"));
      if (chance(1)) server->forget_history();
      if (chance(3)) server->bookmark();
      if (chance(1)) server->break_watches([] { throw Error("undecodable"); });
      if (chance(1)) {
        server->break_watches([] {
          throw TransportError{TransportError::Kind::kConnectionLost, "reset"};
        });
      }
      if (chance(2)) {
        server->script_lists({api_error(410, "Expired"), nullptr, api_error(410, "Expired")});
      }
      if (chance(1)) server->script_lists({api_error(503, "ServiceUnavailable")});
      if (chance(2)) server->script_watches({api_error(410, "Gone")});
      if (chance(1)) server->script_watches({api_error(403, "Forbidden")});
      if (chance(1)) {
        server->script_watches({[] {
          throw TransportError{TransportError::Kind::kConnect, "refused"};
        }});
      }
      if (chance(1) && recorders.size() < 12) add_handler();
      if (chance(1)) {
        informer.remove_event_handler(registrations[random() % registrations.size()],
                                      static_cast<Removal>(random() % 3));
      }
      if (chance(20)) std::this_thread::yield();
    }
    add_handler();  // one that is never removed
    server->end_watches(status(410, "Expired"));
    server->put("n0", "last");
    const std::string truth = show(server->objects());

    ASSERT_TRUE(recorders.back()->wait_until_believes(truth))
        << "seed " << seed << "\nserver  " << truth << "\nhandler " << recorders.back()->believes()
        << "\ncache   " << show(informer.indexer().list());
    const Snapshot<Item> cache = informer.indexer().snapshot();
    EXPECT_EQ(show(cache.list()), truth) << seed;
    std::size_t by_letter = 0;
    for (const char* letter : {"a", "b", "c", "d", "l"}) {
      by_letter += cache.by_index("letter", letter).size();
    }
    EXPECT_EQ(by_letter, cache.size());
    std::size_t by_label = cache.list("", labels::Selector::parse("!app")).size();
    for (const char* app : {"app=0", "app=1", "app=2"}) {
      by_label += cache.list("", labels::Selector::parse(app)).size();
    }
    EXPECT_EQ(by_label, cache.size());
    run.request_stop();
    run.join();
    for (const auto& recorder : recorders) EXPECT_EQ(recorder->contradiction(), "") << seed;
    EXPECT_EQ(server->open_watches(), 0U);
    EXPECT_TRUE(threads_return_to(threads_before));
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomHistory,
                         ::testing::Values(Setting{QueueKind::kInOrder, false, false, 10'000},
                                           Setting{QueueKind::kInOrder, true, false, 4},
                                           Setting{QueueKind::kInOrder, true, true, 50},
                                           Setting{QueueKind::kDeltaFifo, false, false, 0},
                                           Setting{QueueKind::kDeltaFifo, true, false, 10}));

}  // namespace
}  // namespace kube
