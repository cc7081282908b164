// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/url.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/client/client_options.hpp>
#include <kube/config/config.hpp>

#include <memory>

/// The parts that a client is made of.
namespace kube::detail {

/// Returns the configuration with CBOR, which is not implemented, replaced by JSON. Throws
/// ConfigError for a content type in which bodies cannot be encoded.
[[nodiscard]] Config with_known_content_types(Config config);

/// Returns the credentials of the options, or makes those of the Config. Throws ConfigError.
[[nodiscard]] std::shared_ptr<Credentials> connect_credentials(const Config& config,
                                                               const ClientOptions& options,
                                                               const Url& server);
/// Throws ConfigError if credentials would be sent over a network without TLS, unless the options
/// allow it.
void require_protected(const Url& server, const ClientOptions& options);
[[nodiscard]] std::shared_ptr<Transport> connect_transport(
    const Config& config, const ClientOptions& options, const Url& server,
    const std::shared_ptr<Credentials>& credentials, std::shared_ptr<ByteBudget> budget);

}  // namespace kube::detail
