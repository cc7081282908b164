// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>

/// Operations inside the library are polled, as futures are in Rust: poll() goes on as far as it can without waiting.
/// Before it says "pending" it has arranged that the waker is woken when it can go on. Some operations also wait for a
/// time: wake_at() says for which, after each poll, and whoever polls sees to it. Destroying an operation cancels it.
///
/// An operation may be polled by different threads, one at a time. After it has thrown or is done it is only destroyed.
namespace kube::detail {

class Scheduler;

/// How far a poll came.
enum class Poll : std::uint8_t {
  kPending,  ///< it cannot go on; the waker will be woken, or wake_at() comes
  kMore,     ///< it did as much as it was allowed to: poll again, after others had their turn
  kReady,    ///< done
};

/// The caller of poll(), and how to wake it.
struct Poller {
  /// Weak, because the waker is mostly the job that owns the operation.
  std::weak_ptr<Waker> waker = {};
  /// Runs calls that may block: plugins, and what users wrote. Without it, poll() makes these calls itself.
  std::shared_ptr<Scheduler> scheduler = nullptr;
  /// Ends such calls if there is no scheduler; otherwise destroying the operation does.
  std::stop_token stop = {};
};

}  // namespace kube::detail
