// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

/// Defaults of pods and of what else has the parts of a pod.
namespace kube::testkit::detail {

/// Fills in the spec of a pod or of a template of pods.
void default_pod_spec(Value& spec);
/// The same for `template.spec` in `owner`, which is the spec of a workload.
void default_pod_template(Value& owner);
/// Fills in what only a pod has, and no template: requests from limits, ports of the host.
void default_pod(Value& pod);
/// Fills in the spec of a claim of a volume.
void default_claim_spec(Value& spec);
/// Fills in the volume sources that pods and persistent volumes have in common.
void default_volume_source(Value& volume);
/// Rounds amounts up to thousandths, the least that a server keeps. `list` maps names to quantities in canonical form.
void round_amounts(Value& list);
/// The same for the requests and limits of `owner.resources`.
void round_resources(Value& owner);

}  // namespace kube::testkit::detail
