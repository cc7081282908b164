// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/box.hpp>

namespace kube {

/// The selector that a LabelSelector in an object stands for. An empty one matches everything. Throws
/// std::invalid_argument that names the requirement which is wrong.
[[nodiscard]] labels::Selector to_selector(const meta::v1::LabelSelector& selector);
/// The same where the field may be absent, which matches nothing.
[[nodiscard]] labels::Selector to_selector(const Box<meta::v1::LabelSelector>& selector);

/// The LabelSelector to put into an object. Throws std::invalid_argument if it uses an operator that
/// LabelSelector does not have (`>` and `<`), or matches nothing.
[[nodiscard]] meta::v1::LabelSelector to_label_selector(const labels::Selector& selector);

}  // namespace kube
