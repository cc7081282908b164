// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Classes that are marked as the default by an annotation; the newest if there are several (AD-5).
namespace kube::testkit::detail {

/// Gives a claim that names no storage class the default one, if there is one.
void choose_storage_class(Services& services, Value& claim);
/// The same for an ingress and its class.
void choose_ingress_class(Services& services, Value& ingress);

}  // namespace kube::testkit::detail
