// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// The log of the library. A Logger is a small value that is handed down in options;
/// Logger{} is silent and costs a comparison. Options that leave their log out inherit it: informers from the client
/// of their factory or of their ResourceListWatch, controllers from the manager, and a client logs warnings and errors to
/// stderr_logger().
///
/// A sink gets one line of UTF-8: control characters in component and message arrive as \xNN (detail::escape_control()),
/// so that what a server or a file says can neither forge a line nor steer a terminal.
///
/// Thread safety: the sink is called from any thread and must cope with that; what it throws is swallowed,
/// since no log line is worth a lost event.
class Logger {
 public:
  using Sink =
      std::function<void(LogLevel level, std::string_view component, std::string_view message)>;

  Logger() = default;
  explicit Logger(Sink sink, LogLevel least = LogLevel::kInfo);

  /// The same log, with `component` ("reflector", "leader election") on each line.
  [[nodiscard]] Logger named(std::string_view component) const;
  [[nodiscard]] bool enabled(LogLevel level) const noexcept {
    return sink_ != nullptr && level >= least_;
  }

  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kDebug, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kInfo, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kWarning, format, fmt::make_format_args(args...));
  }
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

/// Writes to standard error, each message as one line and with one write(), so that lines of several threads do not mix:
///   2026-01-01T00:00:00.000Z WARNING reflector: v1 Pod: ...
[[nodiscard]] Logger stderr_logger(LogLevel least = LogLevel::kWarning);

}  // namespace kube
