// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::testkit::detail {

namespace {

ServerResponse text_response(int status, std::string body) {
  ServerResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"}};
  response.body = std::move(body);
  return response;
}

}  // namespace

void Health::set(std::string_view check, bool passes) {
  const std::lock_guard lock{mutex_};
  checks_.insert_or_assign(std::string{check}, passes);
}

std::optional<ServerResponse> Health::serve(const RequestUrl& url) const {
  if (url.segments.empty()) return std::nullopt;
  const std::string& endpoint = url.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  const std::lock_guard lock{mutex_};
  if (url.segments.size() > 1) {
    const std::string name = url.path.substr(endpoint.size() + 2);
    const auto found = checks_.find(name);
    if (found == checks_.end()) return std::nullopt;
    return found->second ? text_response(200, "ok")
                         : text_response(500, "internal server error: reason withheld\n");
  }
  const auto excluded = url.query.all("exclude");
  std::string lines;
  bool passed = true;
  for (const auto& [name, passes] : checks_) {
    if (std::ranges::find(excluded, name) != excluded.end()) {
      lines += fmt::format("[+]{} excluded: ok\n", name);
    } else if (passes) {
      lines += fmt::format("[+]{} ok\n", name);
    } else {
      lines += fmt::format("[-]{} failed: reason withheld\n", name);
      passed = false;
    }
  }
  if (!passed) return text_response(500, fmt::format("{}{} check failed\n", lines, endpoint));
  if (!url.query.has("verbose")) return text_response(200, "ok");
  return text_response(200, fmt::format("{}{} check passed\n", lines, endpoint));
}

}  // namespace kube::testkit::detail
