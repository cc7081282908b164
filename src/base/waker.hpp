// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::detail {

/// Called when a pending operation can be polled again. Spurious wake-ups are harmless: the
/// operation is polled and is still pending.
///
/// Thread safety: called from any thread and possibly with locks held, so an implementation must
/// neither block nor call back.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() noexcept = 0;
};

}  // namespace kube::detail
