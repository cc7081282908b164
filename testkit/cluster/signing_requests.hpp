// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>

#include "testkit/requests/engine.hpp"
#include "testkit/validation/field_check.hpp"

/// CertificateSigningRequests: who asks is known to the server, and who signs needs an approval.
namespace kube::testkit::detail {

inline constexpr std::string_view kSigningRequests =
    "certificatesigningrequests.certificates.k8s.io";

/// Writes the requester's name, uid, groups and extra into the spec, whatever the body claims.
void set_requester(const User& user, Value& request);

/// Gives conditions without times those of now.
void stamp_conditions(Value& request, const std::string& now);

/// Conditions and certificate of a changed request.
void check_signing_status(const Field& object, const Value& live);

/// Refuses an approval or denial that does not come through `/approval` (422).
void check_no_new_approval(const Value& live, const Value& next);

}  // namespace kube::testkit::detail
