// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Default classes, which are marked by an annotation; the newest wins (AD-5).
namespace kube::testkit::detail {

/// Sets the default storage class of a claim that names none, if there is a default.
void choose_storage_class(Services& services, Value& claim);
/// Sets the default class of an ingress, likewise.
void choose_ingress_class(Services& services, Value& ingress);

}  // namespace kube::testkit::detail
