// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/lease_candidate.hpp>

#include <exception>
#include <utility>

namespace kube {

LeaseCandidatePublisher::LeaseCandidatePublisher(const Client& client,
                                                 LeaseCandidateOptions options)
    : candidates_(client.resource<coordination::v1beta1::LeaseCandidate>(options.namespace_)),
      options_(std::move(options)),
      log_(options_.log.named("lease candidate")),
      clock_(*options_.clock) {}

void LeaseCandidatePublisher::run(std::stop_token stop) {
  Backoff retry{{.initial = std::chrono::seconds{1},
                 .factor = 2,
                 .jitter = 0.1,
                 .cap = std::chrono::seconds{30},
                 .random = options_.random}};
  while (!stop.stop_requested()) {
    Clock::Duration wait = kRenewPeriod;
    try {
      publish(stop);
      retry.reset();
    } catch (const std::exception& error) {
      if (stop.stop_requested()) break;  // the call was canceled
      log_.warning("{}: {}", options_.name, error.what());
      wait = retry.next(clock_.now());
    } catch (...) {
      log_.warning("{}: an exception that is not a std::exception was thrown", options_.name);
      wait = retry.next(clock_.now());
    }
    std::unique_lock lock{mutex_};
    clock_.wait_until(lock, pinged_condition_, clock_.now() + wait, stop,
                      [this] { return pinged_; });
    pinged_ = false;
  }
}

void LeaseCandidatePublisher::observe(const coordination::v1beta1::LeaseCandidate& candidate) {
  if (candidate.metadata.name != options_.name ||
      candidate.metadata.namespace_ != options_.namespace_ ||
      candidate.spec.ping_time <= candidate.spec.renew_time) {
    return;
  }
  const std::lock_guard guard{mutex_};
  pinged_ = true;
  pinged_condition_.notify_all();
}

void LeaseCandidatePublisher::publish(std::stop_token stop) {
  const auto found = candidates_.find(options_.name, {}, stop);
  coordination::v1beta1::LeaseCandidate candidate;
  if (found) candidate = *found;
  candidate.metadata.name = options_.name;
  candidate.metadata.namespace_ = options_.namespace_;
  candidate.spec.lease_name = options_.lease_name;
  candidate.spec.binary_version = options_.binary_version;
  candidate.spec.emulation_version = options_.emulation_version;
  candidate.spec.strategy = options_.strategy;
  candidate.spec.renew_time = clock_.wall_now();
  if (found) {
    (void)candidates_.update(candidate, {}, std::move(stop));
  } else {
    (void)candidates_.create(candidate, {}, std::move(stop));
  }
}

}  // namespace kube
