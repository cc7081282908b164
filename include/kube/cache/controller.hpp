// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta_queue.hpp>
#include <kube/cache/reflector.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace kube {

/// What a Controller does with deltas.
struct ControllerHooks {
  /// Processes what was taken from the queue. What it throws is counted and handed to `on_error`.
  DeltaQueue::Process process = nullptr;
  /// Does a part of long work between deltas; true if there is more. May be absent.
  std::function<bool()> go_on = nullptr;
  std::function<void(const std::exception& error)> on_error = nullptr;
  /// What the deltas go into, for metrics. May be absent.
  std::shared_ptr<const detail::IndexerCore> store = nullptr;
};

/// A reflector that fills a queue, and the loop that empties it.
///
/// Thread safety: any method from any thread.
class Controller {
 public:
  Controller(const detail::ObjectAccess& access, std::shared_ptr<detail::AnyListWatch> source,
             std::shared_ptr<DeltaQueue> queue, ControllerHooks hooks,
             ReflectorOptions options = {}, detail::ReflectorHooks reflector_hooks = {});

  /// Runs the loop here and the reflector in a thread of its own until a stop is requested, and returns when
  /// both have ended. What is queued then is dropped. Throws nothing. A second call returns at once.
  void run(std::stop_token stop);

  /// True once the first list was processed. Stays true.
  [[nodiscard]] bool has_synced() const { return queue_->has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return queue_->synced(); }
  /// Empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const { return reflector_.last_version(); }
  /// Why the source gives nothing; empty if it does.
  [[nodiscard]] std::string last_error() const { return reflector_.last_error(); }
  [[nodiscard]] std::size_t queued() const { return queue_->size(); }
  /// Counts an error of processing and hands it to `on_error`.
  void report(const std::exception& error) const;

 private:
  void measure() const;

  const std::shared_ptr<DeltaQueue> queue_;
  const ControllerHooks hooks_;
  const InformerMetrics metrics_;
  const Logger log_;
  detail::ReflectorCore reflector_;
  std::atomic<bool> started_ = false;
};

}  // namespace kube
