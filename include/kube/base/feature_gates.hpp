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

/// The features that can be turned on and off, with the names of client-go's feature gates.
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
inline constexpr std::size_t kFeatureCount = 10;

/// The name of the gate, as in KUBE_FEATURE_<name>.
[[nodiscard]] std::string_view feature_name(Feature feature) noexcept;
/// The default of the feature. Also used by components that have no FeatureGates.
[[nodiscard]] bool feature_default(Feature feature) noexcept;

/// Determines which features are enabled: the value given to set(), else the environment variable
/// KUBE_FEATURE_<name>, else the default. The environment is read once, at the first call of
/// enabled(); a value that is not a boolean is logged and ignored.
///
/// Thread safety: all methods, from any thread.
class FeatureGates {
 public:
  explicit FeatureGates(const Logger& log = {},
                        EnvironmentLookup environment = process_environment());

  [[nodiscard]] bool enabled(Feature feature);
  /// Throws std::invalid_argument if the feature is locked to its default.
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
