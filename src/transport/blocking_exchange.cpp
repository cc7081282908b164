// SPDX-License-Identifier: Apache-2.0
#include "blocking_exchange.hpp"

#include <utility>

namespace kube::detail {

BlockingExchange::BlockingExchange(std::shared_ptr<Transport> transport, HttpRequest request,
                                   Poller poller)
    : transport_(std::move(transport)), poller_(std::move(poller)) {
  opening_.emplace(poller_, "Transport",
                   [transport = transport_,
                    request = std::move(request)](std::stop_token stop) mutable -> Stream {
                     return transport->open(std::move(request), std::move(stop));
                   });
}

bool BlockingExchange::poll_head() {
  if (stream_) return true;
  std::optional<Stream> opened = opening_->poll();
  if (!opened) return false;
  stream_ = std::move(*opened);
  opening_.reset();
  return true;
}

std::optional<std::string_view> BlockingExchange::poll_read() {
  if (poller_.scheduler == nullptr) return stream_->read(poller_.stop);
  if (!reading_) {
    reading_.emplace(poller_, "Transport",
                     [transport = transport_, stream = stream_](std::stop_token stop) {
                       return stream->read(std::move(stop));
                     });
  }
  std::optional<std::string_view> bytes = reading_->poll();
  if (bytes) reading_.reset();
  return bytes;
}

std::string_view BlockingExchange::read(std::stop_token stop) {
  return stream_->read(std::move(stop));
}

bool BlockingExchange::wait(std::chrono::nanoseconds timeout, std::stop_token stop) {
  return stream_->wait(timeout, std::move(stop));
}

void BlockingExchange::cancel() noexcept {
  if (stream_) stream_->cancel();
}

}  // namespace kube::detail
