// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Who writes, and what: everything that ends up in a managedFields entry beside the fields (SA-5).
struct FieldManager {
  std::string name;         ///< fieldManager, or what manager_from_user_agent() says
  std::string api_version;  ///< of the request: "apps/v1"
  std::string subresource;  ///< "status", "scale"; empty for the main resource
  Clock::WallTime now;
  /// For custom resources an empty managedFields list means nothing; for built-in kinds it clears all (SA-7).
  bool custom_resource = false;
  /// Set it for the main resource of a kind with a subresource `status`: what is in status belongs to nobody
  /// who writes here.
  bool ignore_status = false;
};

/// The manager of a request that names none: User-Agent up to the first '/', "unknown" if empty (SA-7).
[[nodiscard]] std::string manager_from_user_agent(std::string_view user_agent);

/// `next` with managedFields brought up to date, after a create (`live` absent), update or patch other than
/// apply. What differs between `live` and `next` becomes owned by `who` as operation Update; fields that are
/// gone are forgotten (SA-5 to SA-7). managedFields in `next` that a client sent replace those of `live`,
/// unless there are none, they cannot be read, or the request is for a subresource.
///
/// Call it when `next` has its defaults, and those parts of `live` that this request may not change, but not
/// yet what the server adds on its own: nobody owns allocated addresses or protecting finalizers.
/// Never fails because of what is in the objects.
[[nodiscard]] Value track_update(const SchemaNode& schema, const Value& live, Value next,
                                 const FieldManager& who);

/// The same after the number of replicas at `path` was written through the scale (ST-4): that has no owner if it is
/// zero, or if it had none before.
[[nodiscard]] Value track_scale(const SchemaNode& schema, const Value& live, Value next,
                                const FieldManager& who, std::string_view path);

/// Server-side apply (SA-1 to SA-9): the object that results from applying `config` to `live` (absent: it is
/// created), with managedFields. Defaulting, validation and storage are the caller's; call
/// keep_old_timestamps() before the comparison that decides whether anything changed.
///
/// Throws ApiError: 409 with one cause per field on conflict unless `force`, 500 with an empty reason if
/// `config` does not fit the schema or has duplicate list elements, 400 if it has managedFields. The other
/// checks of SA-1 (name, kind, apiVersion, fieldManager) are the caller's.
/// A field manager "kubectl" may take over what the annotation of client-side apply says it owned, and keeps that
/// annotation up to date (KU-8).
/// For a subresource, `config` must hold nothing but what may be changed there (SA-9); see restrict_to_status().
[[nodiscard]] Value apply_patch(const SchemaNode& schema, const Value& live, const Value& config,
                                const FieldManager& who, bool force);

/// The part of an applied configuration that counts for the subresource `status`: identity and status.
[[nodiscard]] Value restrict_to_status(Value config);

/// `next`, with the times of managedFields taken from `live` if nothing but these times differs (RV-2).
[[nodiscard]] Value keep_old_timestamps(const Value& live, Value next);

}  // namespace kube::testkit::detail
