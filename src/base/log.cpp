// SPDX-License-Identifier: Apache-2.0
#include <kube/base/log.hpp>

#include <fmt/format.h>

namespace kube {

void Logger::write(LogLevel level, fmt::string_view format, fmt::format_args args) const noexcept {
  if (!enabled(level)) return;
  try {
    (*sink_)(level, component_, fmt::vformat(format, args));
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the contract of Logger
  }
}

}  // namespace kube
