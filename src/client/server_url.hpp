// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/url.hpp"
#include <kube/config/config.hpp>

namespace kube::detail {

/// Parses Config::host: a host, host:port or URL; empty means localhost. Without a scheme it is
/// https if any TLS field is set. The path has no trailing slash. Throws a ConfigError that quotes
/// it.
[[nodiscard]] Url parse_server_url(const Config& config);

}  // namespace kube::detail
