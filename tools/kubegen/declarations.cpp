// SPDX-License-Identifier: Apache-2.0
#include "declarations.hpp"

#include "names.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kube::gen {
namespace {

using Kind = Shape::Kind;
using Out = std::back_insert_iterator<std::string>;

/// Handles do not need an initialiser, but without one compilers warn about members that a
/// designated initialiser omits.
std::string_view initialiser(const Shape& shape) {
  if (shape.is_plain("bool")) return " = false";
  if (shape.is_plain("std::int32_t") || shape.is_plain("std::int64_t") ||
      shape.is_plain("double")) {
    return " = 0";
  }
  return " = {}";
}

void collect(const Shape& shape, Includes& includes) {
  switch (shape.kind) {
    case Kind::kBox:
      includes.own.insert("kube/object/box.hpp");
      break;
    case Kind::kList:
      includes.own.insert("kube/object/list.hpp");
      break;
    case Kind::kMap:
      includes.own.insert("kube/object/map.hpp");
      break;
    case Kind::kStruct:
      break;
    case Kind::kPlain:
      if (shape.name.starts_with("std::optional")) includes.standard.insert("optional");
      if (shape.name.find("std::int") != std::string::npos) includes.standard.insert("cstdint");
      if (shape.name == "Value") {
        includes.own.insert("kube/object/value.hpp");
      } else if (shape.name == "String" || shape.name == "OptionalString" ||
                 shape.name == "Bytes") {
        includes.own.insert("kube/object/string.hpp");
      } else if (!shape.name.starts_with("std::") && shape.name != "bool" &&
                 shape.name != "double") {
        includes.own.insert("kube/api/leaf.hpp");
      }
      break;
  }
  for (const Shape& element : shape.element) collect(element, includes);
}

void print_constants(Out out, const Constants& constants) {
  fmt::format_to(out, "namespace {} {{\n", constants.name);
  for (const Constants::Entry& entry : constants.entries) {
    if (constants.are_integers) {
      fmt::format_to(out, "inline constexpr std::int64_t {} = {};\n", entry.name, entry.value);
      continue;
    }
    const std::string head = fmt::format("inline constexpr std::string_view {} =", entry.name);
    const std::string literal = quote(entry.value);
    const bool fits = head.size() + 1 + literal.size() + 1 <= kLineWidth;
    fmt::format_to(out, "{}{}{};\n", head, fits ? " " : "\n    ", literal);
  }
  fmt::format_to(out, "}}  // namespace {}\n\n", constants.name);
}

/// Structs that are used before they are defined.
std::set<std::string> forward_declared(const Package& package) {
  std::set<std::string> own;
  for (const Struct& item : package.structs) own.insert(item.name);
  std::set<std::string> defined;
  std::set<std::string> result;
  for (const Struct& item : package.structs) {
    defined.insert(item.name);  // before the members: a struct may refer to itself
    for (const Member& member : item.members) {
      for_each_struct(member.shape, [&](const Shape& shape) {
        if (shape.scope.empty() && own.contains(shape.name) && !defined.contains(shape.name)) {
          result.insert(shape.name);
        }
      });
    }
  }
  return result;
}

void print_comment(Out out, std::string_view indent, std::string_view description) {
  for (const std::string& line : comment_lines(description, kLineWidth - 4 - indent.size())) {
    fmt::format_to(out, "{}/// {}\n", indent, line);
  }
}

/// Prints members, with the trailing comments of adjacent ones in one column.
void print_members(Out out, const std::vector<Member>& members, Site site) {
  struct Line {
    std::string code;
    std::string notes;
    bool follows_comment;
  };
  std::vector<Line> lines;
  for (const Member& member : members) {
    std::string notes;
    for (const std::string& note : member.notes) {
      if (!notes.empty()) notes += "; ";
      notes += comment_text(note);
    }
    lines.push_back({fmt::format("  {} {}{};", spell(member.shape, site), member.name,
                                 initialiser(member.shape)),
                     std::move(notes), !member.description.empty()});
  }
  const auto is_noted = [&](std::size_t i) {
    return !lines[i].notes.empty() &&
           lines[i].code.size() + 5 + lines[i].notes.size() <= kLineWidth;
  };
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i + 1;
    std::size_t column = lines[i].code.size();
    std::size_t widest = lines[i].notes.size();
    if (is_noted(i)) {
      for (; end < lines.size() && is_noted(end) && !lines[end].follows_comment; ++end) {
        const std::size_t next_column = std::max(column, lines[end].code.size());
        const std::size_t next_widest = std::max(widest, lines[end].notes.size());
        if (next_column + 5 + next_widest > kLineWidth) break;
        column = next_column;
        widest = next_widest;
      }
    }
    for (; i < end; ++i) {
      print_comment(out, "  ", members[i].description);
      if (is_noted(i)) {
        fmt::format_to(out, "{:<{}}  // {}\n", lines[i].code, column, lines[i].notes);
        continue;
      }
      if (!lines[i].notes.empty()) fmt::format_to(out, "  // {}\n", lines[i].notes);
      fmt::format_to(out, "{}\n", lines[i].code);
    }
  }
}

/// For example "Resource deployments of apps/v1, namespaced."
std::string fact_about(const Struct& item) {
  if (!item.has_type_meta) return {};
  if (!item.resource) {
    return fmt::format("Kind {} of {}.", comment_text(item.type_name),
                       comment_text(item.api_version));
  }
  return fmt::format("Resource {} of {}, {}.", comment_text(item.resource->plural),
                     comment_text(item.api_version),
                     item.resource->namespaced ? "namespaced" : "cluster-wide");
}

void print_struct(Out out, const Struct& item, Site site) {
  if (const std::string fact = fact_about(item); !fact.empty()) {
    print_comment(out, "", fact);
    if (!item.description.empty()) fmt::format_to(out, "///\n");
  }
  print_comment(out, "", item.description);
  fmt::format_to(out, "struct {} {{\n", item.name);
  print_members(out, item.members, site);
  if (!item.members.empty()) fmt::format_to(out, "\n");
  const std::string_view kube = qualifier(site);
  fmt::format_to(out, "  static const {}Type kube_type;\n", kube);
  if (item.resource) fmt::format_to(out, "  static const {}ResourceInfo kube_resource;\n", kube);
  const std::string head = fmt::format("  friend bool operator==(const {}& a,", item.name);
  const std::string tail = fmt::format("const {}& b) noexcept {{", item.name);
  const std::string body = fmt::format("return {}deep_equal(a, b);", kube);
  const std::size_t width = head.size() + 1 + tail.size();
  fmt::format_to(out, "{}{}{}", head, width <= kLineWidth ? " " : "\n                         ",
                 tail);
  if (width + body.size() + 3 <= kLineWidth) {
    fmt::format_to(out, " {} }}\n", body);
  } else {
    fmt::format_to(out, "\n    {}\n  }}\n", body);
  }
  fmt::format_to(out, "}};\n\n");
}

}  // namespace

std::string_view qualifier(Site site) { return site == Site::kInside ? "" : "kube::"; }

std::string spell(const Shape& shape, Site site) {
  const std::string_view kube = qualifier(site);
  switch (shape.kind) {
    case Kind::kBox:
      return fmt::format("{}Box<{}>", kube, spell(shape.element.front(), site));
    case Kind::kList:
      return fmt::format("{}List<{}>", kube, spell(shape.element.front(), site));
    case Kind::kMap:
      return fmt::format("{}Map<{}>", kube, spell(shape.element.front(), site));
    case Kind::kStruct:
      return shape.scope.empty() ? shape.name
                                 : fmt::format("{}{}::{}", kube, shape.scope, shape.name);
    case Kind::kPlain:
      break;
  }
  const bool is_builtin =
      shape.name == "bool" || shape.name == "double" || shape.name.starts_with("std::");
  return is_builtin ? shape.name : fmt::format("{}{}", kube, shape.name);
}

std::string to_string(const Banner& banner) {
  return fmt::format("{}// Generated by kubegen {} from {}. Do not edit.\n",
                     banner.is_licensed ? "// SPDX-License-Identifier: Apache-2.0\n" : "",
                     banner.version, comment_text(banner.source, 200));
}

void collect_includes(const Package& package, Includes& includes) {
  includes.own.insert(package.includes.begin(), package.includes.end());
  if (!package.constants.empty()) includes.standard.insert("string_view");
  for (const Constants& constants : package.constants) {
    if (constants.are_integers) includes.standard.insert("cstdint");
  }
  if (package.structs.empty()) return;
  includes.own.insert({"kube/object/operations.hpp", "kube/object/type.hpp"});
  for (const Struct& item : package.structs) {
    for (const Member& member : item.members) collect(member.shape, includes);
    if (!item.resource) continue;
    includes.own.insert("kube/api/resource_info.hpp");
    if (!item.resource->list_name.empty()) includes.own.insert("kube/api/list_of.hpp");
  }
}

std::string to_string(const Includes& includes) {
  std::string text;
  for (const std::string& header : includes.own) text += fmt::format("#include <{}>\n", header);
  if (!includes.own.empty() && !includes.standard.empty()) text += '\n';
  for (const std::string& header : includes.standard)
    text += fmt::format("#include <{}>\n", header);
  return text;
}

std::string declarations(const Package& package, Site site) {
  std::string text;
  const Out out{text};
  for (const Constants& constants : package.constants) print_constants(out, constants);
  const std::set<std::string> early = forward_declared(package);
  for (const std::string& name : early) fmt::format_to(out, "struct {};\n", name);
  if (!early.empty()) fmt::format_to(out, "\n");
  for (const Struct& item : package.structs) print_struct(out, item, site);
  bool has_names = false;
  for (const Alias& alias : package.aliases) {
    fmt::format_to(out, "{} {} = {};\n", alias.is_namespace ? "namespace" : "using", alias.name,
                   alias.target);
    has_names = true;
  }
  for (const Struct& item : package.structs) {
    if (!item.resource || item.resource->list_name.empty()) continue;
    fmt::format_to(out, "using {} = {}ListOf<{}>;\n", item.resource->list_name, qualifier(site),
                   item.name);
    has_names = true;
  }
  if (has_names) fmt::format_to(out, "\n");
  return text;
}

}  // namespace kube::gen
