// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

/// Defaults of pods, and of other kinds that contain parts of a pod.
namespace kube::testkit::detail {

/// Fills in the spec of a pod or of a pod template.
void default_pod_spec(Value& spec);
/// Fills in `template.spec` of `owner`, which is the spec of a workload.
void default_pod_template(Value& owner);
/// Fills in fields that apply to pods but not to templates: requests from limits, host ports.
void default_pod(Value& pod);
/// Fills in the spec of a persistent volume claim.
void default_claim_spec(Value& spec);
/// Fills in the volume sources that pods and persistent volumes have in common.
void default_volume_source(Value& volume);
/// Rounds amounts up to thousandths, the smallest unit that a server stores. `list` maps names to
/// quantities in canonical form.
void round_amounts(Value& list);
/// Rounds the requests and limits of `owner.resources`.
void round_resources(Value& owner);

}  // namespace kube::testkit::detail
