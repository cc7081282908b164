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

/// A value of the environment, or none if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Looks into the environment of the process.
[[nodiscard]] EnvironmentLookup process_environment();

/// What can be turned on and off, under the names that client-go gives it.
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

/// The name as in KUBE_FEATURE_<name>.
[[nodiscard]] std::string_view feature_name(Feature feature) noexcept;
/// What holds unless somebody says otherwise; also what those assume who were given no FeatureGates.
[[nodiscard]] bool feature_default(Feature feature) noexcept;

/// Which features are on: what set() said, else the environment variable KUBE_FEATURE_<name>, else the default.
/// The environment is read once, at the first call of enabled(); what is no boolean there is logged and
/// ignored. Thread safety: all methods, from any thread.
class FeatureGates {
 public:
  explicit FeatureGates(const Logger& log = {},
                        EnvironmentLookup environment = process_environment());

  [[nodiscard]] bool enabled(Feature feature);
  /// Throws std::invalid_argument if the feature cannot be moved off its default.
  void set(Feature feature, bool on);
  /// The same, by name; throws std::invalid_argument also if there is no such feature.
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
