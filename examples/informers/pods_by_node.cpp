// SPDX-License-Identifier: Apache-2.0
// The parts of a controller, assembled by hand as in client-go: an informer with an index, a
// handler that enqueues keys, and a worker that processes them and reads the cache. Prints the
// number of pods of each node, whenever it changes, until it is interrupted.
#include <kube/api/core/v1.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

using kube::core::v1::Pod;
using Informer = kube::SharedIndexInformer<Pod>;
using Queue = kube::RateLimitingQueue<std::string>;

Informer make_informer(const kube::Client& client) {
  return Informer{std::make_shared<kube::ResourceListWatch<Pod>>(client.resource<Pod>()),
                  {.indexers = {{"byNode", [](const Pod& pod) {
                                   return std::vector<std::string>{pod.spec.node_name.str()};
                                 }}}}};
}

/// Enqueues the names of nodes. The queue contains a name once, however many of its pods have
/// changed.
void fill_queue(Informer& informer, Queue& queue) {
  informer.add_event_handler({
      .on_add = [&](const Pod& pod) { queue.add(pod.spec.node_name.str()); },
      .on_update =
          [&](const Pod& before, const Pod& now) {
            queue.add(before.spec.node_name.str());
            queue.add(now.spec.node_name.str());
          },
      .on_delete =
          [&](const kube::Deleted<Pod>& gone) {
            if (gone.object) queue.add(gone.object->spec.node_name.str());
          },
  });
}

void show_node(const kube::IndexerView<Pod>& pods, const std::string& node) {
  fmt::print("{:<20} {} pods\n", node.empty() ? "(not scheduled)" : node,
             pods.by_index("byNode", node).size());
  std::fflush(stdout);
}

void work(const Informer& informer, Queue& queue) {
  while (const auto node = queue.get()) {
    try {
      show_node(informer.indexer(), *node);
      queue.forget(*node);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}; trying again later\n", *node, error.what());
      queue.add_rate_limited(*node);
    }
    queue.done(*node);
  }
}

void run() {
  const auto stop = kube::stop_on_signals();
  const kube::Client client{kube::load_config()};
  Informer informer = make_informer(client);
  Queue queue;
  fill_queue(informer, queue);

  std::jthread running{[&] { informer.run(stop); }};
  if (!informer.synced().wait(stop)) return;  // workers start with a complete cache
  std::jthread worker{[&] { work(informer, queue); }};
  running.join();  // returns after the signal
  queue.shut_down();
}

}  // namespace

int main() try {
  run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "pods_by_node: {}\n", error.what());
  return 1;
}
