// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/program.hpp"

namespace sample {

/// Runs the controller with everything it needs: a client, two factories and, if enabled, leader
/// election. See RunController.
void run_classic(const kube::Config& config, const RunOptions& options,
                 const std::stop_token& stop);

}  // namespace sample
