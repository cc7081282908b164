// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <string_view>

kube::Logger make_logger(const std::string& level) {
  const auto log = spdlog::stderr_color_mt("kubecxx");
  log->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  log->set_level(spdlog::level::from_str(level));
  const kube::LogLevel least = level == "debug"     ? kube::LogLevel::kDebug
                               : level == "info"    ? kube::LogLevel::kInfo
                               : level == "warning" ? kube::LogLevel::kWarning
                                                    : kube::LogLevel::kError;
  return kube::Logger{
      [log](kube::LogLevel line_level, std::string_view component, std::string_view message) {
        const auto to = line_level == kube::LogLevel::kDebug     ? spdlog::level::debug
                        : line_level == kube::LogLevel::kInfo    ? spdlog::level::info
                        : line_level == kube::LogLevel::kWarning ? spdlog::level::warn
                                                                 : spdlog::level::err;
        log->log(to, "{}{}{}", component, component.empty() ? "" : ": ", message);
      },
      least};
}
