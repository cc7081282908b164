// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/inside.hpp>
#include <kube/config/exec_config.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace kube {

namespace detail {
class ExecPluginTable;
}  // namespace detail

/// Registry of exec plugins. Credentials made from equal exec configurations for equal clusters
/// share one plugin: it runs once for all of them, which matters when it prompts for a password.
/// Results are dropped with the last credentials that use them.
///
/// Thread safety: may be used by credentials on any number of threads.
class ExecPlugins {
 public:
  ExecPlugins();
  ExecPlugins(const ExecPlugins&) = delete;
  ExecPlugins& operator=(const ExecPlugins&) = delete;

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::ExecPluginTable> core_;
};

/// The outcome of a plugin run.
enum class ExecOutcome {
  kSuccess,
  kFailed,         ///< an exit code other than 0, or a signal
  kNotFound,       ///< no such program
  kInternalError,  ///< not started, timed out, or invalid output
};

/// Limits and hooks for plugin runs. Every field is optional.
struct ExecOptions {
  /// If null, the process-wide default registry.
  std::shared_ptr<ExecPlugins> plugins = nullptr;
  /// A plugin that runs longer is killed. The default leaves time for a second factor.
  std::chrono::milliseconds deadline = std::chrono::minutes{10};
  /// A plugin that prints more is killed.
  std::size_t max_output = std::size_t{1} << 20;
  /// For metrics: called once after each run, with the options of one of those who waited for it.
  /// Must not wait.
  std::function<void(int exit_code, ExecOutcome outcome)> on_call = nullptr;
  /// For metrics: called likewise, with the expiry of the certificate that the run returned; none
  /// if it returned no certificate.
  std::function<void(std::optional<Clock::WallTime> expires)> on_certificate = nullptr;
};

}  // namespace kube
