// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace kube::testkit::cel {

/// The largest size that values of a schema can have in a request, for cost estimates.
struct SchemaSizes {
  /// Number of elements of a list or map, or length of a text; 0 for other values.
  std::uint64_t max_elements = 0;
  /// The fewest bytes of such a value in JSON.
  std::uint64_t min_bytes = 0;
  /// The values of a list or map.
  std::unique_ptr<SchemaSizes> element = nullptr;
  /// The fields of an object, by the name used in expressions.
  std::map<std::string, std::unique_ptr<SchemaSizes>, std::less<>> fields = {};
};

/// Returns the sizes of a structural schema, or null if expressions cannot access its values: the
/// same schemas as those for which type_of_schema() returns null.
[[nodiscard]] std::unique_ptr<SchemaSizes> sizes_of_schema(const Value& schema,
                                                           bool is_resource_root);

/// Returns how many values with this many bytes at least a request can contain.
[[nodiscard]] std::uint64_t most_values(std::uint64_t min_bytes);

}  // namespace kube::testkit::cel
