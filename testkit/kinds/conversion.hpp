// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/store/stored_object.hpp"

/// Conversion between the stored and the served version of an object.
namespace kube::testkit::detail {

/// Returns the stored object as `resource` serves it: converted to its version and, for a custom
/// resource whose schema has changed since the last write, pruned and defaulted (CD-5 to CD-7).
[[nodiscard]] StoredObject as_served(ObjectCodec& codec, const Resource& resource,
                                     const StoredObject& stored);

/// Converts an object of `resource` to the stored version.
[[nodiscard]] Value to_storage_form(const Resource& resource, Value object);

}  // namespace kube::testkit::detail
