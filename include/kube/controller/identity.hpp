// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Who and where this process is.
namespace kube {

/// The name of the machine, or of the pod; "localhost" if there is none.
[[nodiscard]] std::string host_name();

/// A random UUID (version 4).
[[nodiscard]] std::string random_uuid();

/// A name for this process among the replicas of its program: "<host name>_<random uuid>".
[[nodiscard]] std::string make_identity();

/// The namespace of the pod this process runs in. Throws kube::Error outside of a cluster.
[[nodiscard]] std::string pod_namespace(
    const std::string& file = "/var/run/secrets/kubernetes.io/serviceaccount/namespace");

}  // namespace kube
