// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/program.hpp"

namespace sample {

/// Runs the controller in a kube::Manager, which provides everything it needs. See RunController.
void run_builder(const kube::Config& config, const RunOptions& options, std::stop_token stop);

}  // namespace sample
