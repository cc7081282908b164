// SPDX-License-Identifier: Apache-2.0
#include "chain_output.hpp"

#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace kube::gen {
namespace {

/// All versions of one API group.
struct Group {
  std::string function;  ///< "apps"
  std::string type;      ///< "Apps"
  std::vector<const Package*> versions;
};

bool has_resources(const Package& package) {
  return std::ranges::any_of(package.structs,
                             [](const Struct& item) { return item.resource.has_value(); });
}

std::vector<Group> groups_of(const Library& library) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  Scope types;
  for (const Package& package : library.packages) {
    if (!has_resources(package)) continue;
    const auto [found, is_new] = index.emplace(package.name, groups.size());
    if (is_new) {
      groups.push_back({package.name, types.add(type_name(package.name)), {}});
    }
    groups[found->second].versions.push_back(&package);
  }
  return groups;
}

std::string forward_declarations(const Package& package) {
  std::string text = fmt::format("namespace kube::{} {{\n", package.cpp_namespace);
  for (const Struct& item : package.structs) {
    if (item.resource) text += fmt::format("struct {};\n", item.name);
  }
  return text + fmt::format("}}  // namespace kube::{}\n", package.cpp_namespace);
}

std::string version_type(const Group& group, const Package& package) {
  return group.type + type_name(package.version);
}

std::string version_class(const Group& group, const Package& package) {
  std::string text = fmt::format(
      "template <typename Maker>\n"
      "class {0} : Link<Maker> {{\n"
      " public:\n"
      "  using Link<Maker>::Link;\n",
      version_type(group, package));
  Scope functions{{"Link", "maker"}};
  for (const Struct& item : package.structs) {
    if (!item.resource) continue;
    const std::string name = functions.add(member_name(item.resource->plural));
    text += fmt::format("  template <typename T = {}::{}>\n", package.cpp_namespace, item.name);
    if (item.resource->namespaced) {
      text += fmt::format(
          "  [[nodiscard]] auto {}(typename Maker::Namespace namespace_ = {{}}) const {{\n"
          "    return this->maker().template resource<T>(namespace_);\n"
          "  }}\n",
          name);
    } else {
      text += fmt::format(
          "  [[nodiscard]] auto {}() const {{\n"
          "    return this->maker().template resource<T>();\n"
          "  }}\n",
          name);
    }
  }
  return text + "};\n\n";
}

std::string group_class(const Group& group) {
  std::string text = fmt::format(
      "template <typename Maker>\n"
      "class {0} : Link<Maker> {{\n"
      " public:\n"
      "  using Link<Maker>::Link;\n",
      group.type);
  for (const Package* package : group.versions) {
    text +=
        fmt::format("  [[nodiscard]] auto {}() const {{ return {}<Maker>{{this->maker()}}; }}\n",
                    package->version, version_type(group, *package));
  }
  return text + "};\n\n";
}

std::string all_groups(const std::vector<Group>& groups) {
  std::string text =
      "/// Base class with one function for each API group. `Maker` derives from it, "
      "and has a type\n"
      "/// `Namespace` and a function template `resource<T>(Namespace namespace_ = "
      "{})`, which is called at\n"
      "/// the end of a chain such as `apps().v1().deployments(\"default\")`.\n"
      "/// The steps of a chain refer to the Maker and must not outlive it; the result may.\n"
      "template <typename Maker>\n"
      "class Groups {\n"
      " public:\n";
  for (const Group& group : groups) {
    text += fmt::format("  [[nodiscard]] auto {}() const {{ return {}<Maker>{{self()}}; }}\n",
                        group.function, group.type);
  }
  return text +
         "\n private:\n"
         "  [[nodiscard]] const Maker& self() const { return static_cast<const Maker&>(*this); }\n"
         "};\n";
}

constexpr std::string_view kLink =
    R"(/// A group or version of the API. Refers to the object that makes resources.
template <typename Maker>
class Link {
 public:
  explicit Link(const Maker& maker) : maker_(&maker) {}

 protected:
  [[nodiscard]] const Maker& maker() const { return *maker_; }

 private:
  const Maker* maker_;
};

)";

}  // namespace

OutputFile chain_header(const Library& library, const Banner& banner) {
  const std::vector<Group> groups = groups_of(library);
  std::string text = to_string(banner) + "#pragma once\n\n";
  for (const Group& group : groups) {
    for (const Package* package : group.versions) text += forward_declarations(*package);
  }
  text += "\nnamespace kube::chain {\n\n";
  text += kLink;
  for (const Group& group : groups) {
    for (const Package* package : group.versions) text += version_class(group, *package);
    text += group_class(group);
  }
  text += all_groups(groups) + "\n}  // namespace kube::chain\n";
  return {"include/kube/api/chain.hpp", text};
}

}  // namespace kube::gen
