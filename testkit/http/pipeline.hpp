// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/faults/table.hpp"
#include "testkit/http/lane.hpp"
#include "testkit/http/service.hpp"

#include <kube/base/clock.hpp>
#include <kube/testkit/request_log.hpp>

#include <atomic>
#include <functional>
#include <string>

namespace kube::testkit::detail {

struct PipelineOptions {
  /// The collaborators of a Pipeline; null pointers disable faults and log.
  Clock* clock = nullptr;
  FaultTable* faults = nullptr;
  RequestLog* log = nullptr;
  /// Compress watches that begin with the current state (WT-24).
  bool compress_watches = false;
  /// Returns the user of a request, for log and faults.
  std::function<std::string(const ServerRequest&)> user_of = {};
};

/// Processes a request: applies faults, calls the handler, logs the request, compresses the
/// response.
///
/// Thread safety: serve() and refuse_all() from any thread. The handler and the pointers in the
/// options must outlive the pipeline. stop() is called after the last connection has closed.
class Pipeline final : public Service {
 public:
  Pipeline(RequestHandler& handler, PipelineOptions options);
  ~Pipeline() override { stop(); }

  void serve(ServerRequest request, std::function<void(Reply)> done) override;
  /// If true, every request gets the response sent during shutdown (FC-2).
  void refuse_all(bool refuse) { refusing_ = refuse; }
  void stop();

 private:
  struct Exchange;
  void run_handler(const std::shared_ptr<Exchange>& exchange);
  /// Runs the handler, or applies the faults that replace it, and completes the exchange.
  void execute(Exchange& exchange);
  template <typename Work>
  static void reset_on_error(const Exchange& exchange, Work work);
  void record(const Exchange& exchange, int status) const;

  RequestHandler& handler_;
  const PipelineOptions options_;
  std::atomic<bool> refusing_ = false;
  Timers timers_;
  BlockingLane lane_;
};

}  // namespace kube::testkit::detail
