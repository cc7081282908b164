// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <vector>

#include "testkit/kinds/resource_catalog.hpp"

namespace kube::testkit::detail {

/// The warning that every answer about a deprecated built-in resource carries; empty for others.
[[nodiscard]] std::string deprecation_of(const Resource& resource);

/// Warnings about fields and annotations of a valid object that are deprecated or probably mistakes. `live` is the
/// stored object on update, else null; an update that does not change the spec has none.
[[nodiscard]] std::vector<std::string> warnings_about(const Resource& resource, const Value& object,
                                                      const Value* live);

}  // namespace kube::testkit::detail
