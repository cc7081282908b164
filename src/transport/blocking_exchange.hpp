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

/// An exchange through blocking calls of a Transport, in the form that is polled: workers make the calls, or whoever polls
/// if there is no scheduler. Once there is a head, it can be read with blocking calls as well.
class BlockingExchange final : public PolledStream {
 public:
  /// Begins at once.
  BlockingExchange(std::shared_ptr<Transport> transport, HttpRequest request, Poller poller);
  BlockingExchange(const BlockingExchange&) = delete;
  BlockingExchange& operator=(const BlockingExchange&) = delete;
  ~BlockingExchange() override {
    if (reading_) cancel();  // ends the call of the worker
  }

  [[nodiscard]] bool poll_head() override;
  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return stream_->head(); }
  [[nodiscard]] std::optional<std::string_view> poll_read() override;
  [[nodiscard]] std::string_view read(std::stop_token stop) override;
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout, std::stop_token stop) override;
  void cancel() noexcept override;

 private:
  using Stream = std::shared_ptr<ResponseStream>;

  const std::shared_ptr<Transport> transport_;  // before the stream, which may need it
  const Poller poller_;
  std::optional<BlockingCall<Stream>> opening_;
  Stream stream_;  // shared with a worker that reads
  std::optional<BlockingCall<std::string_view>> reading_;
};

}  // namespace kube::detail
