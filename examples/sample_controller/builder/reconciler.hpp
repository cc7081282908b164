// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/deployment.hpp"

#include <kube/controller/event_recorder.hpp>
#include <kube/controller/manager.hpp>
#include <kube/controller/reconcile.hpp>

#include <memory>
#include <stop_token>

namespace sample {

/// Reconciles the Deployment of one Foo, called by the manager.
/// Thread safety: any method from any thread.
class FooReconciler {
 public:
  /// The manager must outlive it.
  explicit FooReconciler(kube::Manager& manager);

  /// If it throws, the Foo is retried later, unless the exception is a kube::TerminalError.
  [[nodiscard]] kube::Result reconcile(const kube::Request& request,
                                       const std::stop_token& stop) const;

 private:
  kube::Manager& manager_;
  const std::shared_ptr<kube::EventRecorder> recorder_;
};

}  // namespace sample
