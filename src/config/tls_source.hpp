// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/config/config.hpp>
#include <kube/config/credentials.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace kube::detail {

/// Provides the current TlsMaterial of a TlsConfig. Certificate and key files are read again if the
/// last read was more than a second ago, a CA file after five minutes. If the new content is not
/// usable, the old one is kept, as the files may be in the middle of being replaced.
///
/// Thread safety: all methods, from any thread.
class TlsSource {
 public:
  /// `owner` is "client" or "server", for messages. Throws ConfigError if something is missing,
  /// malformed or contradictory.
  TlsSource(TlsConfig config, Clock& clock, Logger log, const char* owner = "client");

  struct Pair {
    std::string certificate;
    SecretText key;

    bool operator==(const Pair&) const = default;
  };
  struct Current {
    std::shared_ptr<const TlsMaterial> material;
    /// Certificate or key have changed since the last call.
    bool has_new_identity = false;
  };
  [[nodiscard]] Current current();
  /// current() with a certificate and key from another source, as validated PEM. `latest` is called
  /// under the lock, so that an older pair cannot replace a newer one.
  [[nodiscard]] Current current(const std::function<Pair()>& latest);

  [[nodiscard]] bool has_certificate_files() const noexcept {
    return !config_.certificate_file.empty() || !config_.key_file.empty();
  }

 private:
  [[nodiscard]] Pair load_pair() const;
  void reload_pair_locked(std::string& problem);
  void reload_ca_locked(std::string& problem);

  TlsConfig config_;
  Clock& clock_;
  const Logger log_;
  const char* const owner_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<const TlsMaterial> material_;
  bool was_returned_ = false;
  Pair pair_;
  std::string ca_;
  Clock::TimePoint pair_read_at_;
  Clock::TimePoint ca_read_at_;
};

}  // namespace kube::detail
