// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fork.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "exchange.hpp"
#include "inflater.hpp"
#include "polled_stream.hpp"

namespace kube::detail {

class Scheduler;

/// The response of an exchange, decompressed.
class HttpStream final : public PolledStream {
 public:
  /// `host` is the prefix of messages. `scheduler` owns the loop of the exchange.
  HttpStream(std::shared_ptr<Exchange> exchange, std::string host,
             std::shared_ptr<Scheduler> scheduler)
      : exchange_(std::move(exchange)), host_(std::move(host)), scheduler_(std::move(scheduler)) {}
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  ~HttpStream() override;

  /// Waits for the head. Throws TransportError.
  void wait_head();
  [[nodiscard]] bool poll_head() override;
  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return head_; }

  [[nodiscard]] std::string_view read(std::stop_token stop) override;
  [[nodiscard]] std::optional<std::string_view> poll_read() override;
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout, std::stop_token stop) override;
  void cancel() noexcept override;

 private:
  void accept();
  /// Runs the loop until `ready()` or the deadline, if the loop has no thread and no other thread
  /// runs it.
  void drive_loop(const std::function<bool()>& ready,
                  std::chrono::steady_clock::time_point deadline) const;
  /// Returns the next bytes. `take()` refills bytes_, or returns false while pending.
  template <typename Take>
  [[nodiscard]] std::optional<std::string_view> next(const Take& take);
  [[nodiscard]] bool has_compressed() const noexcept {
    return !compressed_.empty() || (inflater_ && inflater_->has_more());
  }

  const ProcessMark process_;
  const std::shared_ptr<Exchange> exchange_;
  const std::string host_;
  const std::shared_ptr<Scheduler> scheduler_;
  HttpResponseHead head_;  // status is 0 until it has been received
  std::optional<Inflater> inflater_;
  std::string bytes_;
  std::string_view compressed_;
  std::string decoded_;
};

}  // namespace kube::detail
