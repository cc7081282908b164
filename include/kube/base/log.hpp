// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Severity of a log line, in ascending order.
enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Writes the log lines of the library. A Logger is a small value that is passed in options;
/// Logger{} discards everything at the cost of one comparison. Options without a logger inherit
/// one: informers from the client of their factory or of their ResourceListWatch, controllers from
/// the manager. A client logs warnings and errors to stderr_logger() by default.
///
/// A sink receives one line of UTF-8. Control characters in component and message are escaped as
/// \xNN (detail::escape_control()), so that text from a server or a file can neither forge a log
/// line nor send escape sequences to a terminal.
///
/// Thread safety: the sink is called from any thread and must be thread-safe. Exceptions of the
/// sink are swallowed, so that a failing log does not lose an event.
class Logger {
 public:
  /// Receives one line; see above for its content. `component` may be empty.
  using Sink =
      std::function<void(LogLevel level, std::string_view component, std::string_view message)>;

  Logger() = default;
  /// Lines below the level `least` are discarded before they are formatted.
  explicit Logger(Sink sink, LogLevel least = LogLevel::kInfo);

  /// Returns the same log with `component` ("reflector", "leader election") on each line.
  [[nodiscard]] Logger named(std::string_view component) const;
  /// True if lines of this level reach the sink. Check it before computing expensive arguments.
  [[nodiscard]] bool enabled(LogLevel level) const noexcept {
    return sink_ != nullptr && level >= least_;
  }

  /// Logs a line in the syntax of fmt: `log.debug("{} objects", count)`. info(), warning() and
  /// error() do the same at their level.
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kDebug, format, fmt::make_format_args(args...));
  }
  /// See debug().
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kInfo, format, fmt::make_format_args(args...));
  }
  /// See debug().
  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kWarning, format, fmt::make_format_args(args...));
  }
  /// See debug().
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kError, format, fmt::make_format_args(args...));
  }

 private:
  friend Logger stderr_logger(LogLevel least);
  Logger(std::shared_ptr<const Sink> sink, LogLevel least)
      : sink_(std::move(sink)), least_(least) {}
  void write(LogLevel level, fmt::string_view format, fmt::format_args args) const noexcept;

  std::shared_ptr<const Sink> sink_;
  std::string component_;
  LogLevel least_ = LogLevel::kInfo;
};

/// Returns a logger that writes to standard error. Each message is one line and one write(), so
/// that lines of several threads do not interleave:
///   2026-01-01T00:00:00.000Z WARNING reflector: v1 Pod: ...
[[nodiscard]] Logger stderr_logger(LogLevel least = LogLevel::kWarning);

}  // namespace kube
