// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// True for an OpenAPI document, version 2 or 3.
[[nodiscard]] bool is_openapi(const Place& document);

/// The wanted kinds of an OpenAPI document, with all types they refer to, a package for each
/// version as in read_crds.
///
/// A kind is wanted by name, "Foo", in all groups and versions, or as "Foo.v1.example.com" in one.
/// Types that the library has (io.k8s.api...) are not generated again but referred to. A kind is a
/// resource if the document tells the path of its objects. Throws InputError.
[[nodiscard]] std::vector<Package> read_openapi(const std::vector<Document>& documents,
                                                const std::vector<std::string>& kinds,
                                                std::string_view cpp_namespace);

}  // namespace kube::gen
