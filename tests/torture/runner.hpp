// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace kube::torture {

struct RunnerOptions {
  std::string scenario;
  /// Restricts the run to faults of this kind.
  std::optional<FaultKind> kind = std::nullopt;
  /// Restricts the run to this call of that kind.
  std::optional<std::uint64_t> number = std::nullopt;
  std::optional<std::uint64_t> burst = std::nullopt;
  std::optional<int> error = std::nullopt;
  /// Maximum number of runs for each kind, evenly spread; 0: every call fails once.
  std::uint64_t runs = 0;
  bool verbose = false;
};

/// Runs a scenario with one fault after another. Prints a summary, and how to reproduce failures.
/// Returns the number of runs with a violation.
[[nodiscard]] int torture(const RunnerOptions& options);

}  // namespace kube::torture
