// SPDX-License-Identifier: Apache-2.0
#include <kube/base/feature_gates.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace kube {
namespace {

struct Entry {
  std::string_view name;
  bool on = false;
  bool locked = false;
};

constexpr std::array<Entry, kFeatureCount> kFeatures{{
    {"AtomicFIFO", true},
    {"ClientsAllowCARotation", true},
    {"ClientsAllowCBOR", false},
    {"ClientsAllowTLSCacheGC", true},
    {"ClientsPreferCBOR", false},
    {"InformerResourceVersion", true},
    {"InOrderInformers", true, true},
    {"InOrderInformersBatchProcess", true},
    {"UnlockWhileProcessingFIFO", true},
    {"WatchListClient", true},
}};
static_assert(static_cast<std::size_t>(Feature::kWatchListClient) + 1 == kFeatureCount);

constexpr std::size_t index(Feature feature) { return static_cast<std::size_t>(feature); }

/// Accepts the same texts as Go's strconv.ParseBool.
std::optional<bool> parse_bool(std::string_view text) {
  constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(kTrue, text) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, text) != std::end(kFalse)) return false;
  return std::nullopt;
}

bool may_be(const Entry& entry, bool on) { return !entry.locked || entry.on == on; }

}  // namespace

EnvironmentLookup process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string_view feature_name(Feature feature) noexcept { return kFeatures[index(feature)].name; }

bool feature_default(Feature feature) noexcept { return kFeatures[index(feature)].on; }

FeatureGates::FeatureGates(const Logger& log, EnvironmentLookup environment)
    : log_(log.named("feature gates")), environment_(std::move(environment)) {}

bool FeatureGates::enabled(Feature feature) {
  std::call_once(read_, [this] { read_environment(); });
  const std::lock_guard guard{mutex_};
  const std::size_t at = index(feature);
  return set_[at].value_or(found_[at].value_or(kFeatures[at].on));
}

void FeatureGates::set(Feature feature, bool on) {
  const Entry& entry = kFeatures[index(feature)];
  if (!may_be(entry, on)) {
    throw std::invalid_argument{fmt::format("feature gate {} is always {}", entry.name, entry.on)};
  }
  const std::lock_guard guard{mutex_};
  set_[index(feature)] = on;
}

void FeatureGates::set(std::string_view name, bool on) {
  const auto* const found = std::ranges::find(kFeatures, name, &Entry::name);
  if (found == kFeatures.end()) {
    throw std::invalid_argument{fmt::format("there is no feature gate \"{}\"", name)};
  }
  set(static_cast<Feature>(found - kFeatures.begin()), on);
}

void FeatureGates::read_environment() {
  for (std::size_t at = 0; at < kFeatureCount; ++at) {
    const Entry& entry = kFeatures[at];
    const std::string variable = fmt::format("KUBE_FEATURE_{}", entry.name);
    const std::optional<std::string> text = environment_(variable);
    if (!text) continue;
    const std::optional<bool> on = parse_bool(*text);
    if (!on) {
      log_.warning("{} is \"{}\", which is not a boolean; it is ignored", variable, *text);
    } else if (!may_be(entry, *on)) {
      log_.warning("{} is ignored: the gate is always {}", variable, entry.on);
    } else {
      found_[at] = on;
    }
  }
}

}  // namespace kube
