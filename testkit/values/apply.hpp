// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// The writer of a request: everything that a managedFields entry records except the fields (SA-5).
struct FieldManager {
  std::string name;         ///< fieldManager, or the result of manager_from_user_agent()
  std::string api_version;  ///< of the request: "apps/v1"
  std::string subresource;  ///< "status", "scale"; empty for the main resource
  Clock::WallTime now;
  /// An empty managedFields list is ignored for custom resources; for built-in kinds it clears all
  /// entries (SA-7).
  bool custom_resource = false;
  /// Set for the main resource of a kind with a subresource `status`: writes there do not own
  /// status fields.
  bool ignore_status = false;
};

/// Returns the manager of a request without fieldManager: User-Agent up to the first '/', "unknown"
/// if empty (SA-7).
[[nodiscard]] std::string manager_from_user_agent(std::string_view user_agent);

/// Returns `next` with updated managedFields after a create (`live` is absent), update, or patch
/// other than apply. Fields that differ between `live` and `next` become owned by `who` with
/// operation Update; removed fields are dropped from all entries (SA-5 to SA-7). managedFields that
/// a client sent in `next` replace those of `live`, unless they are empty or malformed, or the
/// request is for a subresource.
///
/// Call it when `next` has its defaults, and those parts of `live` that this request may not
/// change, but before the server adds its own fields: allocated addresses and protection finalizers
/// have no owner. Never fails because of the content of the objects.
[[nodiscard]] Value track_update(const SchemaNode& schema, const Value& live, Value next,
                                 const FieldManager& who);

/// Like track_update(), after the number of replicas at `path` was written through the scale
/// subresource (ST-4): it has no owner if it is zero, or if it had none before.
[[nodiscard]] Value track_scale(const SchemaNode& schema, const Value& live, Value next,
                                const FieldManager& who, std::string_view path);

/// Server-side apply (SA-1 to SA-9): returns the result of applying `config` to `live` (absent:
/// create), with managedFields. Defaulting, validation and storage are left to the caller; call
/// keep_old_timestamps() before the comparison that decides whether anything changed.
///
/// Throws ApiError: 409 with one cause per field on conflict unless `force`, 500 with an empty
/// reason if `config` does not match the schema or has duplicate list elements, 400 if it has
/// managedFields. The other checks of SA-1 (name, kind, apiVersion, fieldManager) are left to the
/// caller.
///
/// A field manager "kubectl" may take over the fields recorded in the annotation of client-side
/// apply, and keeps that annotation up to date (KU-8). For a subresource, `config` must contain
/// only fields that may be changed there (SA-9); see restrict_to_status().
[[nodiscard]] Value apply_patch(const SchemaNode& schema, const Value& live, const Value& config,
                                const FieldManager& who, bool force);

/// Returns the part of an applied configuration that is relevant for the subresource `status`:
/// identity and status.
[[nodiscard]] Value restrict_to_status(Value config);

/// Returns `next` with the times of managedFields taken from `live` if only these times differ
/// (RV-2).
[[nodiscard]] Value keep_old_timestamps(const Value& live, Value next);

}  // namespace kube::testkit::detail
