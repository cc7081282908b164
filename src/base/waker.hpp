// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::detail {

/// Called when an operation that could not go on ("pending") can be tried again. A call too many does no harm: the
/// operation is tried and says again that it is pending.
///
/// Thread safety: from any thread, and with any lock held, so an implementation must neither block nor call back.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() noexcept = 0;
};

}  // namespace kube::detail
