// SPDX-License-Identifier: Apache-2.0
#include "informer_scenarios.hpp"
#include "operator_scenarios.hpp"
#include "scenario.hpp"
#include "server_scenarios.hpp"

namespace kube::torture {

const std::map<std::string, ScenarioEntry>& scenarios() {
  static const auto all = [] {
    std::map<std::string, ScenarioEntry> made;
    add_informer_scenarios(made);
    add_operator_scenarios(made);
    add_server_scenarios(made);
    return made;
  }();
  return all;
}

}  // namespace kube::torture
