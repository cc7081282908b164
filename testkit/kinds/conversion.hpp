// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/store/stored_object.hpp"

/// Objects that are served in another form than they are stored in.
namespace kube::testkit::detail {

/// The stored object as `resource` shows it: converted to its version and, for custom resources whose schema
/// is another one than at the last write, pruned and defaulted (CD-5 to CD-7).
[[nodiscard]] StoredObject as_served(ObjectCodec& codec, const Resource& resource,
                                     const StoredObject& stored);

/// An object in the form of `resource`, as it is to be stored.
[[nodiscard]] Value to_storage_form(const Resource& resource, Value object);

}  // namespace kube::testkit::detail
