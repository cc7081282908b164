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

/// The log of a container, read while it arrives. Thread safety: one thread reads; cancel() from
/// any.
class LogStream {
 public:
  /// Reads from `stream`, whose head has been received.
  explicit LogStream(std::unique_ptr<ResponseStream> stream) : stream_(std::move(stream)) {}

  /// Returns the next bytes, valid until the next call; empty at the end. Throws TransportError.
  [[nodiscard]] std::string_view read(std::stop_token stop = {});
  /// Returns the next line without its terminator, or nothing at the end of the log. A line longer
  /// than 1 MiB is split into pieces of that size.
  [[nodiscard]] std::optional<std::string> next_line(std::stop_token stop = {});
  /// Ends the stream. A waiting call throws TransportError kCanceled.
  void cancel() noexcept { stream_->cancel(); }

 private:
  std::unique_ptr<ResponseStream> stream_;
  std::string_view rest_;  // not yet returned by next_line()
};

}  // namespace kube
