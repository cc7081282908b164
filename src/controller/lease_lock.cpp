// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/lease_lock.hpp>

#include "async_lease_lock.hpp"

#include "base/deadline.hpp"
#include "client/rest_client.hpp"
#include "engine/timed_stop.hpp"

#include <kube/controller/leader_elector.hpp>
#include <kube/engine/runtime.hpp>

#include <chrono>
#include <utility>

namespace kube {
namespace {

/// Calls `request(stop)` with a token that is stopped by the call's own token, or at the timeout.
template <typename Request>
auto within(const Client& client, const LockCall& call, Clock& clock, Request request) {
  const std::shared_ptr<Runtime> runtime = detail::Inside::core(client)->runtime();
  const detail::TimedStop deadline{detail::Inside::core(*runtime), clock,
                                   detail::time_after(clock, call.timeout), call.stop};
  return request(deadline.token());
}

}  // namespace

LeaseLock::LeaseLock(const Client& client, LeaseLockOptions options)
    : client_(client),
      leases_(client.resource<coordination::v1::Lease>(options.namespace_)),
      options_(std::move(options)) {}

std::shared_ptr<detail::AsyncLock> LeaseLock::async_form() const {
  return std::make_shared<detail::AsyncLeaseLock>(client_, options_);
}

std::optional<LeaderElectionRecord> LeaseLock::get(const LockCall& call) {
  const auto lease = within(client_, call, *options_.clock, [&](std::stop_token stop) {
    return leases_.find(options_.name, {}, std::move(stop));
  });
  if (!lease) return std::nullopt;
  seen_ = *lease;
  return to_record(seen_->spec);
}

void LeaseLock::create(const LeaderElectionRecord& record, const LockCall& call) {
  const coordination::v1::Lease lease = detail::new_lease(options_, record);
  seen_ = *within(client_, call, *options_.clock,
                  [&](std::stop_token stop) { return leases_.create(lease, {}, std::move(stop)); });
}

void LeaseLock::update(const LeaderElectionRecord& record, const LockCall& call) {
  const coordination::v1::Lease lease = detail::changed_lease(options_, seen_, record);
  seen_ = *within(client_, call, *options_.clock,
                  [&](std::stop_token stop) { return leases_.update(lease, {}, std::move(stop)); });
}

void LeaseLock::record_event(std::string_view message) noexcept {
  if (!options_.recorder) return;
  try {
    options_.recorder->record(detail::lease_reference(options_, seen_), "Normal", "LeaderElection",
                              message);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no event is worth an election
  }
}

Config election_config(Config config, Clock::Duration renew_deadline) {
  config.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      election_request_timeout(renew_deadline));
  return config;
}

}  // namespace kube
