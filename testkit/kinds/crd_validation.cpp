// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "testkit/kinds/crd_registry.hpp"
#include "testkit/validation/name_rules.hpp"
#include "testkit/values/structural_schema.hpp"

namespace kube::testkit::detail {

namespace {

using Errors = std::vector<FieldError>;

constexpr std::size_t kMaxSelectable = 8;

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

bool is_protected(std::string_view group) {
  constexpr std::string_view kDomains[] = {"k8s.io", "kubernetes.io"};
  return std::ranges::any_of(kDomains, [&](std::string_view domain) {
    return group == domain || group.ends_with(std::string{'.'} + std::string{domain});
  });
}

/// Returns the schema at a simple path such as ".spec.color", or null.
const Value* schema_at(const Value& schema, std::string_view path) {
  const Value* at = &schema;
  while (!path.empty()) {
    if (path.front() != '.') return nullptr;
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(name.size());
    if (name.empty()) return nullptr;
    at = &(*at)["properties"][name];
    if (at->is_absent()) return nullptr;
  }
  return at;
}

void check_selectable(const Value& version, const std::string& at, Errors& errors) {
  const Value& list = version["selectableFields"];
  if (list.size() > kMaxSelectable) {
    errors.push_back(too_many(at + ".selectableFields", list.size(), kMaxSelectable));
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}.selectableFields[{}].jsonPath", at, i);
    const std::string_view path = text(list[i]["jsonPath"]);
    if (path.empty()) {
      errors.push_back(required_value(place));
      continue;
    }
    if (!seen.insert(path).second) errors.push_back(duplicate_value(place, path));
    if (path == ".metadata" || path.starts_with(".metadata.")) {
      errors.push_back(invalid_value(place, path, "must not point to fields in metadata"));
      continue;
    }
    const Value* schema = schema_at(version["schema"]["openAPIV3Schema"], path);
    const std::string_view type = schema == nullptr ? "" : text((*schema)["type"]);
    if (type != "string" && type != "boolean" && type != "integer") {
      errors.push_back(
          invalid_value(place, path, "must point to a field of type string, boolean or integer"));
    }
  }
}

void check_subresources(const Value& version, const std::string& at, Errors& errors) {
  const Value& scale = version["subresources"]["scale"];
  if (!scale.is_object()) return;
  const auto check = [&](const char* member, std::string_view prefix) {
    const std::string place = at + ".subresources.scale." + member;
    const std::string_view path = text(scale[member]);
    if (path.empty()) {
      errors.push_back(required_value(place));
    } else if (!path.starts_with(prefix)) {
      errors.push_back(
          invalid_value(place, path, fmt::format("should be a json path under {}", prefix)));
    }
  };
  check("specReplicasPath", ".spec.");
  check("statusReplicasPath", ".status.");
}

/// Returns whether the stored definition has a version of that name with the same schema.
bool is_stored(const Value& version, const Value* live) {
  if (live == nullptr) return false;
  return std::ranges::any_of(live->get_array("spec.versions"), [&](const Value& one) {
    return one["name"] == version["name"] && one["schema"] == version["schema"];
  });
}

void check_versions(const Value& spec, const Value* live, Errors& errors) {
  const Value& versions = spec["versions"];
  std::set<std::string_view> names;
  std::size_t storage = 0;
  // If all versions have the same schema, a server reports errors at a single path.
  bool same = versions.size() > 0;
  for (std::size_t i = 1; i < versions.size(); ++i) {
    same = same && versions[i]["schema"] == versions[0]["schema"];
  }
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions[i];
    const std::string at = fmt::format("spec.versions[{}]", i);
    const std::string_view name = text(version["name"]);
    for (const std::string& problem : dns1035_label_problems(name)) {
      errors.push_back(invalid_value(at + ".name", name, problem));
      if (i == 0) errors.push_back(invalid_value("spec.version", name, problem));
    }
    if (!names.insert(name).second) errors.push_back(duplicate_value(at + ".name", name));
    if (version["storage"] == Value{true}) ++storage;
    const Value& schema = version["schema"]["openAPIV3Schema"];
    if (!schema.is_object()) {
      errors.push_back(required_value(at + ".schema.openAPIV3Schema"));
    } else if (!same || i == 0) {
      const Errors found = check_structural(
          schema,
          same ? std::string{"spec.validation.openAPIV3Schema"} : at + ".schema.openAPIV3Schema",
          is_stored(version, live) ? cel::CostLimits::kTotal : cel::CostLimits::kAll);
      errors.insert(errors.end(), found.begin(), found.end());
    }
    check_selectable(version, at, errors);
    check_subresources(version, at, errors);
  }
  if (storage != 1) {
    errors.push_back(invalid_value("spec.versions", versions,
                                   "must have exactly one version marked as storage version"));
  }
}

}  // namespace

std::vector<FieldError> validate_definition(const Value& definition, const Value* live) {
  Errors errors;
  const Value& spec = definition["spec"];
  const std::string_view group = text(spec["group"]);
  const std::string_view plural = text(spec["names"]["plural"]);
  const std::string expected = fmt::format("{}.{}", plural, group);
  if (live == nullptr && text(definition["metadata"]["name"]) != expected) {
    errors.push_back(invalid_value("metadata.name", definition["metadata"]["name"],
                                   "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    errors.push_back(required_value("spec.group"));
  } else if (const Problems problems = dns1123_subdomain_problems(group); !problems.empty()) {
    errors.push_back(invalid_value("spec.group", group, problems.front()));
  } else if (group.find('.') == std::string_view::npos) {
    errors.push_back(
        invalid_value("spec.group", group, "should be a domain with at least one dot"));
  }
  if (is_protected(group) &&
      text(definition["metadata"]["annotations"]["api-approved.kubernetes.io"]).empty()) {
    errors.push_back(required_value("metadata.annotations[api-approved.kubernetes.io]",
                                    "protected groups must have approval annotation "
                                    "\"api-approved.kubernetes.io\""));
  }
  const std::string_view scope = text(spec["scope"]);
  if (scope.empty()) {
    errors.push_back(required_value("spec.scope"));
  } else if (scope != "Namespaced" && scope != "Cluster") {
    const std::array<std::string, 2> known{"Cluster", "Namespaced"};
    errors.push_back(not_supported("spec.scope", scope, known));
  }
  for (const char* member : {"plural", "singular"}) {
    const std::string_view name = text(spec["names"][member]);
    if (name.empty()) {
      errors.push_back(required_value(fmt::format("spec.names.{}", member)));
    } else if (const Problems problems = dns1035_label_problems(name); !problems.empty()) {
      errors.push_back(invalid_value(fmt::format("spec.names.{}", member), name, problems.front()));
    }
  }
  for (const char* member : {"kind", "listKind"}) {
    const std::string name = kube::detail::lower_case(text(spec["names"][member]));
    if (name.empty()) {
      errors.push_back(required_value(fmt::format("spec.names.{}", member)));
    } else if (const Problems problems = dns1035_label_problems(name); !problems.empty()) {
      errors.push_back(invalid_value(fmt::format("spec.names.{}", member), spec["names"][member],
                                     problems.front()));
    }
  }
  if (spec["preserveUnknownFields"] == Value{true}) {
    errors.push_back(invalid_value("spec.preserveUnknownFields", true,
                                   "must be false in order to use defaults"));
  }
  check_versions(spec, live, errors);
  if (live != nullptr) {
    for (const char* member : {"group", "scope"}) {
      if (!(spec[member] == (*live)["spec"][member])) {
        errors.push_back(
            invalid_value(fmt::format("spec.{}", member), spec[member], "field is immutable"));
      }
    }
  }
  if (definition["status"]["storedVersions"].size() == 0) {
    errors.push_back(
        invalid_value("status.storedVersions", nullptr, "must have at least one stored version"));
  }
  for (std::size_t i = 0; i < definition["status"]["storedVersions"].size(); ++i) {
    const Value& stored = definition["status"]["storedVersions"][i];
    const bool present = std::ranges::any_of(definition.get_array("spec.versions"),
                                             [&](const Value& v) { return v["name"] == stored; });
    if (!present) {
      errors.push_back(invalid_value(fmt::format("status.storedVersions[{}]", i), stored,
                                     "must appear in spec.versions"));
    }
  }
  return errors;
}

}  // namespace kube::testkit::detail
