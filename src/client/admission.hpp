// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>

#include <cstddef>

namespace kube::detail {

/// ByteAccount::admit() in the form that is polled.
///
/// Thread safety: that of its account.
class Admission {
 public:
  /// `account` must outlive it.
  explicit Admission(ByteAccount& account) noexcept : account_(account) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  /// False while the stream has to wait for others to give bytes back. Throws as admit().
  [[nodiscard]] bool poll(std::size_t incomplete, const Poller& poller);
  /// When it gives up; TimePoint::max() if it does not wait.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return until_; }

 private:
  ByteAccount& account_;
  Clock::TimePoint until_ = Clock::TimePoint::max();
};

}  // namespace kube::detail
