// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>

/// Operations inside the library are polled, like futures in Rust. poll() makes progress without
/// waiting. Before it returns kPending, it has arranged that the waker is woken when it can
/// continue. Some operations also wait for a time: after each poll, the caller polls again at
/// wake_at(). Destroying an operation cancels it.
///
/// An operation may be polled by different threads, one at a time. After it has thrown or is done,
/// it may only be destroyed.
namespace kube::detail {

class Scheduler;

/// The result of a poll.
enum class Poll : std::uint8_t {
  kPending,  ///< cannot continue until the waker is woken or wake_at() is reached
  kMore,     ///< has used up its budget: poll again, after other jobs have had their turn
  kReady,    ///< done
};

/// The caller of poll(), and how to wake it.
struct Poller {
  /// Weak, because the waker is mostly the job that owns the operation.
  std::weak_ptr<Waker> waker = {};
  /// Runs calls that may block: plugins and user code. Without a scheduler, poll() makes these
  /// calls itself.
  std::shared_ptr<Scheduler> scheduler = nullptr;
  /// Ends such calls if there is no scheduler; otherwise destroying the operation ends them.
  std::stop_token stop = {};
};

}  // namespace kube::detail
