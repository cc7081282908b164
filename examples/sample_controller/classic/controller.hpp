// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/deployment.hpp"

#include <kube/api/object_key.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/client/client.hpp>
#include <kube/controller/event_recorder.hpp>
#include <kube/informers/resource_informer.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <cstddef>
#include <memory>
#include <stop_token>

namespace sample {

struct ControllerOptions {
  kube::Logger log{};
  std::shared_ptr<kube::Metrics> metrics{};  ///< null: nothing is counted
  kube::Clock* clock = &kube::system_clock();
};

/// Sees to it that each Foo has its Deployment.
///
/// Handlers put the keys of Foos into a queue; workers take them out, compare what the caches show with what the
/// Foo wants, and change what differs. Who runs the informers is not its business. Thread safety: run() once.
class Controller {
 public:
  Controller(kube::Client client, const kube::ResourceInformer<Deployment>& deployments,
             const kube::ResourceInformer<Foo>& foos, const ControllerOptions& options = {});
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();

  /// Works until a stop is requested. Throws kube::Error if that happens before both caches are filled.
  void run(int workers, const std::stop_token& stop);

  /// How many Foos wait for a worker.
  [[nodiscard]] std::size_t queue_depth() { return queue_.size(); }

 private:
  void enqueue(const Foo& foo) { queue_.add(kube::key_of(foo)); }
  /// Enqueues the Foo that controls the Deployment, if one does.
  void enqueue_owner(const Deployment& deployment);

  void work(const std::stop_token& stop);
  void process(const kube::ObjectKey& key, const std::stop_token& stop);
  /// Brings the Deployment of one Foo in line. What it throws has it tried again later.
  void sync(const kube::ObjectKey& key, const std::stop_token& stop);
  void write_status(const Foo& foo, const Deployment& deployment, const std::stop_token& stop);

  const kube::Client client_;
  kube::SharedIndexInformer<Deployment> deployment_informer_;
  kube::SharedIndexInformer<Foo> foo_informer_;
  const kube::Lister<Deployment> deployments_;
  const kube::Lister<Foo> foos_;
  const kube::Logger log_;
  const kube::Counter successes_;
  const kube::Counter failures_;
  kube::RateLimitingQueue<kube::ObjectKey> queue_;
  kube::EventRecorder recorder_;
  kube::HandlerRegistration deployment_handler_;
  kube::HandlerRegistration foo_handler_;
};

}  // namespace sample
