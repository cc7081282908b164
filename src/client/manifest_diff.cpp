// SPDX-License-Identifier: Apache-2.0
#include "manifest_diff.hpp"

#include "object_state.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kube {

namespace detail {

namespace {

/// Metadata that the server changes with each write, or makes up in a dry run.
constexpr std::array<std::string_view, 6> kLeftOut{
    "managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"};
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the elements of a list by their names; nothing unless all have one, and each another.
std::optional<std::map<std::string_view, const Value*>> by_name(const Value& list) {
  std::map<std::string_view, const Value*> named;
  for (const Value& element : list.as_array()) {
    const Value& name = element["name"];
    if (!name.is_string() || !named.emplace(name.as_string(), &element).second) return std::nullopt;
  }
  return named;
}

/// Collects the fields in which two values differ.
class Differ {
 public:
  void compare(const Value& before, const Value& after, const std::string& path) {
    if (before == after) return;
    if (is_object_or_absent(before) && is_object_or_absent(after) &&
        before.size() + after.size() > 0) {
      compare_objects(before, after, path);
    } else if (before.is_array() && after.is_array()) {
      compare_lists(before, after, path);
    } else {
      changes_.push_back({path, before, after});
    }
  }
  [[nodiscard]] std::vector<FieldChange> take() { return std::move(changes_); }

 private:
  static bool is_object_or_absent(const Value& value) {
    return value.is_object() || value.is_absent();
  }

  void compare_objects(const Value& before, const Value& after, const std::string& path) {
    std::set<std::string_view> keys;
    for (const Value* const object : {&before, &after}) {
      if (object->is_absent()) continue;
      for (const auto& [key, value] : object->as_object()) keys.insert(key.view());
    }
    for (const std::string_view key : keys) compare(before[key], after[key], below(path, key));
  }

  void compare_lists(const Value& before, const Value& after, const std::string& path) {
    const auto old_names = by_name(before);
    const auto new_names = by_name(after);
    if (!old_names || !new_names) {
      for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
        compare(before[i], after[i], fmt::format("{}[{}]", path, i));
      }
      return;
    }
    const std::size_t found = changes_.size();
    std::map<std::string_view, std::pair<const Value*, const Value*>> both;
    const Value absent;
    for (const auto& [name, value] : *old_names) both[name] = {value, &absent};
    for (const auto& [name, value] : *new_names) {
      const auto [at, is_new] = both.try_emplace(name, &absent, value);
      if (!is_new) at->second.second = value;
    }
    for (const auto& [name, values] : both) {
      compare(*values.first, *values.second, fmt::format("{}[name={}]", path, name));
    }
    if (changes_.size() == found) changes_.push_back({path, before, after});  // only the order
  }

  /// Returns the path of a member, in the syntax of Value::find().
  static std::string below(const std::string& path, std::string_view key) {
    if (key.find_first_of(".[]'") != std::string_view::npos) {
      return fmt::format("{}['{}']", path, key);
    }
    return path.empty() ? std::string{key} : fmt::format("{}.{}", path, key);
  }

  std::vector<FieldChange> changes_;
};

/// Returns a copy without the fields that differ in any case.
Value comparable(const Value& object) {
  Value copy = object;
  if (copy["metadata"].is_object()) {
    for (const std::string_view name : kLeftOut) copy["metadata"].erase(name);
  }
  return copy;
}

/// Replaces the value at `path` in both objects by asterisks that tell whether it differs.
void mask(Value& before, Value& after, const std::string& path) {
  const Value* const old_value = before.find(path);
  const Value* const new_value = after.find(path);
  const bool is_changed =
      old_value != nullptr && new_value != nullptr && !(*old_value == *new_value);
  if (old_value != nullptr) before.at_path(path) = is_changed ? "*** (before)" : "***";
  if (new_value != nullptr) after.at_path(path) = is_changed ? "*** (after)" : "***";
}

/// Hides the values of a Secret.
void mask_secret(Value& before, Value& after) {
  mask(before, after, fmt::format("metadata.annotations['{}']", kLastApplied));
  for (const std::string_view field : {"data", "stringData"}) {
    std::set<std::string> keys;
    for (const Value* const object : {&before, &after}) {
      const Value* const values = object->find(field);
      if (values == nullptr || !values->is_object()) continue;
      for (const auto& [key, value] : values->as_object()) keys.insert(key.str());
    }
    for (const std::string& key : keys) mask(before, after, fmt::format("{}['{}']", field, key));
  }
}

}  // namespace

std::vector<FieldChange> changes_between(const Value& before, const Value& after) {
  Differ differ;
  differ.compare(before, after, "");
  return differ.take();
}

ApplyOptions apply_options(const ManifestOptions& options, bool dry_run) {
  return {.field_manager = options.field_manager,
          .force = options.force,
          .dry_run = dry_run,
          .field_validation = options.field_validation};
}

Comparison DryRun::compare(const PlannedObject& planned, const std::stop_token& stop) {
  if (!planned.is_served) {
    return {.action = ManifestAction::kNotChecked,
            .problem = "the manifest itself defines its kind"};
  }
  if (new_namespaces_.contains(planned.key.namespace_)) {
    return {.action = ManifestAction::kNotChecked,
            .problem = "the manifest itself creates its namespace"};
  }
  const Resource<Value> resource = planned.resource(client_);
  const Ref<Value> live = resource.find(planned.key.name, {}, stop);
  Comparison found;
  found.object = resource.apply(*planned.from->object, apply_options(options_, true), stop);
  Value before = live ? comparable(*live) : Value::object();
  Value after = comparable(*found.object);
  if ((*planned.from->object)["status"].is_absent()) {
    // Controllers may change it between the two requests.
    before.erase("status");
    after.erase("status");
  }
  if (planned.is_kind("", "Secret")) mask_secret(before, after);
  found.changes = changes_between(before, after);
  if (!live) {
    found.action = ManifestAction::kCreated;
    if (planned.is_kind("", "Namespace")) new_namespaces_.insert(planned.key.name);
  } else if (!found.changes.empty()) {
    found.action = ManifestAction::kChanged;
  }
  return found;
}

}  // namespace detail

std::vector<ObjectDiff> diff_manifest(const Client& client, const Manifest& manifest,
                                      const ManifestOptions& options, std::stop_token stop) {
  if (options.field_manager.empty()) {
    throw std::invalid_argument("ManifestOptions::field_manager is empty");
  }
  RestMapper mapper{client};
  const auto plan = detail::make_plan(client, mapper, manifest, options.namespace_,
                                      detail::UnknownKind::kRefuse, stop);
  detail::DryRun dry_run{client, options};
  std::vector<ManifestResult> results = detail::untried(plan);
  std::vector<ObjectDiff> diffs;
  for (std::size_t i = 0; i < plan.size() && !stop.stop_requested(); ++i) {
    const bool go_on = detail::attempt(results[i], [&] {
      detail::Comparison found = dry_run.compare(plan[i], stop);
      results[i].action = found.action;
      diffs.push_back({.action = found.action,
                       .kind = results[i].kind,
                       .key = results[i].key,
                       .place = results[i].place,
                       .changes = std::move(found.changes)});
    });
    if (!go_on) break;
  }
  detail::throw_failures("comparing the manifest", results);
  return diffs;
}

std::string to_string(const ObjectDiff& diff) {
  std::string text =
      fmt::format("{} {}\n", detail::describe(diff.kind, diff.key), to_string(diff.action));
  for (const FieldChange& change : diff.changes) {
    if (change.before.is_absent()) {
      text += fmt::format("  + {}: {}\n", change.path, encode_json(change.after));
    } else if (change.after.is_absent()) {
      text += fmt::format("  - {}: {}\n", change.path, encode_json(change.before));
    } else {
      text += fmt::format("  ~ {}: {} -> {}\n", change.path, encode_json(change.before),
                          encode_json(change.after));
    }
  }
  return text;
}

}  // namespace kube
