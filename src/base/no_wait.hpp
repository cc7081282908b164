// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kube::detail {

/// Marks the code that the calling thread runs, as long as it lives, as code that must not wait, or as code that may. The
/// library calls such code where a wait would stop everything else: inline handlers, transforms, index functions, hooks,
/// tasks posted to a Loop.
class NoWaitCode {
 public:
  explicit NoWaitCode(bool must_not_wait) noexcept;
  NoWaitCode(const NoWaitCode&) = delete;
  NoWaitCode& operator=(const NoWaitCode&) = delete;
  ~NoWaitCode();

  /// Whether the calling thread runs code that must not wait.
  [[nodiscard]] static bool is_here() noexcept;

 private:
  const bool outer_;
};

/// For calls that wait. Throws std::logic_error if code made it that must not; `call` is its name, and `instead` says what
/// to do ("use get_async()").
void require_may_wait(std::string_view call, std::string_view instead);

}  // namespace kube::detail
