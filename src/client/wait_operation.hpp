// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "list_operation.hpp"
#include "watch_operation.hpp"

#include "engine/polling.hpp"
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/wait.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace kube::detail {

/// Waits for a state of one object. See <kube/client/wait.hpp> and engine/polling.hpp.
class WaitOperation {
 public:
  /// The timeout begins now.
  WaitOperation(ResourceCore resource, WaitRequest request, Poller poller);
  WaitOperation(const WaitOperation&) = delete;
  WaitOperation& operator=(const WaitOperation&) = delete;

  /// Throws like the functions of <kube/client/wait.hpp>.
  [[nodiscard]] Poll poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// Returns the object in the awaited state, once ready; null if it does not exist.
  [[nodiscard]] AnyRef take() noexcept { return std::move(object_); }
  [[nodiscard]] TransportError canceled() const;
  [[nodiscard]] WaitTimeoutError timed_out() const;
  [[nodiscard]] Clock::TimePoint deadline() const noexcept { return deadline_; }

 private:
  enum class State : std::uint8_t {
    kPause,     ///< waits before the next attempt
    kListing,   ///< reads the current state
    kOpening,   ///< opens a watch after `version_`
    kWatching,  ///< waits for an event
    kDone,      ///< the state was seen
  };

  /// Does one step. Returns false while it is pending.
  [[nodiscard]] bool advance();
  [[nodiscard]] bool list();
  [[nodiscard]] bool open();
  [[nodiscard]] bool watch();
  void handle(AnyWatchEvent event);
  /// Begins again after a pause: with a watch if `version_` is set, else with a list.
  void pause(std::string problem);
  [[nodiscard]] std::string object_text() const;

  const ResourceCore resource_;
  const WaitRequest request_;
  const Poller poller_;
  const Clock::TimePoint deadline_;
  ListOptions options_;
  State state_ = State::kPause;
  Clock::TimePoint not_before_{};
  Backoff backoff_;
  std::unique_ptr<ListOperation> list_;
  std::unique_ptr<WatchOperation> watch_;
  std::string version_;  // after which the watch begins; empty: list first
  AnyRef listed_;        // the object in an unfinished list
  AnyRef object_;        // last state; null if the object does not exist
  bool has_news_ = false;
  bool is_known_ = false;  // whether any state was seen
  std::string problem_;    // of the last attempt
};

}  // namespace kube::detail
