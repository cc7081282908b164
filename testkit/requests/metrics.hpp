// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/requests/routing.hpp"

namespace kube::testkit::detail {

/// Counts responses for `/metrics` (HE-2).
///
/// Thread safety: all methods, from any thread.
class RequestMetrics {
 public:
  /// Counts one response; skipped if memory runs out. Requests for resources that `catalog` does
  /// not serve are counted without resource labels, so that clients cannot grow the table or inject
  /// text.
  void count(const Route& route, const Catalog& catalog, int code) noexcept;

  /// Returns `apiserver_request_total` in the text format of Prometheus.
  [[nodiscard]] std::string text() const;

 private:
  /// verb, group, version, resource, subresource, code
  using Labels = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;

  mutable std::mutex mutex_;
  std::map<Labels, std::uint64_t> counts_;
};

}  // namespace kube::testkit::detail
