// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "message.hpp"

namespace kube::server {

/// Carries the body of a request from its session to the handler that reads it. The session stops
/// reading from the peer while the pipe is full.
///
/// Thread safety: all methods may be called from any thread.
class BodyPipe : public std::enable_shared_from_this<BodyPipe> {
 public:
  /// `on_read` is called after the reader has taken bytes, or has gone.
  explicit BodyPipe(std::function<void()> on_read) : on_read_(std::move(on_read)) {}

  /// The reader's end. Call once.
  [[nodiscard]] std::unique_ptr<BodySource> reader();

  // For the session:
  void write(std::string_view bytes);
  /// The body is complete, or the connection has ended (kReset).
  void end(BodySource::State state) noexcept;
  /// The number of bytes that wait for the reader.
  [[nodiscard]] std::size_t size() const;
  /// Returns how many bytes were read, or discarded, since the last call.
  [[nodiscard]] std::size_t take_read() noexcept;

 private:
  class Reader;

  const std::function<void()> on_read_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::string bytes_;
  std::size_t read_ = 0;
  std::function<void()> wake_;
  BodySource::State state_ = BodySource::State::kWait;  // or how the body has ended
  bool abandoned_ = false;                              // there is no reader any more
};

}  // namespace kube::server
