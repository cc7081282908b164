// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/values/apply.hpp"
#include "testkit/rest/rest.hpp"

/// Parts of a write that look at the metadata and the parts of objects.
namespace kube::testkit::detail {

/// A text in the metadata; empty if it is not there.
[[nodiscard]] std::string metadata_text(const Value& object, std::string_view field);
/// Puts the namespace of the URL into the object. Throws ApiError 400 if it has another one (CR-3).
void set_namespace(const RestRequest& request, Value& object);
/// Throws what UP-3 and RV-7 say about the version in the body of an update.
void check_update_version(const Resource& resource, const Value& object);
/// Checks the metadata of an update against the stored object and keeps what clients cannot change (UP-1 to
/// UP-5). Throws ApiError.
[[nodiscard]] std::vector<FieldError> keep_server_fields(const RestRequest& request,
                                                         const Value& live, Value& next);
/// The object after a write to a subresource, or to the main one: each changes only its own parts (ST-1,
/// ST-2).
[[nodiscard]] Value merge_parts(const Resource& resource, std::string_view subresource,
                                const Value& live, Value next);
/// A pod as it would be before a change if that were about nothing but resources.
[[nodiscard]] Value with_resources_of(const Value& live, const Value& next);
/// What the server once chose stays unless a write says otherwise.
void keep_allocated(const Resource& resource, const Value& live, Value& next);
/// Removes owner references that stand twice; true if there were any (CR-6).
bool deduplicate_owners(Value& object);
/// Throws ApiError 422 if the object is invalid; warns of what CEL rules say beside that. `strict` as in EngineOptions.
void refuse_invalid(RestRequest& request, bool strict, const Value& object, const Value* live,
                    std::vector<FieldError> errors = {});
[[nodiscard]] const SchemaNode& schema_of(const Resource& resource);
/// A path as custom resource definitions write it, ".spec.size", as Value::find() takes it.
[[nodiscard]] std::string without_dot(std::string_view path);
/// Where a resource says how many it wants, such as "spec.replicas".
[[nodiscard]] std::string replicas_path(const Resource& resource);
[[nodiscard]] FieldManager field_manager(const Services& services, const RestRequest& request,
                                         const WriteOptions& options);
[[nodiscard]] ApiError method_not_allowed_while_terminating(const Resource& resource,
                                                            std::string_view name);

}  // namespace kube::testkit::detail
