// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fork.hpp"
#include <kube/base/log.hpp>
#include <kube/c/kubecxx.h>

#include <memory>

#include "callback.hpp"

struct kubecxx_log {
  std::shared_ptr<kube::c::CallbackGate> gate;
  kube::Logger logger;
  kube::detail::ProcessMark process;
};

namespace kube::c {

/// Returns the logger of the options; if `log` is null, one that writes warnings and errors to
/// standard error.
[[nodiscard]] inline Logger logger_of(const kubecxx_log* log) {
  return log != nullptr ? log->logger : stderr_logger();
}

}  // namespace kube::c
