// SPDX-License-Identifier: Apache-2.0
#include <kube/client/resource_core.hpp>

#include "log_line.hpp"
#include "request.hpp"
#include "rest_client.hpp"
#include "send_operation.hpp"

#include <optional>
#include <string>
#include <utility>

namespace kube::detail {

namespace {

/// The first await opens the log; each later one yields a line.
class AwaitedLog final : public Awaited<std::optional<std::string>> {
 public:
  AwaitedLog(std::shared_ptr<RestClient> rest, Request request)
      : rest_(std::move(rest)), request_(std::move(request)) {}

  [[nodiscard]] std::optional<std::string> take() override {
    return std::exchange(line_, std::nullopt);
  }

 private:
  [[nodiscard]] bool poll() override {
    if (stream_) return poll_line();
    if (!sending_) {
      sending_.emplace(*rest_, request_, Poller{.waker = waker(), .scheduler = scheduler()});
    }
    if (sending_->poll() == Poll::kPending) return false;
    stream_ = sending_->take();
    sending_.reset();
    return true;
  }
  [[nodiscard]] bool poll_line() {
    while (!has_ended_) {
      if (rest_of_chunk_.empty()) {
        const std::optional<std::string_view> chunk = read();
        if (!chunk) return false;
        rest_of_chunk_ = *chunk;
        has_ended_ = chunk->empty();
        if (has_ended_) break;
      }
      if (!line_begun_) line_begun_.emplace();
      if (!take_log_line(rest_of_chunk_, *line_begun_)) continue;
      break;
    }
    line_ = std::exchange(line_begun_, std::nullopt);
    return true;
  }
  [[nodiscard]] std::optional<std::string_view> read() {
    try {
      return stream_->poll_read();
    } catch (const TransportError& error) {
      throw rest_->in_context(request_, error);
    }
  }
  void stopped() override {
    if (sending_) throw sending_->canceled();
    throw TransportError(TransportError::Kind::kCanceled, rest_->describe(request_) + ": canceled");
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override {
    return sending_ ? sending_->wake_at() : Clock::TimePoint::max();
  }
  [[nodiscard]] Clock& clock() const noexcept override { return rest_->clock(); }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override { return rest_->runtime(); }

  const std::shared_ptr<RestClient> rest_;
  const Request request_;
  std::optional<SendOperation> sending_;
  std::unique_ptr<PolledStream> stream_;
  std::string_view rest_of_chunk_;
  bool has_ended_ = false;
  std::optional<std::string> line_begun_;
  std::optional<std::string> line_;
};

}  // namespace

std::unique_ptr<Awaited<std::optional<std::string>>> ResourceCore::log_async(
    std::string_view name, const LogOptions& options) const {
  return std::make_unique<AwaitedLog>(rest_, log_request(name, options));
}

}  // namespace kube::detail
