// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/coordination/v1beta1.hpp>
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>
#include <kube/base/random.hpp>
#include <kube/client/client.hpp>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>

namespace kube {

struct LeaseCandidateOptions {
  std::string namespace_{};
  std::string name{};               ///< of the candidate: its identity
  std::string lease_name{};         ///< what it would like to hold
  std::string binary_version{};     ///< "1.36.4"
  std::string emulation_version{};  ///< "1.36.0"
  std::string strategy = "OldestEmulationVersion";
  Clock* clock = &system_clock();
  Random random = system_random();
  Logger log = stderr_logger();
};

/// Stands as a candidate in a coordinated election, in which the server chooses who leads (see
/// LeaderElectionOptions::coordinated). Publishes a LeaseCandidate and renews it every five minutes, and at once
/// when the server asks whether the candidate is still there.
///
/// Thread safety: run() from one thread, observe() from any.
class LeaseCandidatePublisher {
 public:
  LeaseCandidatePublisher(const Client& client, LeaseCandidateOptions options);

  /// Until a stop is requested. What fails is logged and tried again, a second later and then longer.
  void run(std::stop_token stop);
  /// To be called with what a watch or an informer of LeaseCandidates sees; others than ours are ignored.
  void observe(const coordination::v1beta1::LeaseCandidate& candidate);

  static constexpr Clock::Duration kRenewPeriod = std::chrono::minutes{5};

 private:
  void publish(std::stop_token stop);

  const Resource<coordination::v1beta1::LeaseCandidate> candidates_;
  const LeaseCandidateOptions options_;
  const Logger log_;
  Clock& clock_;
  std::mutex mutex_;
  Condition pinged_condition_;
  bool pinged_ = false;  // guarded by mutex_
};

}  // namespace kube
