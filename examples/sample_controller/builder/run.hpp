// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/program.hpp"

namespace sample {

/// The controller in a kube::Manager, which brings all that it needs. See RunController.
void run_builder(const kube::Config& config, const RunOptions& options, std::stop_token stop);

}  // namespace sample
