// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include "names.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kube::gen {
namespace {

const std::vector<std::string> kAllVerbs = {"create", "delete", "deletecollection", "get",
                                            "list",   "patch",  "update",           "watch"};

/// Prints the tables of one package.
class Printer {
 public:
  explicit Printer(Site site)
      : kube_(qualifier(site)),
        site_(site),
        constant_(site == Site::kInside ? "constexpr" : "inline constexpr"),
        scope_(site == Site::kInside ? "" : "tables::") {}

  Tables run(const Package& package) {
    for (const Struct& item : package.structs) {
      print_fields(item);
      print_proto(item.name, fmt::format("k{}Proto", item.name), item.proto);
      if (item.resource) print_resource_arrays(item.name, *item.resource);
    }
    for (const Struct& item : package.structs) {
      define_type(item);
      if (item.resource) define_resource(item.name, *item.resource);
    }
    return std::move(tables_);
  }

 private:
  void print_fields(const Struct& item) {
    if (item.members.empty()) return;
    tables_.constants += fmt::format("{} {}Field k{}Fields[] = {{\n", constant_, kube_, item.name);
    for (std::size_t i = 0; i < item.members.size(); ++i) {
      const Member& member = item.members[item.json_order.empty() ? i : item.json_order[i]];
      std::vector<std::string> parts{
          quote(member.json),
          fmt::format("{}type_of<{}>()", kube_, spell(member.shape, site_)),
          fmt::format("offsetof({}, {})", item.name, member.name),
      };
      std::string flags;
      const auto add = [&](bool is_set, std::string_view flag) {
        if (is_set) flags += fmt::format("{}{}Field::{}", flags.empty() ? "" : " | ", kube_, flag);
      };
      add(member.omit_empty, "kOmitEmpty");
      add(member.omit_zero, "kOmitZero");
      add(member.optional, "kOptional");
      add(member.proto_wrapped, "kProtoWrapped");
      if (!flags.empty()) parts.push_back(flags);
      tables_.constants += fill("    {", parts, "},\n", 5);
    }
    tables_.constants += "};\n";
  }

  /// Prints the array `name`, after the arrays of its nested messages.
  void print_proto(const std::string& owner, const std::string& name,
                   const std::vector<ProtoEntry>& entries) {
    if (entries.empty()) return;
    std::vector<std::string> parts;
    for (const ProtoEntry& entry : entries) {
      if (entry.part_name.empty()) {
        parts.push_back(fmt::format("{{{}, {}}}", entry.number, entry.member));
        continue;
      }
      const std::string part = part_names_.add(fmt::format("k{}Part{}", owner, entry.part_name));
      print_proto(owner, part, entry.part);
      parts.push_back(fmt::format("{}ProtoField::inline_part({}, {})", kube_, entry.number, part));
    }
    print_array(fmt::format("{}ProtoField", kube_), name, parts);
  }

  /// Prints an array of short elements, on one line if it fits.
  void print_array(std::string_view type, std::string_view name,
                   const std::vector<std::string>& elements) {
    const std::string head = fmt::format("{} {} {}[] = {{", constant_, type, name);
    const std::string line = fmt::format("{}{}}};\n", head, fmt::join(elements, ", "));
    const bool fits = line.size() <= kLineWidth + 1;
    tables_.constants += fits ? line : head + '\n' + fill("    ", elements, "};\n", 4);
  }

  void print_texts(const std::string& name, const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    parts.reserve(texts.size());
    for (const std::string& text : texts) parts.push_back(quote(text));
    print_array("std::string_view", name, parts);
  }

  /// Returns the name of the array with these verbs, which is printed on first use.
  std::string verbs(const std::vector<std::string>& verbs) {
    if (verbs.empty()) return {};
    const auto found = verb_arrays_.find(verbs);
    if (found != verb_arrays_.end()) return found->second;
    std::string name = "kAll";
    if (verbs != kAllVerbs) {
      name = "k";
      for (const std::string& verb : verbs) name += camel_case(verb);
      if (name.size() > kMaxIdentifier) name.resize(kMaxIdentifier);
    }
    name = verb_names_.add(name + "Verbs");
    print_texts(name, verbs);
    return verb_arrays_[verbs] = name;
  }

  void print_resource_arrays(const std::string& owner, const Resource& resource) {
    if (!resource.short_names.empty()) {
      print_texts(fmt::format("k{}ShortNames", owner), resource.short_names);
    }
    if (!resource.categories.empty()) {
      print_texts(fmt::format("k{}Categories", owner), resource.categories);
    }
    verbs(resource.verbs);
    if (resource.subresources.empty()) return;
    for (const Subresource& sub : resource.subresources) verbs(sub.verbs);
    tables_.constants +=
        fmt::format("{} {}SubresourceInfo k{}Subresources[] = {{\n", constant_, kube_, owner);
    for (const Subresource& sub : resource.subresources) {
      const std::string array = verbs(sub.verbs);
      tables_.constants += fill("    {",
                                {quote(sub.name), quote(sub.group), quote(sub.version),
                                 quote(sub.kind), array.empty() ? "{}" : array},
                                "},\n", 5);
    }
    tables_.constants += "};\n";
  }

  /// Prints a definition with one designated initialiser per line.
  void define(std::string_view type, std::string_view variable,
              const std::vector<std::pair<std::string_view, std::string>>& values) {
    tables_.definitions += fmt::format("{} {}{} {}{{\n", constant_, kube_, type, variable);
    for (const auto& [name, value] : values) {
      if (!value.empty()) tables_.definitions += fmt::format("    .{} = {},\n", name, value);
    }
    tables_.definitions += "};\n\n";
  }

  void define_type(const Struct& item) {
    std::string flags;
    const auto add = [&](bool is_set, std::string_view flag) {
      if (is_set) flags += fmt::format("{}{}Type::{}", flags.empty() ? "" : " | ", kube_, flag);
    };
    add(item.is_volatile, "kVolatile");
    add(item.is_by_token, "kByToken");
    add(item.has_type_meta, "kHasTypeMeta");
    const auto array = [&](bool is_there, std::string_view suffix) {
      return is_there ? fmt::format("{}k{}{}", scope_, item.name, suffix) : std::string{};
    };
    define("Type", item.name + "::kube_type",
           {{"kind", fmt::format("{}Kind::kStruct", kube_)},
            {"flags", flags},
            {"size", fmt::format("sizeof({})", item.name)},
            {"name", quote(item.type_name)},
            {"fields", array(!item.members.empty(), "Fields")},
            {"proto", array(!item.proto.empty(), "Proto")},
            {"api_version", item.api_version.empty() ? "" : quote(item.api_version)}});
  }

  void define_resource(const std::string& owner, const Resource& resource) {
    const auto array = [&](bool is_there, std::string_view suffix) {
      return is_there ? fmt::format("{}k{}{}", scope_, owner, suffix) : std::string{};
    };
    define("ResourceInfo", owner + "::kube_resource",
           {{"group", quote(resource.group)},
            {"version", quote(resource.version)},
            {"kind", quote(resource.kind)},
            {"list_kind", resource.list_kind.empty() ? "" : quote(resource.list_kind)},
            {"plural", quote(resource.plural)},
            {"singular", quote(resource.singular)},
            {"namespaced", resource.namespaced ? "true" : "false"},
            {"short_names", array(!resource.short_names.empty(), "ShortNames")},
            {"categories", array(!resource.categories.empty(), "Categories")},
            {"verbs", resource.verbs.empty() ? "" : std::string{scope_} + verbs(resource.verbs)},
            {"subresources", array(!resource.subresources.empty(), "Subresources")},
            {"served_by_default", resource.served_by_default ? "true" : "false"}});
  }

  std::string_view kube_;
  Site site_;
  std::string_view constant_;
  std::string_view scope_;
  Tables tables_;
  std::map<std::vector<std::string>, std::string> verb_arrays_;
  Scope verb_names_;
  Scope part_names_;
};

}  // namespace

Tables tables(const Package& package, Site site) { return Printer{site}.run(package); }

}  // namespace kube::gen
