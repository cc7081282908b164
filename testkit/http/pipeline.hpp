// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/faults/table.hpp"
#include "testkit/http/lane.hpp"
#include "testkit/http/session.hpp"

#include <kube/base/clock.hpp>
#include <kube/testkit/request_log.hpp>

#include <atomic>
#include <functional>
#include <string>

namespace kube::testkit::detail {

struct PipelineOptions {
  Clock* clock = nullptr;
  FaultTable* faults = nullptr;
  RequestLog* log = nullptr;
  /// Whether watches that begin with the present state are compressed (WT-24).
  bool compress_watches = false;
  /// Names the user of a request, for log and faults.
  std::function<std::string(const ServerRequest&)> user_of = {};
};

/// The way of a request through the server: faults, the handler, the log, compression.
///
/// Thread safety: serve() and refuse_all() from any thread. The handler and what the options point to must
/// outlive it. stop() is called when no connection is left.
class Pipeline final : public Service {
 public:
  Pipeline(RequestHandler& handler, PipelineOptions options);
  ~Pipeline() override { stop(); }

  void serve(ServerRequest request, std::function<void(Reply)> done) override;
  /// Whether every request is answered as during shutdown (FC-2).
  void refuse_all(bool refuse) { refusing_ = refuse; }
  void stop();

 private:
  struct Exchange;
  void run_handler(const std::shared_ptr<Exchange>& exchange);
  void carry_out(Exchange& exchange);
  template <typename Work>
  static void or_break(const Exchange& exchange, Work work);
  void record(const Exchange& exchange, int status) const;

  RequestHandler& handler_;
  const PipelineOptions options_;
  std::atomic<bool> refusing_ = false;
  Timers timers_;
  BlockingLane lane_;
};

}  // namespace kube::testkit::detail
