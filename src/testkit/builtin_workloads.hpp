// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <vector>

#include "field_error.hpp"

namespace kube::testkit::detail {

/// Adds what is wrong with a pod. `live` is the stored object on update, else null.
void check_pod(const Value& object, const Value* live, std::vector<FieldError>& errors);
/// The same for a deployment, replica set, stateful set or daemon set.
void check_workload(const Value& object, const Value* live, std::vector<FieldError>& errors);
void check_job(const Value& object, const Value* live, std::vector<FieldError>& errors);

}  // namespace kube::testkit::detail
