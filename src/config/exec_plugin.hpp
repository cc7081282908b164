// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec_credential.hpp"
#include "listeners.hpp"
#include "process.hpp"

#include "base/file_descriptor.hpp"
#include "base/waker.hpp"
#include <kube/config/credentials.hpp>
#include <kube/config/exec_config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// An exec credential plugin and its cached credential. If the credential is missing, expired or
/// refused, the first caller starts the program with its own environment; concurrent callers share
/// the run and its result, also if it is an error. Each of them waits for the program itself, in a
/// thread or on a loop, so that none depends on a thread or loop of another one. The program is
/// killed when no caller is left.
///
/// Ownership: always owned by a shared_ptr.
/// Thread safety: all methods, from any thread.
class ExecPlugin : public std::enable_shared_from_this<ExecPlugin> {
  struct Run;

 public:
  /// A caller that needs a credential, as an operation that is polled (engine/polling.hpp).
  /// Destroying it ends the wait.
  class Wait {
   public:
    /// Refers to `caller`, whose clock, log and hooks are used. `waker` is woken when the run was
    /// started or has ended; for other reasons to poll see open_descriptor() and deadline().
    Wait(std::shared_ptr<ExecPlugin> plugin, const CredentialsOptions& caller,
         std::weak_ptr<Waker> waker);
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait();

    /// Returns a valid credential, or null while pending. Throws ConfigError if the program fails.
    [[nodiscard]] std::shared_ptr<const ExecCredential> poll();
    /// Opens a descriptor that is readable when poll() can continue; none while the program is
    /// being started. Throws ConfigError.
    [[nodiscard]] FileDescriptor open_descriptor() const;
    /// The time at which poll() kills the program.
    [[nodiscard]] Clock::TimePoint deadline() const noexcept { return deadline_; }

   private:
    [[nodiscard]] std::shared_ptr<const ExecCredential> take_result(
        std::unique_lock<std::mutex>& lock);
    void note_lateness_locked();
    void register_locked();

    const std::shared_ptr<ExecPlugin> plugin_;
    const CredentialsOptions& caller_;
    const std::weak_ptr<Waker> waker_;
    const Clock::TimePoint deadline_;
    std::shared_ptr<Run> run_;
    std::uint64_t registered_ = 0;  // the round of run_->wakers that has waker_
  };

  /// `cluster` is JSON. Throws ConfigError if the configuration is incomplete.
  ExecPlugin(ExecConfig config, std::string cluster);

  [[nodiscard]] bool serves(const ExecConfig& config, const std::string& cluster) const {
    return config_ == config && cluster_ == cluster;
  }
  /// Blocking form of Wait. Throws ConfigError, also on a stop.
  [[nodiscard]] std::shared_ptr<const ExecCredential> get(const CredentialsOptions& caller,
                                                          std::stop_token stop);
  /// Returns the same as get(), or null if that would run the program or wait for it.
  [[nodiscard]] std::shared_ptr<const ExecCredential> find_usable(
      const CredentialsOptions& caller) const;
  /// Returns the credential of the last run, or null.
  [[nodiscard]] std::shared_ptr<const ExecCredential> latest() const;
  /// Reports that a server refused `authorization`. Unless it is an outdated one, the next get()
  /// runs the program.
  void refused(const std::string& authorization);
  [[nodiscard]] std::shared_ptr<void> on_certificate_change(std::function<void()> changed) {
    return certificate_changed_.add(std::move(changed));
  }

 private:
  /// One run of the program.
  struct Run {
    // Used by the Wait that has set is_busy:
    std::unique_ptr<Process> process;  // null before the start and after the end
    std::shared_ptr<const ExecCredential> answer;
    std::string problem;
    // The arguments of ExecOptions::on_call, if there was a call:
    int exit_code = 0;
    std::optional<ExecOutcome> outcome;

    // Guarded by the mutex of the plugin:
    std::size_t waits = 0;
    bool is_busy = false;  // a Wait starts, reads or ends the program
    bool is_started = false;
    bool is_done = false;
    bool was_stopped = false;   // without a result: no Wait was left
    bool is_reported = false;   // to the hooks and the log of one caller
    bool keeps_older = false;   // the answer is that of an earlier run
    /// The deadline of the first Wait that was not willing to wait any longer.
    std::optional<std::chrono::milliseconds> exceeded;
    std::vector<std::weak_ptr<Waker>> wakers;
    std::uint64_t round = 1;  // of `wakers`
  };
  using Wakers = std::vector<std::weak_ptr<Waker>>;

  /// Continues with the run as far as possible without waiting. Returns true once it has a result.
  [[nodiscard]] bool advance(Run& run, const CredentialsOptions& caller,
                             std::optional<std::chrono::milliseconds> exceeded) const noexcept;
  [[nodiscard]] std::unique_ptr<Process> start(Run& run, const CredentialsOptions& caller) const;
  [[nodiscard]] ExecCredential read_result(Run& run, const CredentialsOptions& caller,
                                           std::optional<std::chrono::milliseconds> exceeded) const;
  /// Publishes the result of the run. Returns true if it has a new certificate.
  [[nodiscard]] bool finish_locked(Run& run, const CredentialsOptions& caller) noexcept;
  /// Ends a run for which nobody waits.
  void abandon(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Run>& run) noexcept;
  [[nodiscard]] static Wakers take_wakers_locked(Run& run) noexcept;
  void report(const Run& run, const CredentialsOptions& caller) const;
  [[nodiscard]] std::string message(std::string_view problem) const;
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
