// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/managed_fields.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <algorithm>
#include <tuple>

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kMaxUpdaters = 10;

std::optional<ManagedEntry> read_entry(const Value& value) {
  if (!value.is_object()) return std::nullopt;
  ManagedEntry entry{
      std::string{text_member(value, "manager")},    std::string{text_member(value, "operation")},
      std::string{text_member(value, "apiVersion")}, std::string{text_member(value, "subresource")},
      std::string{text_member(value, "time")},       {}};
  if (entry.operation != "Apply" && entry.operation != "Update") return std::nullopt;
  if (entry.api_version.empty() || text_member(value, "fieldsType") != "FieldsV1")
    return std::nullopt;
  if (const Value* fields = member(value, "fieldsV1"); fields != nullptr && !fields->is_null()) {
    auto set = FieldSet::from_fields_v1(*fields);
    if (!set) return std::nullopt;
    entry.fields = std::move(*set);
  }
  return entry;
}

}  // namespace

std::string ManagedEntry::identity() const {
  std::string text =
      R"({"manager":)" + encode_json(Value{manager}) + R"(,"operation":")" + operation + '"';
  if (operation != "Apply") text += R"(,"apiVersion":)" + encode_json(Value{api_version});
  if (!subresource.empty()) text += R"(,"subresource":)" + encode_json(Value{subresource});
  return text + '}';
}

std::string ManagedEntry::shown(std::string_view version) const {
  std::string text = quoted_go(manager);
  if (!subresource.empty()) text += " with subresource " + quoted_go(subresource);
  if (operation == "Update") text.append(" using ").append(version);
  return text;
}

std::optional<ManagedEntries> read_managed_fields(const Value& object) {
  ManagedEntries entries;
  const Value* list = object.find("metadata.managedFields");
  if (list == nullptr || !list->is_array()) return entries;
  for (const Value& value : list->as_array()) {
    auto entry = read_entry(value);
    if (!entry) return std::nullopt;
    std::string id = entry->identity();
    entries.insert_or_assign(std::move(id), std::move(*entry));
  }
  return entries;
}

void write_managed_fields(Value& object, const ManagedEntries& entries) {
  if (entries.empty()) {
    if (Value* metadata = member(object, "metadata")) metadata->erase("managedFields");
    return;
  }
  std::vector<const ManagedEntry*> order;
  for (const auto& [id, entry] : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const ManagedEntry* entry) {
    return std::tie(entry->operation, entry->time, entry->manager, entry->api_version,
                    entry->subresource);
  });
  Value list = Value::array();
  for (const ManagedEntry* entry : order) {
    Value& value = list.push_back(Value::object());
    value["apiVersion"] = entry->api_version;
    value["fieldsType"] = "FieldsV1";
    value["fieldsV1"] = entry->fields.to_fields_v1();
    value["manager"] = entry->manager;
    value["operation"] = entry->operation;
    if (!entry->subresource.empty()) value["subresource"] = entry->subresource;
    if (!entry->time.empty()) value["time"] = entry->time;
  }
  object["metadata"]["managedFields"] = std::move(list);
}

void limit_updaters(ManagedEntries& entries) {
  std::vector<std::string> updaters;
  for (const auto& [id, entry] : entries) {
    if (entry.operation == "Update") updaters.push_back(id);
  }
  std::ranges::sort(updaters, {},
                    [&](const std::string& id) { return std::tie(entries.at(id).time, id); });
  std::size_t count = updaters.size();
  std::map<std::string, std::string> first_of_version;
  for (const std::string& id : updaters) {
    if (count <= kMaxUpdaters) return;
    const ManagedEntry entry = entries.at(id);
    const auto [first, is_first] = first_of_version.emplace(entry.api_version, id);
    if (is_first) continue;
    ManagedEntry bucket{"ancient-changes", "Update",    entry.api_version, "",
                        entry.time,        entry.fields};
    const std::string bucket_id = bucket.identity();
    const auto existing = entries.find(entries.contains(bucket_id) ? bucket_id : first->second);
    bucket.fields.add(existing->second.fields);
    entries.erase(existing);
    entries.erase(id);
    entries.insert_or_assign(bucket_id, std::move(bucket));
    --count;
  }
}

}  // namespace kube::testkit::detail
