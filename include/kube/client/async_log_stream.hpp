// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/engine/suspension.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {

/// LogStream for coroutines:
///
///   const kube::LogOptions options{.follow = true};
///   auto log = co_await pods.logs_async("web-0", options);
///   while (auto line = co_await log.next_line()) ...
///
/// Unread lines hold the server back (back-pressure). One coroutine at a time waits for the next
/// line.
class AsyncLogStream {
 public:
  /// `co_await next_line()` yields a std::optional<std::string>: a line without its terminator, or
  /// nothing at the end of the log. A line longer than 1 MiB is split into pieces of that size.
  /// Throws TransportError; kCanceled after a stop of `stop` or of the Task.
  [[nodiscard]] auto next_line(std::stop_token stop = {}) {
    return detail::AwaitRef<std::optional<std::string>>{*core_, std::move(stop)};
  }

 private:
  friend struct detail::Inside;
  explicit AsyncLogStream(
      std::unique_ptr<detail::Awaited<std::optional<std::string>>> core) noexcept
      : core_(std::move(core)) {}

  std::unique_ptr<detail::Awaited<std::optional<std::string>>> core_;
};

}  // namespace kube
