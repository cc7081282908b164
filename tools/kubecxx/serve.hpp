// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

/// Adds `kubecxx serve`. It runs while the command line is parsed; what goes wrong is thrown: CLI::ValidationError
/// for options that do not fit together, kube::Error for the rest.
void add_serve(CLI::App& app);
