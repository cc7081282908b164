// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::torture {

/// A promise that is violated after a fault. Not an std::exception, so that no code mistakes it for
/// an error of the library.
struct Violation {
  std::string text;
};

/// A use of the library that is repeated while one call after another fails.
class Scenario {
 public:
  Scenario() = default;
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// The kinds of faults of this scenario.
  [[nodiscard]] virtual std::vector<FaultKind> kinds() const = 0;
  /// Restores the initial state of each run. No faults are injected here, but servers may still
  /// have to notice that clients have disconnected.
  virtual void prepare() = 0;
  /// Executes the run; calls of the library are made in a Subject scope. It either completes and
  /// has verified the result, or throws the library's error, which must be an std::exception with a
  /// message. Throws Violation if a promise was broken. On return, everything that the run has
  /// created is destroyed.
  virtual void run() = 0;
};

struct ScenarioEntry {
  const char* about;
  std::function<std::unique_ptr<Scenario>()> make;
};
/// Returns all scenarios, by name.
[[nodiscard]] const std::map<std::string, ScenarioEntry>& scenarios();

/// Waits until `condition` holds; after a generous limit, throws Violation with the text of
/// `describe`.
void eventually(std::string_view what, const std::function<bool()>& condition,
                const std::function<std::string()>& describe = nullptr);

}  // namespace kube::torture
