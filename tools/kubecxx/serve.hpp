// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

/// Adds `kubecxx serve`. The command runs while the command line is parsed. Errors are thrown:
/// CLI::ValidationError for options that conflict, kube::Error for all others.
void add_serve(CLI::App& app);
