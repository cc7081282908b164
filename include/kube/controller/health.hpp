// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Returns a description of the problem, or nothing. An exception counts as a problem. Called by
/// workers, concurrently; must not block for long.
using HealthCheck = std::function<std::optional<std::string>()>;
/// Returns a check that always succeeds.
[[nodiscard]] HealthCheck ping();

/// Response of an HTTP endpoint.
struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
};

/// The checks behind /healthz and /readyz.
///
/// Thread safety: add() before anything else; then answer() from any thread.
class HealthChecks {
 public:
  /// Throws std::invalid_argument if a check of that name exists, or if the name is empty or has a
  /// slash.
  void add(std::string name, HealthCheck check);
  [[nodiscard]] bool empty() const noexcept { return checks_.empty(); }

  /// Returns the response for `path`, the part after /healthz: empty or "/" for all checks,
  /// "/<name>" for one. `query` is that of the URL: "verbose" lists the checks also on success,
  /// "exclude=<name>" skips one.
  [[nodiscard]] HttpReply answer(std::string_view path, std::string_view query) const;

 private:
  [[nodiscard]] HttpReply all(std::string_view query) const;

  std::map<std::string, HealthCheck, std::less<>> checks_;
};

}  // namespace kube
