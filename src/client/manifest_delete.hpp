// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/options.hpp>

#include <stop_token>
#include <string_view>

namespace kube::detail {

/// Requests the deletion of an object. Returns false if it does not exist, or if another object has
/// its name (DeleteOptions::uid).
[[nodiscard]] bool request_deletion(const Resource<meta::v1::PartialObjectMetadata>& resource,
                                    std::string_view name, const DeleteOptions& options,
                                    std::stop_token stop);

}  // namespace kube::detail
