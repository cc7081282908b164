// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// The ServiceAccount plugin (AD-6).
namespace kube::testkit::detail {

/// Sets the service account of a new pod (`default` if it names none), adds a token volume unless
/// the pod or the account opts out, and copies the account's imagePullSecrets. Throws ApiError 403
/// if the account does not exist.
void mount_service_account(Services& services, const Resource& resource, Value& pod);

}  // namespace kube::testkit::detail
