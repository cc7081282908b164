// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario.hpp"

namespace kube::torture {

void add_informer_scenarios(std::map<std::string, ScenarioEntry>& all);

}  // namespace kube::torture
