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

/// Settings of a LeaseCandidatePublisher.
struct LeaseCandidateOptions {
  std::string namespace_{};         ///< namespace of the LeaseCandidate and the Lease
  std::string name{};               ///< name of the candidate: its identity
  std::string lease_name{};         ///< the Lease it is a candidate for
  std::string binary_version{};     ///< "1.36.4"
  std::string emulation_version{};  ///< "1.36.0"
  /// How the server chooses among the candidates.
  std::string strategy = "OldestEmulationVersion";
  /// Must outlive the publisher.
  Clock* clock = &system_clock();
  /// The source of jitter.
  Random random = system_random();
  /// Receives failed requests.
  Logger log = stderr_logger();
};

/// Publishes a candidate of a coordinated election, in which the server chooses the leader (see
/// LeaderElectionOptions::coordinated). Creates a LeaseCandidate and renews it every five minutes,
/// and immediately when the server asks whether the candidate is still alive.
///
/// Thread safety: run() from one thread, observe() from any.
class LeaseCandidatePublisher {
 public:
  /// Sends nothing before run().
  LeaseCandidatePublisher(const Client& client, LeaseCandidateOptions options);

  /// Runs until a stop is requested. Failures are logged and retried with back-off, starting at one
  /// second.
  void run(std::stop_token stop);
  /// To be called with each LeaseCandidate that a watch or an informer reports. Other candidates
  /// are ignored.
  void observe(const coordination::v1beta1::LeaseCandidate& candidate);

  /// Time between two renewals.
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
