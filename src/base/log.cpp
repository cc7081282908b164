// SPDX-License-Identifier: Apache-2.0
#include <kube/base/log.hpp>

#include "base/text.hpp"

#include <fmt/format.h>

#include <string>

namespace kube {

Logger Logger::named(std::string_view component) const {
  Logger copy = *this;
  copy.component_ = detail::escape_control(component);
  return copy;
}

void Logger::write(LogLevel level, fmt::string_view format, fmt::format_args args) const noexcept {
  if (!enabled(level)) return;
  try {
    std::string message = fmt::vformat(format, args);
    if (detail::has_control(message)) message = detail::escape_control(message);
    (*sink_)(level, component_, message);
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the contract of Logger
  }
}

}  // namespace kube
