// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/resource_lock.hpp>

#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kube {

std::shared_ptr<detail::AsyncLock> ResourceLock::async_form() const { return nullptr; }

void check_lock_type(std::string_view type) {
  constexpr std::string_view kGone[] = {"endpoints", "configmaps", "endpointsleases",
                                        "configmapsleases"};
  if (type == "leases") return;
  if (std::ranges::find(kGone, type) != std::end(kGone)) {
    throw std::invalid_argument{
        fmt::format("locks of type {} are no longer supported; use leases", type)};
  }
  throw std::invalid_argument{
      fmt::format("{} is no type of lock; use leases", detail::quoted(type))};
}

LeaderElectionRecord to_record(const coordination::v1::LeaseSpec& spec) {
  return {.holder_identity = std::string{spec.holder_identity.value_or("")},
          .lease_duration_seconds = spec.lease_duration_seconds.value_or(0),
          .acquire_time = spec.acquire_time,
          .renew_time = spec.renew_time,
          .leader_transitions = spec.lease_transitions.value_or(0),
          .strategy = std::string{spec.strategy.value_or("")},
          .preferred_holder = std::string{spec.preferred_holder.value_or("")}};
}

coordination::v1::LeaseSpec to_lease_spec(const LeaderElectionRecord& record) {
  coordination::v1::LeaseSpec spec{.holder_identity = record.holder_identity,
                                   .lease_duration_seconds = record.lease_duration_seconds,
                                   .acquire_time = record.acquire_time,
                                   .renew_time = record.renew_time,
                                   .lease_transitions = record.leader_transitions};
  if (!record.strategy.empty()) spec.strategy = record.strategy;
  if (!record.preferred_holder.empty()) spec.preferred_holder = record.preferred_holder;
  return spec;
}

}  // namespace kube
