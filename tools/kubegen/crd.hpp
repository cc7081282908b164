// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <string_view>
#include <vector>

namespace kube::gen {

/// Reads the kinds that CustomResourceDefinitions (apiextensions.k8s.io/v1) declare: one package
/// per version, below `cpp_namespace` or, if that is empty, below a namespace named after the
/// group.
///
/// Other objects in the documents are skipped; lists of objects are searched. Throws InputError,
/// also if there is no definition at all.
[[nodiscard]] std::vector<Package> read_crds(const std::vector<Document>& documents,
                                             std::string_view cpp_namespace);

}  // namespace kube::gen
