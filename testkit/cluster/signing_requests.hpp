// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>

#include "testkit/requests/engine.hpp"
#include "testkit/validation/field_check.hpp"

/// CertificateSigningRequests: the server sets the requester, and signing needs an approval.
namespace kube::testkit::detail {

inline constexpr std::string_view kSigningRequests =
    "certificatesigningrequests.certificates.k8s.io";

/// Sets name, uid, groups and extra of the requester in the spec, replacing those of the body.
void set_requester(const User& user, Value& request);

/// Sets missing times of conditions to `now`.
void stamp_conditions(Value& request, const std::string& now);

/// Validates conditions and certificate of a changed request.
void check_signing_status(const Field& object, const Value& live);

/// Throws ApiError 422 for an approval or denial that was not sent to `/approval`.
void check_no_new_approval(const Value& live, const Value& next);

}  // namespace kube::testkit::detail
