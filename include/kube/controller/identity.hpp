// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// @file
/// Names that identify this process and its host.
namespace kube {

/// Returns the name of the machine, or of the pod; "localhost" if there is none.
[[nodiscard]] std::string host_name();

/// Returns a random UUID (version 4).
[[nodiscard]] std::string random_uuid();

/// Returns a unique name for this process among the replicas of its program: "<host name>_<random
/// uuid>".
[[nodiscard]] std::string make_identity();

/// Returns the namespace of the pod this process runs in. Throws kube::Error outside a cluster.
[[nodiscard]] std::string pod_namespace(
    const std::string& file = "/var/run/secrets/kubernetes.io/serviceaccount/namespace");

}  // namespace kube
