// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/config/config.hpp>
#include <kube/controller/identity.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace sample {

/// Options of the sample controller. Any field may be left out.
struct RunOptions {
  int workers = 2;
  /// Work only while holding a Lease, so that several replicas may run.
  bool leader_elect = false;
  std::string lease_namespace = "default";
  std::string identity = kube::make_identity();

  kube::Logger log{};
  std::shared_ptr<kube::Metrics> metrics{};
  kube::Clock* clock = &kube::system_clock();
};

/// Runs one form of the controller until a stop is requested. Throws kube::Error if it ends for
/// another reason, such as a lost Lease.
using RunController =
    std::function<void(const kube::Config& config, const RunOptions& options, std::stop_token)>;

/// Implements main() of both forms: flags, configuration, signals, exit code.
int run_program(int argc, char** argv, const RunController& run);

}  // namespace sample
