// SPDX-License-Identifier: Apache-2.0
#include "no_wait.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace kube::detail {

namespace {

bool& must_not_wait_here() noexcept {
  thread_local bool must_not_wait = false;
  return must_not_wait;
}

}  // namespace

NoWaitCode::NoWaitCode(bool must_not_wait) noexcept : outer_(must_not_wait_here()) {
  must_not_wait_here() = must_not_wait;
}
NoWaitCode::~NoWaitCode() { must_not_wait_here() = outer_; }
bool NoWaitCode::is_here() noexcept { return must_not_wait_here(); }

void require_may_wait(std::string_view call, std::string_view instead) {
  if (!must_not_wait_here()) return;
  throw std::logic_error(
      fmt::format("{} was called where nothing may wait: in an inline handler, a transform, an "
                  "index function, a hook, a "
                  "task of a Loop, or on the thread that runs a Loop without threads; {}",
                  call, instead));
}

}  // namespace kube::detail
