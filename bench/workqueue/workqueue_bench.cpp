// SPDX-License-Identifier: Apache-2.0
// The cost of one item on its way through a queue, and of many waiting items.
#include <kube/api/object_key.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace kube {
namespace {

template <typename T>
T make_key(int number) {
  const std::string name = fmt::format("web-7c5ddbdf54-{:05}", number);
  if constexpr (std::is_same_v<T, ObjectKey>) {
    return {"default", name};
  } else {
    return "default/" + name;
  }
}

/// A second thread in the process, as in any program that has a queue: locks are cheaper without
/// one.
class Company {
 public:
  Company()
      : thread_([](std::stop_token stop) {
          system_clock().sleep_until(Clock::TimePoint::max(), stop);
        }) {}

 private:
  std::jthread thread_;
};

template <typename Queue, typename T>
void one_item(benchmark::State& state) {
  const Company company;
  Queue queue;
  const T key = make_key<T>(1);
  for (auto _ : state) {
    queue.add(key);
    queue.done(*queue.get());
  }
}
BENCHMARK(one_item<WorkQueue<std::string>, std::string>);
BENCHMARK(one_item<WorkQueue<ObjectKey>, ObjectKey>);
BENCHMARK(one_item<PriorityQueue<std::string>, std::string>);

void one_item_with_metrics(benchmark::State& state) {
  const Company company;
  WorkQueue<std::string> queue{{.name = "bench", .metrics = std::make_shared<Metrics>()}};
  const auto key = make_key<std::string>(1);
  for (auto _ : state) {
    queue.add(key);
    queue.done(*queue.get());
  }
}
BENCHMARK(one_item_with_metrics);

/// Adds all keys, then takes all: the table does not fit into the processor's cache.
void many_items(benchmark::State& state) {
  std::vector<std::string> keys;
  for (int i = 0; i < state.range(0); ++i) keys.push_back(make_key<std::string>(i));
  const Company company;
  WorkQueue<std::string> queue;
  for (auto _ : state) {
    for (const std::string& key : keys) queue.add(key);
    for (std::size_t i = 0; i < keys.size(); ++i) queue.done(*queue.get());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(many_items)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Per item: into the heap, ready, out.
template <typename Queue>
void delayed_items(benchmark::State& state) {
  std::vector<std::string> keys;
  for (int i = 0; i < state.range(0); ++i) keys.push_back(make_key<std::string>(i));
  for (auto _ : state) {
    Queue queue;
    const auto delay = [&](std::size_t i) {
      return std::chrono::nanoseconds{1 + i * 7919 % keys.size()};
    };
    for (std::size_t i = 0; i < keys.size(); ++i)
      queue.add_after(keys[i], std::chrono::hours{1} + delay(i));
    for (std::size_t i = 0; i < keys.size(); ++i) queue.add_after(keys[i], delay(i));
    for (std::size_t i = 0; i < keys.size(); ++i) queue.done(*queue.get());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(delayed_items<RateLimitingQueue<std::string>>)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(delayed_items<PriorityQueue<std::string>>)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// Every thread adds, takes and finishes a new item each time: the lock is the bottleneck.
void contended(benchmark::State& state) {
  static WorkQueue<std::uint64_t> queue;
  static std::atomic<std::uint64_t> next = 0;
  for (auto _ : state) {
    queue.add(next++);
    queue.done(*queue.get());
  }
}
BENCHMARK(contended)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

}  // namespace
}  // namespace kube
