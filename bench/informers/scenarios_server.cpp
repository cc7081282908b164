// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include "usage.hpp"

#include <kube/informers/resource_informer_factory.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace kube::bench {

void latency(const Server& server, bool small) {
  const Client client = server.client();
  // Unique to this process: a value left by another process would not be a change, and cause no
  // event.
  const auto message = [](std::size_t n) { return fmt::format("{} of {}", n, ::getpid()); };
  std::atomic<std::size_t> expected = 0;
  std::atomic<double> told = 0;
  const Rig rig{client, true, {}, {.on_update = [&](const Pod&, const Pod& pod) {
                  if (pod.status.message.view() == message(expected)) {
                    told = now();
                    told.notify_all();
                  }
                }}};
  rig.wait_until_synced();
  std::vector<Ref<Pod>> pods = rig.pods().list();
  std::erase_if(pods, [&](const Ref<Pod>& pod) {
    return (pod->metadata.namespace_.view() == "small") != small;
  });
  std::vector<double> until_answer;
  std::vector<double> until_told;
  for (std::size_t n = 1; n <= 2200; ++n) {
    const Pod& pod = *pods[n * 7 % pods.size()];
    expected = n;
    told = 0;
    const auto resource = client.resource<Pod>(pod.metadata.namespace_.view());
    const std::string body = fmt::format(R"({{"status":{{"message":"{}"}}}})", message(n));
    const double start = now();
    (void)resource.patch(pod.metadata.name.view(), PatchType::kMerge, body, {}, "status");
    const double answered = now();
    told.wait(0);
    if (n <= 200) continue;  // warm-up
    until_answer.push_back((answered - start) * 1e6);
    until_told.push_back((told - start) * 1e6);
  }
  report("median", quantile(until_told, 0.5));
  report("p99", quantile(until_told, 0.99));
  report("answer_median", quantile(until_answer, 0.5));
  report("answer_p99", quantile(until_answer, 0.99));
}

void idle(const Server& server, int informers) {
  const Client client = server.client();
  (void)client.raw().get("/version");
  const double before = resident();
  std::atomic<int> calls = 0;
  std::vector<std::unique_ptr<DynamicInformerFactory>> factories;
  for (int i = 0; i < informers; ++i) {
    factories.push_back(std::make_unique<DynamicInformerFactory>(
        client, FactoryOptions{.namespace_ = fmt::format("empty-{}", i)}));
    factories.back()
        ->for_resource({"", "v1", "pods"})
        .informer()
        .add_event_handler({.on_add = [&](const Value&) { ++calls; }});
    factories.back()->start();
  }
  for (const auto& factory : factories) factory->wait_for_cache_sync().or_throw();
  rest(3);
  report("client", before);
  report("settled", resident());
  report("threads", static_cast<double>(threads()));
  const long slept = sleeps();
  const double cpu = process_cpu();
  rest(10);
  const double used = process_cpu() - cpu;
  report("sleeps", static_cast<double>(sleeps() - slept - 1));  // one belongs to this thread
  report("cpu", used * 1e6);
}

}  // namespace kube::bench
