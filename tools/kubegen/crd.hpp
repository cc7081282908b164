// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <string_view>
#include <vector>

namespace kube::gen {

/// The kinds that CustomResourceDefinitions (apiextensions.k8s.io/v1) declare, a package for each
/// version, below `cpp_namespace` or, if that is empty, one named after the group.
///
/// Other objects among the documents are passed over; lists of objects are looked into. Throws
/// InputError, also if there is no definition at all.
[[nodiscard]] std::vector<Package> read_crds(const std::vector<Document>& documents,
                                             std::string_view cpp_namespace);

}  // namespace kube::gen
