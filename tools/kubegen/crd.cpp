// SPDX-License-Identifier: Apache-2.0
#include "crd.hpp"

#include "json_schema.hpp"
#include "names.hpp"
#include "packages.hpp"
#include "text.hpp"

#include <fmt/format.h>

namespace kube::gen {
namespace {

constexpr std::string_view kGroup = "apiextensions.k8s.io";
constexpr std::string_view kKind = "CustomResourceDefinition";

/// One version of one definition, and the names of its C++ types.
struct Version {
  Place definition;
  Place version;
  OpenPackage& to;
  std::string name;
  std::string list_name;
};

/// Finds the definitions in a document: the document itself, or the items of a list.
void find_definitions(const Place& document, std::vector<Place>& found) {
  const std::string kind = document["kind"].text_or("");
  if (kind == "List" || kind == "CustomResourceDefinitionList") {
    for (const Place& item : document["items"].elements()) find_definitions(item, found);
    return;
  }
  if (kind != kKind) return;
  const std::string api_version = document["apiVersion"].text();
  if (api_version != fmt::format("{}/v1", kGroup)) {
    document["apiVersion"].fail(
        fmt::format("{} is not supported, only {}/v1", printable(api_version), kGroup));
  }
  found.push_back(document);
}

std::string lower_ascii(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string list_kind(const Place& names) {
  return names["listKind"].text_or(names["kind"].text() + "List");
}

Resource read_resource(const Version& version) {
  const Place spec = version.definition["spec"];
  const Place names = spec["names"];
  const std::string scope = spec["scope"].text();
  if (scope != "Namespaced" && scope != "Cluster") {
    spec["scope"].fail("must be Namespaced or Cluster");
  }
  Resource resource{
      .group = spec["group"].text(),
      .version = version.version["name"].text(),
      .kind = names["kind"].text(),
      .list_kind = list_kind(names),
      .plural = names["plural"].text(),
      .singular = names["singular"].text_or(lower_ascii(names["kind"].text())),
      .namespaced = scope == "Namespaced",
      .served_by_default = version.version["served"].flag(),
      .short_names = names["shortNames"].texts(),
      .categories = names["categories"].texts(),
      .verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
      .subresources = {},
      .list_name = version.list_name,
  };
  const Place subresources = version.version["subresources"];
  const std::vector<std::string> verbs{"get", "patch", "update"};
  if (subresources["scale"].exists()) {
    resource.subresources.push_back({"scale", "autoscaling", "v1", "Scale", verbs});
  }
  if (subresources["status"].exists()) {
    resource.subresources.push_back(
        {"status", resource.group, resource.version, resource.kind, verbs});
  }
  return resource;
}

void read_version(const Version& version) {
  const Place schema = version.version["schema"]["openAPIV3Schema"];
  static_cast<void>(schema.object());
  Struct kind;
  kind.name = version.name;
  kind.has_type_meta = true;
  kind.resource = read_resource(version);
  kind.type_name = kind.resource->kind;
  kind.api_version = fmt::format("{}/{}", kind.resource->group, kind.resource->version);
  SchemaReader{version.to, Dialect::kStructural}.read_kind(schema, kind);
  version.to.package.structs.push_back(std::move(kind));
}

}  // namespace

std::vector<Package> read_crds(const std::vector<Document>& documents,
                               std::string_view cpp_namespace) {
  std::vector<Place> definitions;
  for (const Document& document : documents) find_definitions(document.place(), definitions);
  if (definitions.empty()) {
    const std::string source = documents.empty() ? "no input" : documents.front().source;
    throw InputError(fmt::format("{}: no {} found", source, kKind));
  }

  // Kinds get their names before the types that are nested in them.
  PackageSet packages{cpp_namespace};
  std::vector<Version> versions;
  for (const Place& definition : definitions) {
    const Place spec = definition["spec"];
    const std::string group = spec["group"].text();
    if (group.empty()) spec["group"].fail("must not be empty");
    if (spec["versions"].elements().empty()) spec["versions"].fail("must not be empty");
    for (const Place& version : spec["versions"].elements()) {
      OpenPackage& to = packages.open(group, version["name"].text());
      const Place kind = spec["names"]["kind"];
      const std::string name = type_name(kind.text(), "Kind");
      if (to.types.contains(name)) {
        kind.fail(fmt::format("{}::{} is declared twice; use two headers or namespaces",
                              to.package.cpp_namespace, name));
      }
      versions.push_back({definition, version, to, to.types.add(name), {}});
    }
  }
  for (Version& version : versions) {
    version.list_name =
        version.to.types.add(type_name(list_kind(version.definition["spec"]["names"])), "");
  }
  for (const Version& version : versions) read_version(version);
  return packages.finish();
}

}  // namespace kube::gen
