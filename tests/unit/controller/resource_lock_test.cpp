// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/resource_lock.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

// LE-1
TEST(ResourceLock, KeepsARecordInALease) {
  const LeaderElectionRecord record{.holder_identity = "a",
                                    .lease_duration_seconds = 15,
                                    .acquire_time = MicroTime::parse("2026-01-01T00:00:00.000001Z"),
                                    .renew_time = MicroTime::parse("2026-01-01T00:00:10.5Z"),
                                    .leader_transitions = 3,
                                    .strategy = "OldestEmulationVersion",
                                    .preferred_holder = "b"};
  const coordination::v1::LeaseSpec spec = to_lease_spec(record);

  EXPECT_EQ(spec.holder_identity, "a");
  EXPECT_EQ(spec.lease_duration_seconds, 15);
  EXPECT_EQ(spec.acquire_time.str(), "2026-01-01T00:00:00.000001Z");
  EXPECT_EQ(spec.lease_transitions, 3);
  EXPECT_EQ(spec.preferred_holder, "b");
  EXPECT_EQ(to_record(spec), record);
}

// LE-1, LE-8: a released Lease has an empty holder, which differs from a Lease without one.
TEST(ResourceLock, DistinguishesAnEmptyHolderFromAnAbsentOne) {
  EXPECT_EQ(to_record({}), LeaderElectionRecord{});
  const coordination::v1::LeaseSpec spec = to_lease_spec({});
  EXPECT_EQ(spec.holder_identity, "");
  EXPECT_TRUE(spec.holder_identity.has_value());
  EXPECT_FALSE(spec.strategy.has_value());
  EXPECT_FALSE(spec.preferred_holder.has_value());
}

// LE-1
TEST(ResourceLock, RefusesLocksOfOldTypes) {
  EXPECT_NO_THROW(check_lock_type("leases"));
  for (const char* type : {"endpoints", "configmaps", "endpointsleases", "configmapsleases", "x"}) {
    try {
      check_lock_type(type);
      FAIL() << type;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string{error.what()}.find("use leases"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace kube
