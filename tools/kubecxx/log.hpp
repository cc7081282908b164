// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>

#include <string>

/// Returns a logger that writes the library's log to standard error, from `level` ("debug", "info",
/// "warning", "error") on.
[[nodiscard]] kube::Logger make_logger(const std::string& level);
