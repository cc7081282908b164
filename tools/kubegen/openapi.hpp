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

/// Reads the wanted kinds of OpenAPI documents, with all types that they refer to: one package per
/// version, as in read_crds().
///
/// "Foo" selects a kind in all groups and versions, "Foo.v1.example.com" in one. Types that the
/// library has (io.k8s.api...) are not generated but referred to. A kind is a resource if the
/// document contains the path of its objects. Throws InputError.
[[nodiscard]] std::vector<Package> read_openapi(const std::vector<Document>& documents,
                                                const std::vector<std::string>& kinds,
                                                std::string_view cpp_namespace);

}  // namespace kube::gen
