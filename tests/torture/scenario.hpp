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

/// A promise that does not hold after a fault. No std::exception, so that nothing takes it for an error of the library.
struct Violation {
  std::string text;
};

/// Something to do with the library, again and again, while one call after the other fails.
class Scenario {
 public:
  Scenario() = default;
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// What fails in this scenario.
  [[nodiscard]] virtual std::vector<FaultKind> kinds() const = 0;
  /// Brings the world to where each run begins. Nothing fails meanwhile, but servers may still have to notice that
  /// clients have gone.
  virtual void prepare() = 0;
  /// The run; calls of the library are made in a Subject scope. It either comes to its end and has checked that all is
  /// as it should be, or throws the library's error, which must be an std::exception that gives a reason. Throws
  /// Violation if a promise was broken. On return, everything that the run has made is gone.
  virtual void run() = 0;
};

struct ScenarioEntry {
  const char* about;
  std::function<std::unique_ptr<Scenario>()> make;
};
/// All scenarios, by name.
[[nodiscard]] const std::map<std::string, ScenarioEntry>& scenarios();

/// Waits until `condition` holds; throws Violation with what `describe` says if it does not within a generous limit.
void eventually(std::string_view what, const std::function<bool()>& condition,
                const std::function<std::string()>& describe = nullptr);

}  // namespace kube::torture
