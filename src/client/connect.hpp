// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server_url.hpp"

#include <kube/base/byte_budget.hpp>
#include <kube/client/client_options.hpp>
#include <kube/config/config.hpp>

#include <memory>

/// What a client is made of.
namespace kube::detail {

/// The configuration with CBOR replaced by JSON, as it is not implemented. Throws ConfigError for a content
/// type that bodies cannot be written in.
[[nodiscard]] Config with_known_content_types(Config config);

/// Throws ConfigError.
[[nodiscard]] std::shared_ptr<Credentials> connect_credentials(const Config& config,
                                                               const ClientOptions& options,
                                                               const ServerUrl& server);
/// Throws ConfigError if credentials would cross a network in the clear, unless the options allow it.
void require_protected(const ServerUrl& server, const ClientOptions& options);
[[nodiscard]] std::shared_ptr<Transport> connect_transport(
    const Config& config, const ClientOptions& options, const ServerUrl& server,
    const std::shared_ptr<Credentials>& credentials, std::shared_ptr<ByteBudget> budget);

}  // namespace kube::detail
