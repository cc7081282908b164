// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>

#include <chrono>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube::detail {

inline constexpr int kEventTries = 12;
inline constexpr Clock::Duration kEventRetryPeriod = std::chrono::seconds{10};

/// Patches the event if there is a patch, and else, or if it is gone, creates it.
template <typename Sink, typename Event>
Event send_event(Sink& sink, Event event, const std::string& patch, std::stop_token stop) {
  if (!patch.empty()) {
    try {
      return sink.patch(event, patch, stop);
    } catch (const ApiError& error) {
      if (!is_not_found(error)) throw;
    }
  }
  event.metadata.resource_version = {};
  return sink.create(event, stop);
}

/// Calls `work`, a step of a thread that goes on whatever it throws.
template <typename Work>
void report_failure(const Logger& log, std::string_view what, const Work& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    log.error("{}: {}", what, error.what());
  } catch (...) {
    log.error("{}: something that is no std::exception was thrown", what);
  }
}

/// Calls `attempt` until it does not throw, at most twelve times. What the server refuses is not tried again, unless
/// `try_again(ApiError)`; nor is what cannot be asked at all. `delay(tries)` says how long to wait.
template <typename Attempt, typename TryAgain, typename Delay>
void deliver_event(Attempt attempt, TryAgain try_again, Delay delay, Clock& clock,
                   const Logger& log, std::stop_token stop) {
  for (int tries = 1;; ++tries) {
    try {
      return attempt();
    } catch (const ApiError& error) {
      if (!try_again(error)) return log.error("the server refuses an event: {}", error.what());
    } catch (const Error& error) {
      log.warning("cannot send an event, try {} of {}: {}", tries, kEventTries, error.what());
    } catch (const std::exception& error) {
      return log.error("cannot send an event: {}", error.what());
    } catch (...) {
      return log.error("cannot send an event: the sink threw something that is no std::exception");
    }
    if (tries == kEventTries) return log.error("an event is lost after {} tries", tries);
    if (!clock.sleep_for(delay(tries), stop)) return;
  }
}

}  // namespace kube::detail
