// SPDX-License-Identifier: Apache-2.0
#include "host_backoff.hpp"

#include <charconv>
#include <string>

namespace kube::detail {

namespace {

std::optional<std::chrono::seconds> seconds_in(const Environment& environment,
                                               const std::string& name) {
  const std::string text = environment.variable(name);
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds <= 0) return std::nullopt;
  return std::chrono::seconds{seconds};
}

}  // namespace

HostBackoff::HostBackoff(const Environment& environment) {
  const auto base = seconds_in(environment, "KUBE_CLIENT_BACKOFF_BASE");
  const auto longest = seconds_in(environment, "KUBE_CLIENT_BACKOFF_DURATION");
  if (!base || !longest) return;
  backoff_.emplace(
      BackoffOptions{.initial = *base, .factor = 2, .cap = *longest, .reset_after = 2 * *longest});
}

Clock::Duration HostBackoff::delay() const {
  const std::lock_guard guard{mutex_};
  return delay_;
}

void HostBackoff::answered(int code, Clock::TimePoint now) {
  const std::lock_guard guard{mutex_};
  if (!backoff_) return;
  if (code == 429 || code > 499) {
    delay_ = backoff_->next(now);
  } else {
    backoff_->reset();
    delay_ = {};
  }
}

}  // namespace kube::detail
