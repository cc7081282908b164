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
  std::shared_ptr<kube::Metrics> metrics{};  ///< null disables metrics
  kube::Clock* clock = &kube::system_clock();
};

/// Ensures that each Foo has its Deployment.
///
/// Handlers enqueue the keys of Foos; workers compare the cached state with the spec of the Foo and
/// change what differs. The caller runs the informers.
/// Thread safety: run() once.
class Controller {
 public:
  Controller(kube::Client client, const kube::ResourceInformer<Deployment>& deployments,
             const kube::ResourceInformer<Foo>& foos, const ControllerOptions& options = {});
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();

  /// Runs until a stop is requested. Throws kube::Error if that happens before both caches are
  /// synced.
  void run(int workers, const std::stop_token& stop);

  /// Returns the number of queued Foos.
  [[nodiscard]] std::size_t queue_depth() { return queue_.size(); }

 private:
  void enqueue(const Foo& foo) { queue_.add(kube::key_of(foo)); }
  /// Enqueues the Foo that controls the Deployment, if there is one.
  void enqueue_owner(const Deployment& deployment);

  void work(const std::stop_token& stop);
  void process(const kube::ObjectKey& key, const std::stop_token& stop);
  /// Reconciles the Deployment of one Foo. If it throws, the key is retried later.
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
