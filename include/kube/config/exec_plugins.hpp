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

/// Lets all credentials that are made from equal exec configurations for equal clusters share one plugin: it
/// runs once for all of them, which matters when it asks a person for a password. Results are forgotten when
/// the last credentials that use them are gone.
///
/// Thread safety: credentials of any threads may use one at the same time.
class ExecPlugins {
 public:
  ExecPlugins();
  ExecPlugins(const ExecPlugins&) = delete;
  ExecPlugins& operator=(const ExecPlugins&) = delete;

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::ExecPluginTable> core_;
};

/// How a run of a plugin ended.
enum class ExecOutcome {
  kSuccess,
  kFailed,         ///< an exit code other than 0, or a signal
  kNotFound,       ///< there is no such program
  kInternalError,  ///< it could not be started, took too long, or printed something else
};

/// How plugins run. Any field may be left out.
struct ExecOptions {
  /// Null shares with all others of the process that leave it null.
  std::shared_ptr<ExecPlugins> plugins = nullptr;
  /// A plugin that takes longer is killed. Long enough for a person who looks for a second factor.
  std::chrono::milliseconds deadline = std::chrono::minutes{10};
  /// A plugin that prints more is killed.
  std::size_t max_output = std::size_t{1} << 20;
  /// For metrics, called after each run, and with the end of the certificate that a run gave, if it gave one.
  std::function<void(int exit_code, ExecOutcome outcome)> on_call = nullptr;
  std::function<void(std::optional<Clock::WallTime> expires)> on_certificate = nullptr;
};

}  // namespace kube
