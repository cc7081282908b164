// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/polled_stream.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/metrics.hpp>
#include <kube/transport/transport.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// The metrics of a client, with the names of client-go (RC-70). No cost without a registry.
///
/// Thread safety: all methods may be called from any thread.
class RequestMetrics {
 public:
  RequestMetrics(std::shared_ptr<Metrics> metrics, std::string host)
      : metrics_(std::move(metrics)), host_(std::move(host)) {}

  /// Records one attempt: `status` is 0 if there was no response, `attempt` is 0 for the first.
  void sent(const std::string& method, int status, int attempt, Clock::Duration took,
            std::size_t body) const;
  void limited(const std::string& method, Clock::Duration waited) const;
  /// Wraps the stream: it keeps `transport` alive and counts the bytes read.
  [[nodiscard]] std::unique_ptr<PolledStream> measure(const std::string& method,
                                                      std::unique_ptr<PolledStream> stream,
                                                      std::shared_ptr<Transport> transport) const;

 private:
  std::shared_ptr<Metrics> metrics_;
  std::string host_;
};

/// Metrics of the byte budget, summed over all clients of one server that use the same registry.
class BudgetMetrics {
 public:
  BudgetMetrics(const std::shared_ptr<Metrics>& metrics, const std::string& host,
                std::shared_ptr<ByteBudget> budget);
  BudgetMetrics(const BudgetMetrics&) = delete;
  BudgetMetrics& operator=(const BudgetMetrics&) = delete;
  ~BudgetMetrics();

 private:
  /// Updates the metrics from the budget.
  void update();

  const std::shared_ptr<ByteBudget> budget_;
  Gauge used_;
  Gauge limit_;
  Counter refusals_;
  double shown_ = 0;  // this client's share of used_
  std::uint64_t shown_refusals_ = 0;
  MetricsCollector collector_;  // last member: it uses the others
};

}  // namespace kube::detail
