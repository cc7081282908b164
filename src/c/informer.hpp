// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/c/kubecxx.h>
#include <kube/cache/lister.hpp>
#include <kube/informers/resource_informer_factory.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "callback.hpp"
#include "client.hpp"

namespace kube::c {

/// An informer with its handlers, shared by the handles of both.
///
/// Thread safety: all methods may be called from any thread.
class InformerState {
 public:
  /// Throws std::invalid_argument.
  InformerState(const kubecxx_client& client, const GroupVersionResource& resource,
                FactoryOptions options);

  /// Throws std::logic_error if it was called before.
  void start();
  /// Stops the informer. Does not wait.
  void stop() noexcept;
  /// Stops the informer, and returns after the last callback of all handlers. Must not be called
  /// inside a callback.
  void stop_and_wait() noexcept;
  /// Waits until the first list is in the cache.
  void wait_for_sync(std::int64_t timeout_ms, const kubecxx_cancel* cancel);

  [[nodiscard]] HandlerRegistration add_handler(const kubecxx_handler_options& options,
                                                const std::shared_ptr<CallbackGate>& gate);
  void remove_handler(const HandlerRegistration& registration,
                      const std::shared_ptr<CallbackGate>& gate) noexcept;

  [[nodiscard]] const SharedIndexInformer<Value>& informer() const noexcept { return informer_; }
  [[nodiscard]] const Lister<Value>& lister() const noexcept { return lister_; }
  [[nodiscard]] const std::shared_ptr<OwnLoop>& own_loop() const noexcept {
    return runtime_->own_loop;
  }

 private:
  void close_gates(bool wait) noexcept;

  const std::shared_ptr<RuntimeState> runtime_;
  std::optional<DynamicInformerFactory> factory_;  // reset when it has been stopped
  SharedIndexInformer<Value> informer_;
  const Lister<Value> lister_;
  std::atomic<bool> started_ = false;

  std::mutex mutex_;
  std::vector<std::shared_ptr<CallbackGate>> gates_;  // guarded by mutex_
};

}  // namespace kube::c

struct kubecxx_informer final : kube::c::Handle {
  explicit kubecxx_informer(std::shared_ptr<kube::c::InformerState> given)
      : state(std::move(given)) {}

  void close() noexcept override { state->stop(); }
  void finish() noexcept override {
    state->stop_and_wait();
    state.reset();
  }
  [[nodiscard]] std::shared_ptr<kube::c::OwnLoop> own_loop() const noexcept override {
    return state->own_loop();
  }

  std::shared_ptr<kube::c::InformerState> state;
};

struct kubecxx_handler final : kube::c::Handle {
  kubecxx_handler(std::shared_ptr<kube::c::InformerState> given,
                  std::shared_ptr<kube::c::CallbackGate> callbacks)
      : state(std::move(given)), gate(std::move(callbacks)) {}

  void close() noexcept override {
    gate->close();
    state->remove_handler(registration, gate);
  }
  void finish() noexcept override {
    close();
    gate->close_and_wait();
    state.reset();
  }
  [[nodiscard]] std::shared_ptr<kube::c::OwnLoop> own_loop() const noexcept override {
    return state->own_loop();
  }

  std::shared_ptr<kube::c::InformerState> state;
  std::shared_ptr<kube::c::CallbackGate> gate;
  kube::HandlerRegistration registration;
};
