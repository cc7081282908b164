// SPDX-License-Identifier: Apache-2.0
#include <kube/base/log.hpp>

#include "base/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <iterator>
#include <string>

namespace kube {
namespace {

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

void write_to_stderr(LogLevel level, std::string_view component, std::string_view message) {
  using namespace std::chrono;
  const auto now = time_point_cast<milliseconds>(system_clock::now());
  const std::time_t seconds = system_clock::to_time_t(floor<std::chrono::seconds>(now));
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  fmt::memory_buffer line;
  fmt::format_to(std::back_inserter(line), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z {} {}{}{}\n",
                 utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                 utc.tm_sec, (now.time_since_epoch() % 1s).count(), name_of(level), component,
                 component.empty() ? "" : ": ", message);
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace

Logger stderr_logger(LogLevel least) {
  // Never destroyed: threads may log while the process exits.
  static const auto& sink = *new std::shared_ptr<const Logger::Sink>(
      std::make_shared<const Logger::Sink>(write_to_stderr));
  return Logger{sink, least};
}

Logger::Logger(Sink sink, LogLevel least)
    : sink_(std::make_shared<const Sink>(std::move(sink))), least_(least) {}

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
