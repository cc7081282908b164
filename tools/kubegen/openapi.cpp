// SPDX-License-Identifier: Apache-2.0
#include "openapi.hpp"

#include "builtin.hpp"
#include "json_schema.hpp"
#include "names.hpp"
#include "openapi_paths.hpp"
#include "packages.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kube::gen {
namespace {

Place definitions_of(const Place& document) {
  return document["swagger"].exists() ? document["definitions"] : document["components"]["schemas"];
}

/// True if `wanted` is "Foo" or "Foo.v1.example.com" and matches `kind`.
bool matches(const GroupVersionKind& kind, std::string_view wanted) {
  if (wanted == kind.kind) return true;
  const std::string full = kind.group.empty()
                               ? fmt::format("{}.{}", kind.kind, kind.version)
                               : fmt::format("{}.{}.{}", kind.kind, kind.version, kind.group);
  return wanted == full;
}

/// Resolves the escapes of a JSON pointer.
std::string unescape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      result += text[++i] == '0' ? '~' : '/';
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Returns the definition that a "$ref" refers to.
std::string target_of(const Place& ref) {
  const std::string text = ref.text();
  for (const std::string_view prefix : {"#/definitions/", "#/components/schemas/"}) {
    if (text.starts_with(prefix)) return unescape(std::string_view{text}.substr(prefix.size()));
  }
  ref.fail(fmt::format("\"{}\" does not refer to a definition of this document", printable(text)));
}

/// "io.example.v1.FooSpec" -> "FooSpec".
std::string short_name(std::string_view definition) {
  return type_name(definition.substr(definition.rfind('.') + 1));
}

/// Generates the types that the kinds of one package refer to.
class PackageReader {
 public:
  PackageReader(OpenPackage& to, Place definitions)
      : to_(to), definitions_(std::move(definitions)) {}

  void read_kind(const Place& schema, Struct kind) {
    SchemaReader reader = schema_reader();
    reader.read_kind(schema, kind);
    to_.package.structs.push_back(std::move(kind));
    // Definitions are read iteratively, not recursively, so that neither a cycle nor a long chain
    // of references is a problem.
    while (!waiting_.empty()) {
      const std::string definition = std::move(waiting_.back());
      waiting_.pop_back();
      Struct object;
      object.name = names_.at(definition);
      object.type_name = object.name;
      reader.read_object(definitions_[definition], object);
      to_.package.structs.push_back(std::move(object));
    }
  }

 private:
  SchemaReader schema_reader() {
    return {to_, Dialect::kOpenApi, [this](const Place& ref) { return resolve(ref); }};
  }

  Shape resolve(const Place& ref) {
    const std::string definition = target_of(ref);
    if (const std::optional<Builtin> builtin = find_builtin(definition)) {
      to_.package.includes.insert(builtin->header);
      return builtin->shape;
    }
    const Place schema = definitions_[definition];
    if (!schema.exists())
      ref.fail(fmt::format("there is no definition \"{}\"", printable(definition)));
    const bool is_struct = schema["properties"].exists() &&
                           !schema["properties"].object().empty() &&
                           !schema["additionalProperties"].exists() &&
                           !schema["x-kubernetes-preserve-unknown-fields"].flag();
    if (!is_struct) return resolve_alias(ref, definition, schema);
    const auto [at, is_new] = names_.emplace(definition, std::string{});
    if (is_new) {
      at->second = to_.types.add(short_name(definition), "");
      waiting_.push_back(definition);
    }
    return Shape::structure(at->second);
  }

  /// Resolves an alias of a scalar, list or map, which has no struct of its own.
  Shape resolve_alias(const Place& ref, const std::string& definition, const Place& schema) {
    constexpr std::size_t kMaxAliases = 64;
    if (!open_aliases_.insert(definition).second || open_aliases_.size() > kMaxAliases) {
      ref.fail("refers to itself, or through too many aliases, without an object in between");
    }
    Shape shape = schema_reader().read(schema, short_name(definition));
    open_aliases_.erase(definition);
    return shape;
  }

  OpenPackage& to_;
  Place definitions_;
  std::map<std::string, std::string> names_;
  std::vector<std::string> waiting_;
  std::set<std::string> open_aliases_;
};

/// A kind to be generated.
struct Found {
  Place definitions;
  Place schema;
  GroupVersionKind kind;
  std::optional<Resource> resource;
  OpenPackage* to;
  std::string name;
};

void find_kinds(const Place& document, std::string_view wanted, PackageSet& packages,
                std::vector<Found>& found) {
  const Place definitions = definitions_of(document);
  for (const auto& [name, schema] : definitions.members()) {
    const Place declared = schema["x-kubernetes-group-version-kind"];
    if (!declared.exists()) continue;
    for (const Place& entry : declared.elements()) {
      const GroupVersionKind kind = read_kind_name(entry);
      if (!matches(kind, wanted)) continue;
      OpenPackage& to = packages.open(kind.group.empty() ? "core" : kind.group, kind.version);
      const std::string cpp_name = type_name(kind.kind, "Kind");
      if (to.types.contains(cpp_name)) {
        entry.fail(fmt::format("{}::{} is declared twice; use two headers or namespaces",
                               to.package.cpp_namespace, cpp_name));
      }
      found.push_back(
          {definitions, schema, kind, find_resource(document, kind), &to, to.types.add(cpp_name)});
      break;
    }
  }
}

}  // namespace

bool is_openapi(const Place& document) {
  return document["swagger"].exists() || document["openapi"].exists();
}

std::vector<Package> read_openapi(const std::vector<Document>& documents,
                                  const std::vector<std::string>& kinds,
                                  std::string_view cpp_namespace) {
  PackageSet packages{cpp_namespace};
  std::vector<Found> found;
  for (const std::string& wanted : kinds) {
    const std::size_t before = found.size();
    for (const Document& document : documents) {
      if (!is_openapi(document.place())) document.place().fail("not an OpenAPI document");
      find_kinds(document.place(), wanted, packages, found);
    }
    if (found.size() == before) {
      documents.front().place().fail(fmt::format("no definition of kind {}", printable(wanted)));
    }
  }
  std::map<std::pair<OpenPackage*, std::string>, PackageReader> readers;
  for (Found& item : found) {
    if (item.resource && !item.resource->list_kind.empty()) {
      item.resource->list_name = item.to->types.add(type_name(item.resource->list_kind), "");
    }
  }
  for (Found& item : found) {
    Struct kind;
    kind.name = item.name;
    kind.type_name = item.kind.kind;
    kind.api_version = item.kind.group.empty()
                           ? item.kind.version
                           : fmt::format("{}/{}", item.kind.group, item.kind.version);
    kind.has_type_meta = true;
    kind.resource = std::move(item.resource);
    const auto [reader, is_new] =
        readers.try_emplace({item.to, item.schema.source()}, *item.to, item.definitions);
    reader->second.read_kind(item.schema, std::move(kind));
  }
  return packages.finish();
}

}  // namespace kube::gen
