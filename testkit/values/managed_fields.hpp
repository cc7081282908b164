// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/field_set.hpp"

#include <kube/object/value.hpp>

#include <map>
#include <optional>
#include <string>
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

  /// What tells entries apart (SA-5), as text: for appliers without the apiVersion.
  [[nodiscard]] std::string identity() const;
  /// `"m1" with subresource "status" using v1`: how conflicts name it (SA-4).
  [[nodiscard]] std::string shown() const;
};

/// The entries of an object, by identity.
using ManagedEntries = std::map<std::string, ManagedEntry>;

/// Reads metadata.managedFields; nothing if one of the entries cannot be read.
[[nodiscard]] std::optional<ManagedEntries> read_managed_fields(const Value& object);

/// Writes metadata.managedFields in the order of SA-5; removes it if there are no entries.
void write_managed_fields(Value& object, const ManagedEntries& entries);

/// More than ten entries of operation Update: merges the oldest into `ancient-changes` (SA-7).
void limit_updaters(ManagedEntries& entries);

}  // namespace kube::testkit::detail
