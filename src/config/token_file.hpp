// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/secret_text.hpp>

#include <mutex>
#include <string>

namespace kube::detail {

/// A token in a file that somebody else renews. It is read again by whoever asks 50 seconds or more after the last
/// time: it counts for a minute, less ten seconds for the request to arrive.
///
/// Thread safety: all methods, from any thread.
class TokenFile {
 public:
  /// `fallback` is the token until the file has been read. Throws ConfigError if it is empty and the file
  /// cannot be read.
  TokenFile(std::string path, SecretText fallback, Clock& clock, Logger log);

  [[nodiscard]] SecretText token();

 private:
  const std::string path_;
  Clock& clock_;
  const Logger log_;
  std::mutex mutex_;
  // Guarded by mutex_:
  SecretText token_;
  Clock::TimePoint stale_at_ = Clock::TimePoint::min();
};

}  // namespace kube::detail
