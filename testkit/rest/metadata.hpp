// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/rest/rest.hpp"
#include "testkit/values/apply.hpp"

/// Helpers of writes for metadata and for the parts of an object that a write may change.
namespace kube::testkit::detail {

/// Returns a string field of the metadata; empty if it is absent.
[[nodiscard]] std::string metadata_text(const Value& object, std::string_view field);
/// Returns the string at a path; empty if it is absent.
[[nodiscard]] std::string member_text(const Value& object, std::string_view path);
/// Sets the namespace of the URL. Throws ApiError 400 if the object has a different one (CR-3).
void set_namespace(const RestRequest& request, Value& object);
/// Checks the resourceVersion in the body of an update. Throws as UP-3 and RV-7 define.
void check_update_version(const Resource& resource, const Value& object);
/// Validates the metadata of an update against the stored object and restores the fields that
/// clients cannot change (UP-1 to UP-5). Throws ApiError.
[[nodiscard]] std::vector<FieldError> keep_server_fields(const RestRequest& request,
                                                         const Value& live, Value& next);
/// Combines `live` and `next`: a write to a subresource, or to the main resource, changes only its
/// own parts (ST-1, ST-2).
[[nodiscard]] Value merge_parts(const Resource& resource, std::string_view subresource,
                                const Value& live, Value next);
/// Returns `live` with the container resources of `next`, so that a comparison ignores changes of
/// resources.
[[nodiscard]] Value with_resources_of(const Value& live, const Value& next);
/// Keeps values that the server has allocated, unless the write sets them.
void keep_allocated(const Resource& resource, const Value& live, Value& next);
/// Removes duplicate owner references. Returns whether there were any (CR-6).
bool deduplicate_owners(Value& object);
/// Throws ApiError 422 if the object is invalid; adds warnings of CEL rules. `strict` as in
/// EngineOptions.
void refuse_invalid(RestRequest& request, bool strict, const Value& object, const Value* live,
                    std::vector<FieldError> errors = {});
[[nodiscard]] const SchemaNode& schema_of(const Resource& resource);
/// Converts a path of a CustomResourceDefinition, ".spec.size", to the form of Value::find().
[[nodiscard]] std::string without_dot(std::string_view path);
/// Returns the path of the desired replicas, such as "spec.replicas".
[[nodiscard]] std::string replicas_path(const Resource& resource);
[[nodiscard]] FieldManager field_manager(const Services& services, const RestRequest& request,
                                         const WriteOptions& options);
[[nodiscard]] ApiError method_not_allowed_while_terminating(const Resource& resource,
                                                            std::string_view name);

}  // namespace kube::testkit::detail
