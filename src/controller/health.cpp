// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/health.hpp>

#include "server/query.hpp"

#include <fmt/format.h>

#include <exception>
#include <set>
#include <stdexcept>
#include <utility>

namespace kube {
namespace {

std::optional<std::string> problem_of(const HealthCheck& check) noexcept {
  try {
    return check();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

HealthCheck ping() {
  return []() -> std::optional<std::string> { return std::nullopt; };
}

void HealthChecks::add(std::string name, HealthCheck check) {
  if (name.empty() || name.find('/') != std::string::npos) {
    throw std::invalid_argument(fmt::format("\"{}\" cannot be the name of a check", name));
  }
  if (!checks_.emplace(name, std::move(check)).second) {
    throw std::invalid_argument(fmt::format("a check with the name {} exists already", name));
  }
}

HttpReply HealthChecks::answer(std::string_view path, std::string_view query) const {
  if (path.empty() || path == "/") return all(query);
  const auto found = checks_.find(path.substr(1));
  if (found == checks_.end()) {
    if (checks_.empty() && path == "/ping") return {.body = "ok"};
    return {.status = 404, .body = "there is no such check\n"};
  }
  if (const auto problem = problem_of(found->second)) {
    return {.status = 500, .body = fmt::format("internal server error: {}\n", *problem)};
  }
  return {.body = "ok"};
}

HttpReply HealthChecks::all(std::string_view query) const {
  bool verbose = false;
  std::set<std::string> excluded;
  for (auto& [name, value] : server::parse_query(query)) {
    if (name == "verbose") verbose = true;
    if (name == "exclude") excluded.insert(std::move(value));
  }
  bool failed = false;
  std::string lines = checks_.empty() ? "[+]ping ok\n" : "";
  for (const auto& [name, check] : checks_) {
    if (excluded.erase(name) > 0) {
      lines += fmt::format("[+]{} excluded: ok\n", name);
    } else if (problem_of(check)) {
      failed = true;
      lines += fmt::format("[-]{} failed: reason withheld\n", name);
    } else {
      lines += fmt::format("[+]{} ok\n", name);
    }
  }
  if (!failed && !verbose) return {.body = "ok"};
  if (!excluded.empty()) lines += "warn: some checks that were to be excluded do not exist\n";
  lines += failed ? "healthz check failed\n" : "healthz check passed\n";
  return {.status = failed ? 500 : 200, .body = std::move(lines)};
}

}  // namespace kube
