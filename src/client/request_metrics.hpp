// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/metrics.hpp>
#include <kube/transport/transport.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// What a client counts, under the names of client-go (RC-70). Costs nothing without a registry.
///
/// Thread safety: all methods may be called from any thread.
class RequestMetrics {
 public:
  RequestMetrics(std::shared_ptr<Metrics> metrics, std::string host)
      : metrics_(std::move(metrics)), host_(std::move(host)) {}

  /// One attempt: `status` is 0 if there was no answer, `attempt` 0 for the first.
  void sent(const std::string& method, int status, int attempt, Clock::Duration took,
            std::size_t body) const;
  void limited(const std::string& method, Clock::Duration waited) const;
  /// The same stream, which now keeps `transport` alive; how many bytes are read from it is counted.
  [[nodiscard]] std::unique_ptr<ResponseStream> measure(const std::string& method,
                                                        std::unique_ptr<ResponseStream> stream,
                                                        std::shared_ptr<Transport> transport) const;

 private:
  std::shared_ptr<Metrics> metrics_;
  std::string host_;
};

}  // namespace kube::detail
