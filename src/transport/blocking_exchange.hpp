// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blocking_call.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "polled_stream.hpp"

namespace kube::detail {

/// Polled form of an exchange through the blocking calls of a Transport. Workers make the calls;
/// without a scheduler, the polling thread does. Once there is a head, blocking calls may be used
/// as well.
class BlockingExchange final : public PolledStream {
 public:
  /// Starts the exchange.
  BlockingExchange(std::shared_ptr<Transport> transport, HttpRequest request, Poller poller);
  BlockingExchange(const BlockingExchange&) = delete;
  BlockingExchange& operator=(const BlockingExchange&) = delete;
  ~BlockingExchange() override {
    if (reading_) cancel();  // ends the worker's call
  }

  [[nodiscard]] bool poll_head() override;
  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return stream_->head(); }
  [[nodiscard]] std::optional<std::string_view> poll_read() override;
  [[nodiscard]] std::string_view read(std::stop_token stop) override;
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout, std::stop_token stop) override;
  void cancel() noexcept override;

 private:
  using Stream = std::shared_ptr<ResponseStream>;

  const std::shared_ptr<Transport> transport_;  // declared before the stream, which may use it
  const Poller poller_;
  std::optional<BlockingCall<Stream>> opening_;
  Stream stream_;  // shared with a reading worker
  std::optional<BlockingCall<std::string_view>> reading_;
};

}  // namespace kube::detail
