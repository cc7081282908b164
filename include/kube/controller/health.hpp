// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Says what is wrong, or nothing. What it throws is wrong, too. Called by workers, several at once, and must not wait for
/// long.
using HealthCheck = std::function<std::optional<std::string>()>;
/// All is well as long as somebody answers.
[[nodiscard]] HealthCheck ping();

/// What an HTTP endpoint answers.
struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
};

/// The answers of /healthz and /readyz.
///
/// Thread safety: add() before anything else; then answer() from any thread.
class HealthChecks {
 public:
  /// Throws std::invalid_argument if there is one of that name, or if the name is empty or has a slash.
  void add(std::string name, HealthCheck check);
  [[nodiscard]] bool empty() const noexcept { return checks_.empty(); }

  /// `path` is what follows /healthz: empty or "/" for all checks, "/<name>" for one. `query` is that of the URL:
  /// "verbose" lists the checks also if all is well, "exclude=<name>" leaves one out.
  [[nodiscard]] HttpReply answer(std::string_view path, std::string_view query) const;

 private:
  [[nodiscard]] HttpReply all(std::string_view query) const;

  std::map<std::string, HealthCheck, std::less<>> checks_;
};

}  // namespace kube
