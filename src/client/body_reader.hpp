// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/polled_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

/// Collects the rest of a body, up to a limit of bytes.
class BodyReader {
 public:
  explicit BodyReader(std::size_t limit) noexcept : limit_(limit) {}

  /// Adds bytes of a stream, empty at its end. Returns false if no more are needed.
  bool add(std::string_view chunk) {
    if (chunk.empty()) return false;
    body_ += chunk.substr(0, limit_ + 1 - body_.size());
    return body_.size() <= limit_;
  }
  /// Reads what has arrived. Returns false while more is to come. Throws TransportError.
  [[nodiscard]] bool poll(PolledStream& stream) {
    for (;;) {
      const auto chunk = stream.poll_read();
      if (!chunk) return false;
      if (!add(*chunk)) return true;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return body_.size(); }
  /// False if the body exceeds the limit.
  [[nodiscard]] bool is_complete() const noexcept { return body_.size() <= limit_; }
  [[nodiscard]] std::string take() {
    body_.resize(std::min(body_.size(), limit_));
    return std::move(body_);
  }

 private:
  const std::size_t limit_;
  std::string body_;
};

}  // namespace kube::detail
