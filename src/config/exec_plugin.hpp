// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec_credential.hpp"
#include "listeners.hpp"

#include <kube/base/condition.hpp>
#include <kube/config/credentials.hpp>
#include <kube/config/exec_config.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace kube::detail {

/// An exec credential plugin and its cached credential. If the credential is missing, expired or
/// refused, the calling thread runs the program with its own clock, log and environment. Concurrent
/// callers wait and share the result, also if it is an error. If the running caller is stopped, one
/// of the waiting ones starts again.
///
/// Thread safety: all methods, from any thread.
class ExecPlugin {
 public:
  /// `cluster` is JSON. Throws ConfigError if the configuration is incomplete.
  ExecPlugin(ExecConfig config, std::string cluster);

  [[nodiscard]] bool serves(const ExecConfig& config, const std::string& cluster) const {
    return config_ == config && cluster_ == cluster;
  }
  /// Returns a valid credential; runs the program if necessary. Throws ConfigError if the program
  /// fails, or on a stop.
  [[nodiscard]] std::shared_ptr<const ExecCredential> get(const CredentialsOptions& caller,
                                                          std::stop_token stop);
  /// Returns the same as get(), or null if that would run the program or wait for it.
  [[nodiscard]] std::shared_ptr<const ExecCredential> find_usable(
      const CredentialsOptions& caller) const;
  /// Returns the last result of get(), or null.
  [[nodiscard]] std::shared_ptr<const ExecCredential> latest() const;
  /// Reports that a server refused `authorization`. Unless it is an outdated one, the next get()
  /// runs the program.
  void refused(const std::string& authorization);
  [[nodiscard]] std::shared_ptr<void> on_certificate_change(std::function<void()> changed) {
    return certificate_changed_.add(std::move(changed));
  }

 private:
  struct Run {
    bool is_done = false;
    bool was_stopped = false;
    std::shared_ptr<const ExecCredential> answer;
    std::string problem;
  };

  [[nodiscard]] std::shared_ptr<const ExecCredential> run_shared(std::unique_lock<std::mutex>& lock,
                                                                 const CredentialsOptions& caller,
                                                                 std::stop_token stop);
  /// Runs the program and stores the credential or the error in `run`.
  void run_into(Run& run, const CredentialsOptions& caller, std::stop_token stop) const noexcept;
  [[nodiscard]] ExecCredential run(const CredentialsOptions& caller, std::stop_token stop) const;
  [[noreturn]] void throw_problem(const Run& run) const;
  [[nodiscard]] bool is_interactive(const CredentialsOptions& caller) const;
  [[nodiscard]] std::string help(Clock& clock) const;
  [[nodiscard]] bool has_expired_locked(const CredentialsOptions& caller) const;
  [[nodiscard]] bool is_usable_locked(const CredentialsOptions& caller) const {
    return latest_ && !is_refused_ && !has_expired_locked(caller);
  }

  const ExecConfig config_;
  const std::string cluster_;
  Listeners certificate_changed_;
  mutable std::mutex mutex_;
  Condition finished_;
  // Guarded by mutex_:
  std::shared_ptr<const ExecCredential> latest_;
  bool is_refused_ = false;
  std::shared_ptr<Run> run_;  // null while the program does not run
  mutable Clock::TimePoint help_since_{};
  mutable int help_count_ = 0;
};

/// The plugins of an ExecPlugins.
class ExecPluginTable {
 public:
  /// Returns the plugin for that configuration and cluster (JSON).
  [[nodiscard]] std::shared_ptr<ExecPlugin> find_or_make(const ExecConfig& config,
                                                         const std::string& cluster);

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::weak_ptr<ExecPlugin>> plugins_;
};

}  // namespace kube::detail
