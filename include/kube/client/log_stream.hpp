// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// The log of a container, as it arrives. Thread safety: one thread reads; cancel() from any.
class LogStream {
 public:
  explicit LogStream(std::unique_ptr<ResponseStream> stream) : stream_(std::move(stream)) {}

  /// The next bytes, valid until the next call; empty at the end. Throws TransportError.
  [[nodiscard]] std::string_view read(std::stop_token stop = {});
  /// The next line without its end, nothing at the end of the log. What is longer than 1 MiB comes in pieces.
  [[nodiscard]] std::optional<std::string> next_line(std::stop_token stop = {});
  /// Ends it now; a call that waits throws TransportError kCanceled.
  void cancel() noexcept { stream_->cancel(); }

 private:
  std::unique_ptr<ResponseStream> stream_;
  std::string_view rest_;  // what next_line() has not looked at
};

}  // namespace kube
