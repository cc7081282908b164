// SPDX-License-Identifier: Apache-2.0
#include <kube/base/feature_gates.hpp>

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <vector>

namespace kube {
namespace {

/// An environment, and the lines that were logged.
struct World {
  std::map<std::string, std::string> variables;
  int lookups = 0;
  std::vector<std::string> lines;

  FeatureGates gates() {
    return FeatureGates{Logger{[this](LogLevel, std::string_view, std::string_view line) {
                          lines.emplace_back(line);
                        }},
                        [this](const std::string& name) -> std::optional<std::string> {
                          ++lookups;
                          const auto found = variables.find(name);
                          if (found == variables.end()) return std::nullopt;
                          return found->second;
                        }};
  }
};

// GE-3, X-1
TEST(FeatureGates, HaveTheDefaultsOfTheSpecification) {
  World world;
  FeatureGates gates = world.gates();
  const std::map<std::string_view, bool> expected{{"WatchListClient", true},
                                                  {"InOrderInformers", true},
                                                  {"InOrderInformersBatchProcess", true},
                                                  {"InformerResourceVersion", true},
                                                  {"AtomicFIFO", true},
                                                  {"UnlockWhileProcessingFIFO", true},
                                                  {"ClientsAllowCARotation", true},
                                                  {"ClientsAllowTLSCacheGC", true},
                                                  {"ClientsAllowCBOR", false},
                                                  {"ClientsPreferCBOR", false}};
  ASSERT_EQ(expected.size(), kFeatureCount);
  for (std::size_t at = 0; at < kFeatureCount; ++at) {
    const auto feature = static_cast<Feature>(at);
    EXPECT_EQ(gates.enabled(feature), expected.at(feature_name(feature))) << feature_name(feature);
    EXPECT_EQ(feature_default(feature), expected.at(feature_name(feature)));
  }
}

// GE-2, X-2
TEST(FeatureGates, ReadTheEnvironmentOnceAtTheFirstQuery) {
  World world;
  FeatureGates gates = world.gates();
  EXPECT_EQ(world.lookups, 0);
  world.variables = {{"KUBE_FEATURE_WatchListClient", "false"},
                     {"KUBE_FEATURE_ClientsAllowCBOR", "T"},
                     {"kube_feature_AtomicFIFO", "false"}};

  EXPECT_FALSE(gates.enabled(Feature::kWatchListClient));
  world.variables.clear();
  EXPECT_FALSE(gates.enabled(Feature::kWatchListClient));
  EXPECT_TRUE(gates.enabled(Feature::kClientsAllowCbor));
  EXPECT_TRUE(gates.enabled(Feature::kAtomicFifo));
}

// GE-2, X-3
TEST(FeatureGates, PreferTheProgramOverTheEnvironment) {
  World world{.variables = {{"KUBE_FEATURE_WatchListClient", "0"}}, .lines = {}};
  FeatureGates gates = world.gates();
  gates.set(Feature::kWatchListClient, true);
  gates.set("ClientsPreferCBOR", true);

  EXPECT_TRUE(gates.enabled(Feature::kWatchListClient));
  EXPECT_TRUE(gates.enabled(Feature::kClientsPreferCbor));
}

// GE-2, X-3
TEST(FeatureGates, LogAndIgnoreInvalidBooleans) {
  World world{.variables = {{"KUBE_FEATURE_WatchListClient", "maybe"}}, .lines = {}};
  FeatureGates gates = world.gates();

  EXPECT_TRUE(gates.enabled(Feature::kWatchListClient));
  ASSERT_EQ(world.lines.size(), 1U);
  EXPECT_EQ(world.lines[0],
            "KUBE_FEATURE_WatchListClient is \"maybe\", which is not a boolean; it is ignored");
}

// GE-3, X-4
TEST(FeatureGates, DoNotMoveALockedGate) {
  World world{.variables = {{"KUBE_FEATURE_InOrderInformers", "false"}}, .lines = {}};
  FeatureGates gates = world.gates();

  EXPECT_TRUE(gates.enabled(Feature::kInOrderInformers));
  EXPECT_EQ(world.lines.size(), 1U);
  EXPECT_THROW(gates.set(Feature::kInOrderInformers, false), std::invalid_argument);
  EXPECT_NO_THROW(gates.set("InOrderInformers", true));
}

// querying an unknown gate does not compile.
TEST(FeatureGates, RejectUnknownGates) {
  World world;
  FeatureGates gates = world.gates();
  EXPECT_THROW(gates.set("watchlistclient", true), std::invalid_argument);
}

}  // namespace
}  // namespace kube
