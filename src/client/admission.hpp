// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>

#include <cstddef>

namespace kube::detail {

/// Polled form of ByteAccount::admit().
///
/// Thread safety: that of its account.
class Admission {
 public:
  /// `account` must outlive it.
  explicit Admission(ByteAccount& account) noexcept : account_(account) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  /// Returns false while the stream has to wait until others release bytes. Throws like admit().
  [[nodiscard]] bool poll(std::size_t incomplete, const Poller& poller);
  /// When the wait times out; TimePoint::max() if it does not wait.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return until_; }

 private:
  ByteAccount& account_;
  Clock::TimePoint until_ = Clock::TimePoint::max();
};

}  // namespace kube::detail
