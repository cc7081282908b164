// SPDX-License-Identifier: Apache-2.0
// What one item costs on its way through a queue, and what many that wait cost.
#include <kube/api/object_key.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <string>
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

template <typename Queue, typename T>
void one_item(benchmark::State& state) {
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
  WorkQueue<std::string> queue{{.name = "bench", .metrics = std::make_shared<Metrics>()}};
  const auto key = make_key<std::string>(1);
  for (auto _ : state) {
    queue.add(key);
    queue.done(*queue.get());
  }
}
BENCHMARK(one_item_with_metrics);

/// All keys in, then all out: the table does not fit into the cache.
void many_items(benchmark::State& state) {
  std::vector<std::string> keys;
  for (int i = 0; i < state.range(0); ++i) keys.push_back(make_key<std::string>(i));
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

/// Every thread adds, takes and finishes: the lock is the bottleneck.
void contended(benchmark::State& state) {
  static WorkQueue<std::string> queue;
  const auto key = make_key<std::string>(state.thread_index());
  for (auto _ : state) {
    queue.add(key);
    if (const auto item = queue.get()) queue.done(*item);
  }
}
BENCHMARK(contended)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace kube
