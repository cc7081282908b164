// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/validation/field_check.hpp"

/// Validation of built-in kinds, by API group. Each function reports the errors of an object that
/// already has its defaults; `live` is the stored object on update, else null.
namespace kube::testkit::detail {

using Validator = void (*)(const Field& object, const Value* live);

/// core/v1.
void validate_config_map(const Field& object, const Value* live);
void validate_secret(const Field& object, const Value* live);
void validate_namespace(const Field& object, const Value* live);
void validate_node(const Field& object, const Value* live);
void validate_endpoints(const Field& object, const Value* live);
void validate_event(const Field& object, const Value* live);
/// Validates an event of events.k8s.io/v1, given in the fields of core/v1.
void validate_modern_event(const Field& object, const Value* live);
void validate_service(const Field& object, const Value* live);
void validate_pod(const Field& object, const Value* live);
void validate_pod_template(const Field& object, const Value* live);
void validate_replication_controller(const Field& object, const Value* live);
void validate_persistent_volume(const Field& object, const Value* live);
void validate_persistent_volume_claim(const Field& object, const Value* live);
void validate_resource_quota(const Field& object, const Value* live);
void validate_limit_range(const Field& object, const Value* live);

/// apps/v1.
void validate_deployment(const Field& object, const Value* live);
void validate_replica_set(const Field& object, const Value* live);
void validate_stateful_set(const Field& object, const Value* live);
void validate_daemon_set(const Field& object, const Value* live);
void validate_controller_revision(const Field& object, const Value* live);

/// batch/v1.
void validate_job(const Field& object, const Value* live);
void validate_cron_job(const Field& object, const Value* live);

/// autoscaling and policy/v1.
void validate_autoscaler(const Field& object, const Value* live);
void validate_disruption_budget(const Field& object, const Value* live);

/// networking.k8s.io/v1 and discovery.k8s.io/v1.
void validate_ingress(const Field& object, const Value* live);
void validate_ingress_class(const Field& object, const Value* live);
void validate_network_policy(const Field& object, const Value* live);
void validate_service_cidr(const Field& object, const Value* live);
void validate_ip_address(const Field& object, const Value* live);
void validate_endpoint_slice(const Field& object, const Value* live);

/// rbac.authorization.k8s.io/v1.
void validate_role(const Field& object, const Value* live);
void validate_cluster_role(const Field& object, const Value* live);
void validate_role_binding(const Field& object, const Value* live);
void validate_cluster_role_binding(const Field& object, const Value* live);

/// storage.k8s.io/v1.
void validate_storage_class(const Field& object, const Value* live);
void validate_csi_driver(const Field& object, const Value* live);
void validate_csi_node(const Field& object, const Value* live);
void validate_csi_storage_capacity(const Field& object, const Value* live);
void validate_volume_attachment(const Field& object, const Value* live);
void validate_volume_attributes_class(const Field& object, const Value* live);

/// scheduling.k8s.io/v1, node.k8s.io/v1, coordination.k8s.io/v1 and resource.k8s.io/v1.
void validate_priority_class(const Field& object, const Value* live);
void validate_runtime_class(const Field& object, const Value* live);
void validate_lease(const Field& object, const Value* live);
void validate_device_class(const Field& object, const Value* live);
void validate_resource_claim(const Field& object, const Value* live);
void validate_resource_claim_template(const Field& object, const Value* live);
void validate_resource_slice(const Field& object, const Value* live);

/// admissionregistration.k8s.io/v1, flowcontrol.apiserver.k8s.io/v1, certificates.k8s.io/v1 and
/// apiregistration.k8s.io/v1.
void validate_webhook_configuration(const Field& object, const Value* live);
void validate_admission_policy(const Field& object, const Value* live);
void validate_admission_policy_binding(const Field& object, const Value* live);
void validate_flow_schema(const Field& object, const Value* live);
void validate_priority_level(const Field& object, const Value* live);
void validate_signing_request(const Field& object, const Value* live);
void validate_api_service(const Field& object, const Value* live);

}  // namespace kube::testkit::detail
