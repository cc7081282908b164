// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::testkit::detail {

namespace {

/// The checks of a real server.
constexpr std::string_view kChecks[] = {
    "ping",
    "log",
    "loopback-serving-certificate",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
    "shutdown",
};

/// Returns whether an endpoint has a check.
bool has_check(std::string_view endpoint, std::string_view check) {
  const bool is_ready = endpoint == "readyz";
  if (check == "loopback-serving-certificate") return !is_ready;
  if (check == "etcd-readiness" || check == "informer-sync" || check == "shutdown") return is_ready;
  return true;
}

ServerResponse text_response(int status, std::string body) {
  ServerResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"}};
  response.body = std::move(body);
  return response;
}

}  // namespace

Health::Health() {
  for (const std::string_view check : kChecks) checks_.push_back({.name = std::string{check}});
}

void Health::set(std::string_view check, bool passes) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(checks_, check, &Check::name);
  if (found != checks_.end()) {
    found->passes = passes;
  } else {
    checks_.push_back({.name = std::string{check}, .passes = passes});
  }
}

std::optional<ServerResponse> Health::serve(const RequestUrl& url) const {
  if (url.segments.empty()) return std::nullopt;
  const std::string& endpoint = url.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  const std::lock_guard lock{mutex_};
  if (url.segments.size() > 1) {
    const std::string name = url.path.substr(endpoint.size() + 2);
    const auto found = std::ranges::find(checks_, name, &Check::name);
    if (found == checks_.end() || !has_check(endpoint, name)) return std::nullopt;
    return found->passes ? text_response(200, "ok")
                         : text_response(500, "internal server error: reason withheld\n");
  }
  const auto excluded = url.query.all("exclude");
  std::string lines;
  bool passed = true;
  for (const Check& check : checks_) {
    if (!has_check(endpoint, check.name)) continue;
    if (std::ranges::find(excluded, check.name) != excluded.end()) {
      lines += fmt::format("[+]{} excluded: ok\n", check.name);
    } else if (check.passes) {
      lines += fmt::format("[+]{} ok\n", check.name);
    } else {
      lines += fmt::format("[-]{} failed: reason withheld\n", check.name);
      passed = false;
    }
  }
  if (!passed) return text_response(500, fmt::format("{}{} check failed\n", lines, endpoint));
  if (!url.query.has("verbose")) return text_response(200, "ok");
  return text_response(200, fmt::format("{}{} check passed\n", lines, endpoint));
}

}  // namespace kube::testkit::detail
