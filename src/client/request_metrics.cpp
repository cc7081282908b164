// SPDX-License-Identifier: Apache-2.0
#include "request_metrics.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace kube::detail {

namespace {

// Functions, because threads of the library may still send requests while exit() destroys statics.
std::vector<double> seconds_bounds() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
}
std::vector<double> bytes_bounds() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

double seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

class MeasuredStream final : public PolledStream {
 public:
  MeasuredStream(std::unique_ptr<PolledStream> stream, std::shared_ptr<Transport> transport,
                 Histogram sizes)
      : transport_(std::move(transport)), stream_(std::move(stream)), sizes_(std::move(sizes)) {}
  MeasuredStream(const MeasuredStream&) = delete;
  MeasuredStream& operator=(const MeasuredStream&) = delete;
  ~MeasuredStream() override { sizes_.observe(static_cast<double>(bytes_)); }

  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return stream_->head(); }
  [[nodiscard]] std::string_view read(std::stop_token stop) override {
    const std::string_view chunk = stream_->read(std::move(stop));
    bytes_ += chunk.size();
    return chunk;
  }
  [[nodiscard]] bool poll_head() override { return stream_->poll_head(); }
  [[nodiscard]] std::optional<std::string_view> poll_read() override {
    const std::optional<std::string_view> chunk = stream_->poll_read();
    if (chunk) bytes_ += chunk->size();
    return chunk;
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout, std::stop_token stop) override {
    return stream_->wait(timeout, std::move(stop));
  }
  void cancel() noexcept override { stream_->cancel(); }

 private:
  std::shared_ptr<Transport> transport_;  // declared before the stream, which needs it
  std::unique_ptr<PolledStream> stream_;
  Histogram sizes_;
  std::size_t bytes_ = 0;
};

}  // namespace

void RequestMetrics::sent(const std::string& method, int status, int attempt, Clock::Duration took,
                          std::size_t body) const {
  if (!metrics_) return;
  const MetricLabels labels{{"code", status == 0 ? "<error>" : std::to_string(status)},
                            {"method", method},
                            {"host", host_}};
  const MetricLabels verb{{"verb", method}, {"host", host_}};
  metrics_->counter("rest_client_requests_total", "Requests sent, each attempt counted.", labels)
      .add();
  if (attempt > 0) {
    metrics_
        ->counter("rest_client_request_retries_total", "Attempts after the first of a request.",
                  labels)
        .add();
  }
  metrics_
      ->histogram("rest_client_request_duration_seconds",
                  "Time from sending a request to the head of its answer.", seconds_bounds(), verb)
      .observe(seconds(took));
  metrics_
      ->histogram("rest_client_request_size_bytes", "Size of the body of a request.",
                  bytes_bounds(), verb)
      .observe(static_cast<double>(body));
}

void RequestMetrics::limited(const std::string& method, Clock::Duration waited) const {
  if (!metrics_) return;
  metrics_
      ->histogram("rest_client_rate_limiter_duration_seconds",
                  "Time that a request waited for the client's own rate limit.", seconds_bounds(),
                  {{"verb", method}, {"host", host_}})
      .observe(seconds(waited));
}

std::unique_ptr<PolledStream> RequestMetrics::measure(const std::string& method,
                                                      std::unique_ptr<PolledStream> stream,
                                                      std::shared_ptr<Transport> transport) const {
  return std::make_unique<MeasuredStream>(
      std::move(stream), std::move(transport),
      histogram(metrics_, "rest_client_response_size_bytes", "Size of the body of an answer.",
                bytes_bounds(), {{"verb", method}, {"host", host_}}));
}

BudgetMetrics::BudgetMetrics(const std::shared_ptr<Metrics>& metrics, const std::string& host,
                             std::shared_ptr<ByteBudget> budget)
    : budget_(std::move(budget)) {
  if (!metrics) return;
  const MetricLabels labels{{"host", host}};
  used_ = metrics->gauge("rest_client_buffered_bytes",
                         "Bytes that watches and lists hold, received or decoded.", labels);
  limit_ = metrics->gauge("rest_client_buffered_bytes_limit",
                          "How many bytes watches and lists may hold; 0 is no limit.", labels);
  refusals_ = metrics->counter(
      "rest_client_buffer_refusals_total",
      "How often a stream was held back, or failed, because the limit was reached.", labels);
  limit_.add(static_cast<double>(budget_->limit()));
  collector_ = metrics->on_collect([this] { update(); });
}

BudgetMetrics::~BudgetMetrics() {
  collector_ = {};
  update();
  used_.add(-shown_);
  limit_.add(-static_cast<double>(budget_->limit()));
}

void BudgetMetrics::update() {
  const auto used = static_cast<double>(budget_->used());
  used_.add(used - std::exchange(shown_, used));
  const std::uint64_t refusals = budget_->refusals();
  refusals_.add(refusals - std::exchange(shown_refusals_, refusals));
}

}  // namespace kube::detail
