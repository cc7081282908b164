// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// The JSONPath subset of additionalPrinterColumns: `.spec.replicas`, `.spec.list[0].x`,
/// `.spec.list[-1]`, `.spec.list[*].x`, `.metadata.annotations['a.b/c']`, `.metadata.labels.a\.b`,
/// `.status.conditions[?(@.type=="Ready")].status` (with == and != against a string, number or
/// boolean).
class JsonPath {
 public:
  /// Parses a path. Throws std::invalid_argument if it is not in this subset.
  explicit JsonPath(std::string_view text);

  /// Returns the first value that the path selects, or null.
  [[nodiscard]] const Value* first(const Value& root) const;

 private:
  struct Step {
    enum class Kind { kMember, kIndex, kAll, kFilter };
    Kind kind = Kind::kMember;
    std::string name;                      ///< member name
    std::int64_t index = 0;                ///< negative counts from the end
    std::vector<std::string> filter = {};  ///< members from the element on
    bool equal = true;
    Value operand = {};
  };
  static bool matches(const Step& filter, const Value& element);
  const Value* first(const Value& here, std::size_t step) const;

  std::vector<Step> steps_;
};

}  // namespace kube::testkit::detail
