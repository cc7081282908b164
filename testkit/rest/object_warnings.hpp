// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <vector>

#include "testkit/kinds/resource_catalog.hpp"

namespace kube::testkit::detail {

/// Returns the warning sent with every response about a deprecated built-in resource; empty for
/// others.
[[nodiscard]] std::string deprecation_of(const Resource& resource);

/// Returns warnings about deprecated or probably mistaken fields and annotations of a valid object.
/// `live` is the stored object on update, else null. An update that does not change the spec has no
/// warnings.
[[nodiscard]] std::vector<std::string> warnings_about(const Resource& resource, const Value& object,
                                                      const Value* live);

}  // namespace kube::testkit::detail
