// SPDX-License-Identifier: Apache-2.0
#include "library_schema.hpp"

#include "names.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace kube::gen {
namespace {

using Kind = Shape::Kind;

/// Names of namespace kube that generated code uses unqualified.
constexpr std::array kHandles = std::to_array<std::string_view>({
    "Box",
    "Bytes",
    "Duration",
    "Field",
    "FieldsV1",
    "IntOrString",
    "Json",
    "Kind",
    "List",
    "ListOf",
    "Map",
    "MicroTime",
    "OptionalString",
    "ProtoField",
    "Quantity",
    "RawExtension",
    "ResourceInfo",
    "String",
    "SubresourceInfo",
    "Time",
    "Type",
    "Value",
});

struct PlainType {
  std::string_view schema;
  std::string_view value;     ///< spelling of the type itself
  std::string_view optional;  ///< spelling of a pointer to it
  /// True for a struct in Go, which `omitempty` never omits.
  bool is_struct_in_go;
};

constexpr std::array kPlainTypes = std::to_array<PlainType>({
    {"string", "String", "OptionalString", false},
    {"bool", "bool", "std::optional<bool>", false},
    {"int32", "std::int32_t", "std::optional<std::int32_t>", false},
    {"int64", "std::int64_t", "std::optional<std::int64_t>", false},
    {"float64", "double", "std::optional<double>", false},
    {"bytes", "Bytes", "", false},
    {"time", "Time", "Time", true},
    {"microtime", "MicroTime", "MicroTime", true},
    {"duration", "Duration", "Duration", true},
    {"quantity", "Quantity", "Quantity", true},
    {"int_or_string", "IntOrString", "IntOrString", true},
    {"raw_extension", "RawExtension", "RawExtension", true},
    {"fields_v1", "FieldsV1", "FieldsV1", true},
    {"json", "Json", "Json", true},
});

const PlainType* find_plain(std::string_view schema) {
  const auto* found = std::ranges::find(kPlainTypes, schema, &PlainType::schema);
  return found == kPlainTypes.end() ? nullptr : found;
}

/// The parts of a qualified name such as "core/v1.PodSpec".
struct QualifiedName {
  std::string package;  ///< "core::v1"
  std::string name;
};

QualifiedName split_qualified(const Place& place, std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::size_t dot = text.find('.', slash == std::string_view::npos ? 0 : slash);
  if (slash == std::string_view::npos || dot == std::string_view::npos) {
    place.fail(fmt::format("\"{}\" is neither a known type nor <group>/<version>.<name>",
                           printable(text)));
  }
  const std::string_view group = text.substr(0, slash);
  const std::string_view version = text.substr(slash + 1, dot - slash - 1);
  const std::string_view name = text.substr(dot + 1);
  if (!is_identifier(group) || !is_identifier(version) || !is_identifier(name)) {
    place.fail(fmt::format("\"{}\" is not a type name", printable(text)));
  }
  return {fmt::format("{}::{}", group, version), std::string{name}};
}

/// Reads the groups of one schema.
class Reader {
 public:
  explicit Reader(const Place& schema) {
    for (const Place& group : schema["groups"].elements()) {
      Package package;
      package.group = group["group"].text();
      package.name = group["name"].text();
      package.version = group["version"].text();
      if (!is_identifier(package.name)) group["name"].fail("not a name for a namespace");
      if (!is_identifier(package.version)) group["version"].fail("not a name for a namespace");
      package.cpp_namespace = fmt::format("{}::{}", package.name, package.version);
      for (const Place& type : group["types"].elements()) {
        const auto [at, is_new] =
            types_.emplace(std::pair{package.cpp_namespace, type["name"].text()}, type);
        if (!is_new) type["name"].fail("this type is declared twice");
      }
      for (const auto& [name, constants] : group["enums"].members()) {
        enums_.insert({package.cpp_namespace, name});
      }
      library_.packages.push_back(std::move(package));
    }
  }

  Library read(const Place& schema) {
    library_.kubernetes = schema["kubernetes"].text();
    const std::vector<Place> groups = schema["groups"].elements();
    for (std::size_t i = 0; i < groups.size(); ++i) read_package(library_.packages[i], groups[i]);
    check_includes(schema);
    mark_volatile(library_.packages);
    for (Package& package : library_.packages) sort_structs(package);
    return std::move(library_);
  }

 private:
  void read_package(Package& package, const Place& group);
  static void read_constants(Package& package, const Place& group);
  void read_aliases(Package& package, const Place& group) const;
  Struct read_struct(Package& package, const Place& type) const;
  void read_fields(Package& package, const Place& type, Struct& to, Scope& names,
                   std::vector<ProtoEntry>& proto, int depth) const;
  Member read_field(Package& package, const Place& field, Scope& names) const;
  Shape read_shape(Package& package, const Place& place, std::string_view type) const;
  static Resource read_resource(const Package& package, const Place& place);
  [[nodiscard]] std::string constants_of(const Package& package, const Place& place) const;
  void check_includes(const Place& schema) const;

  Library library_;
  std::map<std::pair<std::string, std::string>, Place> types_;
  std::set<std::pair<std::string, std::string>> enums_;
};

std::string api_version_of(const Package& package, std::string_view kind) {
  if (package.group.empty()) return package.version;
  if (package.group == "meta.k8s.io") {
    // Only kinds that are served at a client's request belong to the group; the others (Status,
    // options, discovery) have the apiVersion "v1".
    const bool is_in_group = kind.starts_with("Table") || kind.starts_with("PartialObjectMetadata");
    if (!is_in_group) return "v1";
  }
  return fmt::format("{}/{}", package.group, package.version);
}

void include(Package& package, std::string_view other) {
  if (other == package.cpp_namespace) return;
  const std::size_t colons = other.find("::");
  package.includes.insert(
      fmt::format("kube/api/{}/{}.hpp", other.substr(0, colons), other.substr(colons + 2)));
}

void Reader::read_package(Package& package, const Place& group) {
  read_constants(package, group);
  read_aliases(package, group);
  std::map<std::string, Place> resources;
  for (const Place& resource : group["resources"].elements()) {
    resources.emplace(resource["kind"].text(), resource);
  }
  Scope names;
  for (const Place& type : group["types"].elements()) {
    // Never a field of another type. Protobuf encodes it as a message, JSON as text
    // "group/version", for which kube::GroupVersion exists.
    if (type["json_shape"].text_or("") == "group_version_string") continue;
    Struct item = read_struct(package, type);
    if (const auto found = resources.find(item.type_name); found != resources.end()) {
      item.resource = read_resource(package, found->second);
    }
    if (names.contains(item.name)) type["name"].fail("its C++ name is taken");
    names.add(item.name);
    package.structs.push_back(std::move(item));
  }
  for (const auto& [kind, place] : resources) {
    if (!types_.contains({package.cpp_namespace, kind}))
      place["kind"].fail("there is no such type");
    const std::string list = place["list_kind"].text_or("");
    if (!list.empty() && names.contains(type_name(list))) place["list_kind"].fail("is a type, too");
  }
}

void Reader::read_constants(Package& package, const Place& group) {
  Scope scope;
  for (const auto& [type, place] : group["enums"].members()) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const Place& constant : place.elements()) {
      names.push_back(constant["name"].text());
      values.push_back(constant["value"].text());
    }
    Constants constants{.name = scope.add(member_name(type)), .entries = {}};
    const std::vector<std::string> readable = constant_names(type, names, values);
    for (std::size_t i = 0; i < readable.size(); ++i) {
      if (!readable[i].empty()) constants.entries.push_back({"k" + readable[i], values[i]});
    }
    package.constants.push_back(std::move(constants));
  }
}

void Reader::read_aliases(Package& package, const Place& group) const {
  for (const auto& [name, place] : group["aliases"].members()) {
    const QualifiedName target = split_qualified(place, place.text());
    const bool is_enum = enums_.contains({target.package, target.name});
    const std::string prefix = target.package == package.cpp_namespace ? "" : target.package + "::";
    include(package, target.package);
    if (is_enum) {
      package.aliases.push_back({member_name(name), prefix + member_name(target.name), true});
    } else if (types_.contains({target.package, target.name})) {
      package.aliases.push_back({type_name(name), prefix + library_type_name(target.name), false});
    } else {
      place.fail("there is no such type");
    }
  }
}

Struct Reader::read_struct(Package& package, const Place& type) const {
  Struct result;
  result.type_name = type["name"].text();
  result.name = library_type_name(result.type_name);
  result.has_type_meta = type["type_meta"].flag();
  if (result.has_type_meta) result.api_version = api_version_of(package, result.type_name);
  if (const std::string shape = type["json_shape"].text_or(""); !shape.empty()) {
    if (shape != "by_token") type["json_shape"].fail("unknown shape");
    result.is_by_token = true;
  }
  Scope names{{"kube_type", "kube_resource"}};
  read_fields(package, type, result, names, result.proto, 0);
  if (!type["proto"].flag()) result.proto.clear();
  return result;
}

void Reader::read_fields(Package& package, const Place& type, Struct& to, Scope& names,
                         std::vector<ProtoEntry>& proto, int depth) const {
  constexpr int kMaxDepth = 8;
  if (depth > kMaxDepth) type.fail("embeds itself");
  for (const Place& field : type["fields"].elements()) {
    ProtoEntry entry;
    if (field["proto"].exists()) {
      entry.number = static_cast<std::uint32_t>(field["proto"].integer());
    }
    if (field["inline"].flag()) {
      const QualifiedName embedded = split_qualified(field["type"], field["type"].text());
      const auto found = types_.find({embedded.package, embedded.name});
      if (found == types_.end()) field["type"].fail("there is no such type");
      entry.part_name = type_name(embedded.name);
      read_fields(package, found->second, to, names, entry.part, depth + 1);
    } else {
      entry.member = to.members.size();
      to.members.push_back(read_field(package, field, names));
      const std::string& json = to.members.back().json;
      const auto has_name = [&](const Member& member) { return member.json == json; };
      if (std::ranges::count_if(to.members, has_name) > 1) field["json"].fail("this name is taken");
    }
    if (entry.number != 0) proto.push_back(std::move(entry));
  }
  std::ranges::sort(proto, {}, &ProtoEntry::number);
}

Member Reader::read_field(Package& package, const Place& field, Scope& names) const {
  Member member;
  member.json = field["json"].text();
  if (member.json.empty()) field["json"].fail("a field without a name must be inline");
  member.name = names.add(member_name(member.json));
  const std::string type = field["type"].text();
  member.shape = read_shape(package, field["type"], type);
  const bool is_pointer = type.starts_with('*');
  const PlainType* plain = find_plain(is_pointer ? type.substr(1) : type);
  const bool is_leaf = plain != nullptr && plain->is_struct_in_go;
  member.optional = is_leaf && is_pointer;
  const bool is_struct_in_go = member.shape.kind == Kind::kStruct || (is_leaf && !is_pointer);
  member.omit_empty = field["omitempty"].flag() && !is_struct_in_go;
  member.omit_zero = field["omitzero"].flag();
  member.proto_wrapped = field["proto_wrapped"].flag();
  // No note if only the spelling differs (hostIP, host_ip), or an underscore avoids a keyword.
  if (member.json.find_first_of("$-") != std::string::npos) {
    member.notes.push_back(fmt::format("\"{}\" in JSON", member.json));
  }
  if (const std::string see = constants_of(package, field["enum"]); !see.empty()) {
    member.notes.push_back("see " + see);
  }
  if (const std::string see = constants_of(package, field["key_enum"]); !see.empty()) {
    member.notes.push_back("for keys see " + see);
  }
  return member;
}

Shape Reader::read_shape(Package& package, const Place& place, std::string_view type) const {
  constexpr std::string_view kMapPrefix = "map[string]";
  if (type.starts_with("[]")) {
    return Shape::of(Kind::kList, read_shape(package, place, type.substr(2)));
  }
  if (type.starts_with(kMapPrefix)) {
    return Shape::of(Kind::kMap, read_shape(package, place, type.substr(kMapPrefix.size())));
  }
  const bool is_pointer = type.starts_with('*');
  if (is_pointer) type.remove_prefix(1);
  if (const PlainType* plain = find_plain(type)) {
    const std::string_view spelling = is_pointer ? plain->optional : plain->value;
    if (spelling.empty()) place.fail("a pointer to this type is not supported");
    return Shape::plain(spelling);
  }
  const QualifiedName name = split_qualified(place, type);
  const auto found = types_.find({name.package, name.name});
  if (found == types_.end()) place.fail("there is no such type");
  if (found->second["json_shape"].text_or("") == "group_version_string") {
    place.fail("a field of this type is not supported");
  }
  include(package, name.package);
  Shape shape = Shape::structure(library_type_name(name.name),
                                 name.package == package.cpp_namespace ? "" : name.package);
  return is_pointer ? Shape::of(Kind::kBox, std::move(shape)) : shape;
}

Resource Reader::read_resource(const Package& package, const Place& place) {
  Resource resource{
      .group = package.group,
      .version = package.version,
      .kind = place["kind"].text(),
      .list_kind = place["list_kind"].text_or(""),
      .plural = place["plural"].text(),
      .singular = place["singular"].text(),
      .namespaced = place["namespaced"].flag(),
      .served_by_default = place["served_by_default"].flag(),
      .short_names = place["short_names"].texts(),
      .categories = place["categories"].texts(),
      .verbs = place["verbs"].texts(),
      .subresources = {},
      .list_name = {},
  };
  if (!resource.list_kind.empty()) resource.list_name = type_name(resource.list_kind);
  if (place["subresources"].exists()) {
    for (const Place& sub : place["subresources"].elements()) {
      resource.subresources.push_back({sub["name"].text(), sub["group"].text_or(""),
                                       sub["version"].text(), sub["kind"].text(),
                                       sub["verbs"].texts()});
    }
  }
  return resource;
}

std::string Reader::constants_of(const Package& package, const Place& place) const {
  if (!place.exists()) return {};
  const QualifiedName name = split_qualified(place, place.text());
  if (!enums_.contains({name.package, name.name})) return {};
  const std::string constants = member_name(name.name);
  return name.package == package.cpp_namespace ? constants : name.package + "::" + constants;
}

/// Checks that headers do not include each other: the types of one would be missing in the other.
void Reader::check_includes(const Place& schema) const {
  std::set<std::string> done;
  std::size_t before = 0;
  do {
    before = done.size();
    for (const Package& package : library_.packages) {
      const bool is_ready = std::ranges::all_of(
          package.includes, [&](const std::string& header) { return done.contains(header); });
      if (is_ready) done.insert(fmt::format("kube/api/{}/{}.hpp", package.name, package.version));
    }
  } while (done.size() != before);
  for (const Package& package : library_.packages) {
    const std::string header = fmt::format("kube/api/{}/{}.hpp", package.name, package.version);
    if (!done.contains(header)) schema["groups"].fail(header + " would include itself");
  }
}

}  // namespace

std::string library_type_name(std::string_view name) {
  std::string result = type_name(name);
  if (std::ranges::find(kHandles, result) != kHandles.end()) result += '_';
  return result;
}

Library read_library(const Place& schema) { return Reader{schema}.read(schema); }

}  // namespace kube::gen
