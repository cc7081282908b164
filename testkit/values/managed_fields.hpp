// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/field_set.hpp"

#include <kube/object/value.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// One entry of managedFields.
struct ManagedEntry {
  std::string manager;
  std::string operation;  ///< "Apply" or "Update"
  std::string api_version;
  std::string subresource;
  std::string time;  ///< RFC 3339; may be empty
  FieldSet fields;

  /// The identity of an entry (SA-5) as text; for operation Apply without the apiVersion.
  [[nodiscard]] std::string identity() const;
  /// The name of the manager in conflict messages (SA-4): `"m1" with subresource "status" using
  /// v1`. `version` is the apiVersion to show.
  [[nodiscard]] std::string shown(std::string_view version) const;
};

/// The entries of an object, by identity.
using ManagedEntries = std::map<std::string, ManagedEntry>;

/// Parses metadata.managedFields. Returns nothing if an entry is malformed.
[[nodiscard]] std::optional<ManagedEntries> read_managed_fields(const Value& object);

/// Writes metadata.managedFields in the order of SA-5; removes it if there are no entries.
void write_managed_fields(Value& object, const ManagedEntries& entries);

/// Limits the entries of operation Update to ten by merging the oldest into `ancient-changes`
/// (SA-7).
void limit_updaters(ManagedEntries& entries);

}  // namespace kube::testkit::detail
