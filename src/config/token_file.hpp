// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/secret_text.hpp>

#include <mutex>
#include <string>

namespace kube::detail {

/// A token in a file that is renewed by others. A call reads it again if the last read was 50 or
/// more seconds ago: it is considered valid for a minute, minus ten seconds for the request to
/// arrive.
///
/// Thread safety: all methods, from any thread.
class TokenFile {
 public:
  /// `fallback` is the token until the file has been read. Throws ConfigError if `fallback` is
  /// empty and the file cannot be read.
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
