// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Service accounts of pods (AD-6).
namespace kube::testkit::detail {

/// Gives a new pod its account (`default` if it names none), a volume with a token for it unless the pod or the account
/// wants none, and the account's secrets for images. Throws ApiError 403 if there is no such account.
void mount_service_account(Services& services, const Resource& resource, Value& pod);

}  // namespace kube::testkit::detail
