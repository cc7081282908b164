// SPDX-License-Identifier: Apache-2.0
#include "openapi_paths.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace kube::gen {
namespace {

/// The relevant parts of a path: "/apis/g/v/namespaces/{namespace}/foos/{name}/status".
struct ParsedPath {
  std::string group;
  std::string version;
  bool namespaced = false;
  std::string plural;
  std::string subresource;
};

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

std::optional<ParsedPath> parse(std::string_view path) {
  std::vector<std::string_view> parts = split(path);
  ParsedPath result;
  std::size_t at = 0;
  if (parts.size() > 2 && parts[0] == "api") {
    result.version = parts[1];
    at = 2;
  } else if (parts.size() > 3 && parts[0] == "apis") {
    result.group = parts[1];
    result.version = parts[2];
    at = 3;
  } else {
    return {};
  }
  if (parts[at] == "watch") return {};  // the deprecated form of ?watch=1
  if (parts.size() > at + 2 && parts[at] == "namespaces" && parts[at + 1] == "{namespace}") {
    result.namespaced = true;
    at += 2;
  }
  const std::size_t left = parts.size() - at;
  if (left == 0 || left > 3 || parts[at].starts_with('{')) return {};
  result.plural = parts[at];
  if (left >= 2 && parts[at + 1] != "{name}") return {};
  if (left == 3) result.subresource = parts[at + 2];
  return result;
}

/// Returns the discovery verb for the action of an operation; empty if there is none.
std::string_view verb_of(std::string_view action) {
  if (action == "post") return "create";
  if (action == "put") return "update";
  if (action == "watchlist") return "watch";
  constexpr std::array kSame = std::to_array<std::string_view>(
      {"delete", "deletecollection", "get", "list", "patch", "watch"});
  const auto* found = std::ranges::find(kSame, action);
  return found == kSame.end() ? std::string_view{} : *found;
}

struct Verbs {
  std::set<std::string> verbs;
  GroupVersionKind kind;
};

}  // namespace

GroupVersionKind read_kind_name(const Place& place) {
  return {place["group"].text_or(""), place["version"].text(), place["kind"].text()};
}

std::optional<Resource> find_resource(const Place& document, const GroupVersionKind& kind) {
  if (!document["paths"].exists()) return {};
  Resource resource;
  resource.group = kind.group;
  resource.version = kind.version;
  resource.kind = kind.kind;
  std::set<std::string> verbs;
  std::map<std::string, std::map<std::string, Verbs>> subresources;  // by plural
  for (const auto& [path, operations] : document["paths"].members()) {
    const std::optional<ParsedPath> parsed = parse(path);
    if (!parsed || parsed->group != kind.group || parsed->version != kind.version) continue;
    if (!operations.value().is_object()) continue;
    for (const auto& [method, operation] : operations.members()) {
      if (!operation.value().is_object()) continue;
      const Place declared = operation["x-kubernetes-group-version-kind"];
      const std::string action = operation["x-kubernetes-action"].text_or("");
      const std::string verb{verb_of(action)};
      if (!declared.exists() || verb.empty()) continue;
      if (!parsed->subresource.empty()) {
        Verbs& entry = subresources[parsed->plural][parsed->subresource];
        entry.verbs.insert(verb);
        entry.kind = read_kind_name(declared);
        continue;
      }
      if (read_kind_name(declared) != kind) continue;
      resource.plural = parsed->plural;
      resource.namespaced = resource.namespaced || parsed->namespaced;
      verbs.insert(verb);
    }
  }
  if (resource.plural.empty()) return {};
  if (verbs.contains("list")) {
    verbs.insert("watch");  // the same path with ?watch=1
    resource.list_kind = kind.kind + "List";
  }
  resource.verbs.assign(verbs.begin(), verbs.end());
  resource.served_by_default = true;
  for (const char c : kind.kind) {
    resource.singular += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const auto& [name, entry] : subresources[resource.plural]) {
    resource.subresources.push_back({name,
                                     entry.kind.group,
                                     entry.kind.version,
                                     entry.kind.kind,
                                     {entry.verbs.begin(), entry.verbs.end()}});
  }
  return resource;
}

}  // namespace kube::gen
