// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include "recording.hpp"
#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>

namespace kube::bench {
namespace {

/// Time for the buffers of an idle watch to shrink.
constexpr double kSettle = 1.5;

double microseconds(double seconds, std::size_t count) {
  return seconds * 1e6 / static_cast<double>(count);
}

void read_watch(const Client& client, const char* initial, std::size_t count,
                std::string_view name) {
  const double start = process_cpu();
  const auto stream =
      client.raw().open({.path = "/api/v1/pods",
                         .query = {{"watch", "true"}, {"sendInitialEvents", initial}},
                         .headers = {{"Accept", "application/vnd.kubernetes.protobuf"}}});
  std::size_t bytes = 0;
  for (std::string_view some = stream->read(); !some.empty(); some = stream->read()) {
    bytes += some.size();
  }
  report(fmt::format("{}_cpu", name), microseconds(process_cpu() - start, count));
  report(fmt::format("{}_bytes", name), static_cast<double>(bytes) / static_cast<double>(count));
}

/// A gate that blocks a handler.
class Door {
 public:
  void open() {
    const std::lock_guard guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Returns the minimum CPU time in ns of `count` calls of `work(i)`.
template <typename Work>
double nanoseconds(std::size_t count, Work work) {
  double least = 1e9;
  for (int repetition = 0; repetition < 7; ++repetition) {
    const double start = thread_cpu();
    for (std::size_t i = 0; i < count; ++i) work(i);
    least = std::min(least, (thread_cpu() - start) * 1e9 / static_cast<double>(count));
  }
  return least;
}

}  // namespace

void report(std::string_view name, double value) {
  fmt::print("{} {}\n", name, value);
  std::fflush(stdout);
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

void transport(const Server& server, std::size_t pods) {
  read_watch(server.client("/once/0"), "true", pods, "initial");
  read_watch(server.client(fmt::format("/once/{}", pods)), "false", pods, "update");
}

void sync(const Server& server, std::size_t pods, bool watch_list) {
  const Client client = server.client(server.replays() ? "/plain" : "");
  const double begin = now();
  const double start = process_cpu();
  const Rig rig{client, watch_list};
  rig.wait_until_synced();
  report("wall", now() - begin);
  report("cpu", microseconds(process_cpu() - start, pods));
  const double most = peak();
  rest(kSettle);
  if (rig.pods().size() != pods) throw std::runtime_error("pods are missing");
  report("settled", resident());
  report("peak", most);
}

void storm(const Server& server, std::size_t pods, bool with_reader) {
  const std::size_t events = 6 * pods;
  const Client client = server.client(fmt::format("/storm/{}", events));
  const Rig rig{client, true};
  rig.wait_until_synced();
  rest(kSettle);
  const double settled = resident();
  forget_peak();
  std::atomic<double> reading = 0;
  std::atomic<std::size_t> lists = 0;
  std::jthread reader;
  if (with_reader) {
    reader = std::jthread{[&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++lists) {
        if (rig.pods().list().size() != pods) std::abort();
        reading = thread_cpu();
      }
    }};
  }
  const double start = process_cpu();
  (void)client.raw().get("/go");
  rig.wait_until_quiet();
  report("cpu", microseconds(process_cpu() - start - reading, events));
  report("calls", static_cast<double>(rig.counts().updated) / static_cast<double>(events));
  report("peak", peak() / settled);
  report("peak_mb", peak());
  report("lists", static_cast<double>(lists));
}

void relist(const Server& server, std::size_t pods, bool watch_list) {
  const Client client = server.client("/expire");
  const Rig rig{client, watch_list};
  rig.wait_until_synced();
  rest(kSettle);
  std::set<const Pod*> before;
  rig.pods().snapshot().for_each([&](const Pod& pod) { before.insert(&pod); });
  const auto kept = rig.pods().list();  // so that no address is reused
  const std::size_t calls = rig.counts().added + rig.counts().updated;
  const double settled = resident();
  forget_peak();
  const double start = process_cpu();
  (void)client.raw().get("/go");
  rig.wait_until_listed(2);
  rest(kSettle);
  report("cpu", microseconds(process_cpu() - start, pods));
  report("peak", peak() / settled);
  report("peak_mb", peak());
  report("settled", resident() / settled);
  report("calls",
         static_cast<double>(rig.counts().added + rig.counts().updated + rig.counts().deleted) -
             static_cast<double>(calls));
  std::size_t same = 0;
  rig.pods().snapshot().for_each([&](const Pod& pod) { same += before.count(&pod); });
  report("same", static_cast<double>(same) / static_cast<double>(pods));
}

void reads(const Server& server, std::size_t pods) {
  const Rig rig{server.client("/plain"), true};
  rig.wait_until_synced();
  const IndexerView<Pod>& cache = rig.pods();
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<std::string> whole;
  std::map<std::string, std::size_t> apps;
  cache.snapshot().for_each([&](const Pod& pod) {
    keys.emplace_back(pod.metadata.namespace_.str(), pod.metadata.name.str());
    ++apps[pod.metadata.labels.find("pod-template-hash")->str()];
  });
  std::shuffle(keys.begin(), keys.end(), std::minstd_rand{7});
  keys = std::vector(keys.begin(),
                     keys.end());  // contiguous, so that only the cache is measured, not these
  for (const auto& [space, name] : keys) whole.push_back(space + '/' + name);

  const auto check = [](bool good) {
    if (!good) throw std::runtime_error("not found");
  };
  const auto find = [&](std::size_t i) {
    const auto& [space, name] = keys[i % keys.size()];
    check(cache.find(space, name) != nullptr);
  };
  report("find", nanoseconds(keys.size(), find));
  report("find_hot", nanoseconds(keys.size(), [&](std::size_t i) { find(i % 1000); }));
  {
    // Reads other pods: only the cache is shared, not the reference count of a pod.
    std::jthread other{[&](const std::stop_token& stop) {
      for (std::size_t i = 0; !stop.stop_requested(); ++i) find(1000 + i % 1000);
    }};
    report("find_two", nanoseconds(keys.size(), [&](std::size_t i) { find(i % 1000); }));
  }
  report("find_few", nanoseconds(keys.size(), [&](std::size_t i) { find(i % 16); }));
  report("find_key",
         nanoseconds(whole.size(), [&](std::size_t i) { check(cache.find(whole[i]) != nullptr); }));
  const auto snapshot = cache.snapshot();
  report("snapshot_find", nanoseconds(keys.size(), [&](std::size_t i) {
           check(snapshot.find(keys[i].first, keys[i].second) != nullptr);
         }));
  // The lower bound of a look-up: one access to the pod. Each access depends on the previous one.
  std::vector<Ref<Pod>> objects;
  for (const auto& [space, name] : keys) objects.push_back(snapshot.find(space, name));
  std::size_t zero = 0;
  report("touch", nanoseconds(objects.size(), [&](std::size_t i) {
           const Pod& pod = *objects[(i + zero) % objects.size()];
           zero = static_cast<std::size_t>(pod.metadata.generation) >> 62U;
         }));
  check(zero == 0);
  std::vector<labels::Selector> selectors;
  std::size_t found = 0;
  for (const auto& [hash, count] : apps) {
    selectors.push_back(labels::Selector::parse("pod-template-hash=" + hash));
  }
  const double select = nanoseconds(
      selectors.size(), [&](std::size_t i) { found += cache.list("", selectors[i]).size(); });
  check(found == 7 * pods);
  report("select", select / 1e3);
  report("selected", static_cast<double>(pods) / static_cast<double>(selectors.size()));
  report("list", nanoseconds(20, [&](std::size_t) { check(cache.list().size() == pods); }) / 1e3);
}

void stall(const Server& server, std::size_t pods) {
  const std::size_t events = 10 * pods;
  const Client client = server.client(fmt::format("/storm/{}", events));
  Door door;
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> versions;  // guarded by mutex
  std::atomic<bool> stalls = false;
  std::atomic<std::size_t> calls = 0;
  const auto see = [&](const Pod& pod) {
    if (stalls) door.pass();
    ++calls;
    const std::lock_guard guard{mutex};
    versions[pod.metadata.namespace_.str() + '/' + pod.metadata.name.str()] =
        pod.metadata.resource_version.str();
  };
  const Rig rig{client,
                true,
                {.backlog = BacklogPolicy::kCoalesce, .high_water = 1024},
                {.on_add = see, .on_update = [&](const Pod&, const Pod& pod) { see(pod); }}};
  rig.wait_until_synced();
  rest(kSettle);
  const double settled = resident();
  calls = 0;
  stalls = true;
  (void)client.raw().get("/go");
  double first_round = 0;
  double most = 0;
  while (rig.pods().resource_version() != Recording::kLastVersion) {
    rest(0.05);
    const double used = resident();
    most = std::max(most, used);
    if (first_round == 0 && rig.registration().backlog() > pods * 99 / 100) first_round = used;
  }
  report("waiting", static_cast<double>(rig.registration().backlog()));
  report("first_round", first_round / settled);
  report("peak", most / first_round);
  door.open();
  rig.wait_until_quiet();
  std::size_t newest = 0;
  {
    const std::lock_guard guard{mutex};
    rig.pods().snapshot().for_each([&](const Pod& pod) {
      newest += versions[pod.metadata.namespace_.str() + '/' + pod.metadata.name.str()] ==
                pod.metadata.resource_version.view();
    });
  }
  report("calls", static_cast<double>(calls) / static_cast<double>(events));
  report("newest", static_cast<double>(newest) / static_cast<double>(pods));
  rest(kSettle);
  report("afterwards", resident() / settled);
}

void delivery(const Server& server, Delivery how) {
  constexpr std::size_t kEvents = 2200;
  constexpr std::size_t kWarmUp = 200;
  const Client client = server.client(fmt::format("/stamped/{}", kEvents));
  std::vector<double> until_told;  // written only by the handler; read after its last call
  until_told.reserve(kEvents);
  std::latch all{kEvents};
  const auto see = [&](const Pod&, const Pod& pod) {
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    const std::string stamp = pod.metadata.annotations.find(Recording::kStampAnnotation)->str();
    until_told.push_back(static_cast<double>(now.count() - std::stoll(stamp)) / 1e3);
    all.count_down();
  };
  const Rig rig{client, true, {.delivery = how}, {.on_update = see}};
  rig.wait_until_synced();
  rest(kSettle);
  const double start = process_cpu();
  (void)client.raw().get("/go");
  all.wait();
  report("cpu", microseconds(process_cpu() - start, kEvents));
  until_told.erase(until_told.begin(), until_told.begin() + kWarmUp);
  report("median", quantile(until_told, 0.5));
  report("p99", quantile(until_told, 0.99));
}

}  // namespace kube::bench
