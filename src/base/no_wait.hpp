// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kube::detail {

/// RAII mark: while it exists, the code that the calling thread runs must not wait (or may). The
/// library sets it around calls where a wait would block everything else: inline handlers,
/// transforms, index functions, hooks, tasks posted to a Loop.
class NoWaitCode {
 public:
  explicit NoWaitCode(bool must_not_wait) noexcept;
  NoWaitCode(const NoWaitCode&) = delete;
  NoWaitCode& operator=(const NoWaitCode&) = delete;
  ~NoWaitCode();

  /// True if the calling thread runs code that must not wait.
  [[nodiscard]] static bool is_here() noexcept;

 private:
  const bool outer_;
};

/// Guard for blocking calls. Throws std::logic_error in code that must not wait; `call` is the name
/// of the call, `instead` the advice in the message ("use get_async()").
void require_may_wait(std::string_view call, std::string_view instead);

}  // namespace kube::detail
