// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Returns the value of an environment variable, or nullopt if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Returns a lookup in the environment of the process.
[[nodiscard]] EnvironmentLookup process_environment();

/// The feature gates of client-go, by its names. kWatchListClient sets the default of `watch_list`
/// in the options of informers and reflectors; the others record what this library does anyway.
enum class Feature {
  kAtomicFifo,
  kClientsAllowCaRotation,
  kClientsAllowCbor,
  kClientsAllowTlsCacheGc,
  kClientsPreferCbor,
  kInformerResourceVersion,
  kInOrderInformers,
  kInOrderInformersBatchProcess,
  kUnlockWhileProcessingFifo,
  kWatchListClient,
};
/// The number of enumerators of Feature.
inline constexpr std::size_t kFeatureCount = 10;

/// The name of the gate, as in KUBE_FEATURE_<name>.
[[nodiscard]] std::string_view feature_name(Feature feature) noexcept;
/// The default of the feature. Also used by components that have no FeatureGates.
[[nodiscard]] bool feature_default(Feature feature) noexcept;

/// Determines which features are enabled: the value given to set(), else the environment variable
/// KUBE_FEATURE_<name>, else the default. The environment is read once, at the first call of
/// enabled(); a value that is not a boolean is logged and ignored.
///
/// Informers do not consult it by themselves; a program passes the answer on:
///   options.watch_list = gates.enabled(kube::Feature::kWatchListClient);
///
/// Thread safety: all methods, from any thread.
class FeatureGates {
 public:
  /// `environment` looks up the variables; tests replace it.
  explicit FeatureGates(const Logger& log = {},
                        EnvironmentLookup environment = process_environment());

  /// Returns whether the feature is on.
  [[nodiscard]] bool enabled(Feature feature);
  /// Turns a feature on or off; takes precedence over the environment. Throws std::invalid_argument
  /// if the feature is locked to its default.
  void set(Feature feature, bool on);
  /// As above, by name. Also throws std::invalid_argument if no gate has this name.
  void set(std::string_view name, bool on);

 private:
  void read_environment();

  Logger log_;
  EnvironmentLookup environment_;
  std::once_flag read_;
  std::array<std::optional<bool>, kFeatureCount> found_;  // constant once read
  std::mutex mutex_;
  std::array<std::optional<bool>, kFeatureCount> set_;  // guarded by mutex_
};

}  // namespace kube
