// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>

#include <string>

/// The library's log on the standard error output, from `level` ("debug", "info", "warning", "error") on.
[[nodiscard]] kube::Logger make_logger(const std::string& level);
