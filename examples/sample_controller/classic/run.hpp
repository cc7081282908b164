// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/program.hpp"

namespace sample {

/// The controller with all that it needs: a client, two factories and, if asked for, an election. See
/// RunController.
void run_classic(const kube::Config& config, const RunOptions& options,
                 const std::stop_token& stop);

}  // namespace sample
