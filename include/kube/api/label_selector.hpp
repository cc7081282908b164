// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/box.hpp>

namespace kube {

/// Converts the LabelSelector of an object to a selector. An empty one matches everything. Throws
/// std::invalid_argument that names the invalid requirement.
[[nodiscard]] labels::Selector to_selector(const meta::v1::LabelSelector& selector);
/// As above, for an optional field; an absent selector matches nothing.
[[nodiscard]] labels::Selector to_selector(const Box<meta::v1::LabelSelector>& selector);

/// Converts a selector to the LabelSelector of an object. Throws std::invalid_argument if it uses
/// an operator that LabelSelector does not have (`>` and `<`), or matches nothing.
[[nodiscard]] meta::v1::LabelSelector to_label_selector(const labels::Selector& selector);

}  // namespace kube
