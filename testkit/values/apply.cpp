// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/apply.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/validation/field_error.hpp"
#include "testkit/values/managed_fields.hpp"
#include "testkit/values/typed_value.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/api/group_version.hpp>
#include <kube/api/time_text.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Fields that are never owned by a manager (SA-6).
const FieldSet& untracked() {
  static const FieldSet kSet = [] {
    FieldSet made;
    made.insert({"f:apiVersion"});
    made.insert({"f:kind"});
    made.insert({"f:metadata"});
    for (const char* name :
         {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName",
          "f:generation", "f:managedFields", "f:resourceVersion"}) {
      made.insert({"f:metadata", name});
    }
    return made;
  }();
  return kSet;
}

FieldSet ignored_by(const FieldManager& who) {
  FieldSet set;
  if (who.ignore_status) set.insert({"f:status"});
  return set;
}

std::string now_text(Clock::WallTime now) {
  char text[time_text::kSecondsTextSize];
  return {text, time_text::format_seconds(time_text::seconds_from_time_point(now), text)};
}

/// Returns the object that a create is compared with. It is empty for custom resources.
Value empty_object(const SchemaNode& schema, const FieldManager& who) {
  return who.custom_resource ? Value::object() : zero_object(schema);
}

/// Prepares an object for the comparison with `other`, if given: removes managedFields and members
/// that are equal in both, and adds the zero values that Go always writes.
Value comparable(const SchemaNode& schema, const Value& object, const Value& other = {}) {
  if (!object.is_object()) return object;
  // Most members are left out, so the object is rebuilt instead of copied and pruned.
  Value result = Value::object();
  for (const auto& [key, value] : object.as_object()) {
    if (key != "metadata" || !value.is_object()) {
      if (value != other[key.view()]) result[key.view()] = value;
      continue;
    }
    Value& metadata = result["metadata"];
    metadata = Value::object();
    const Value& others = other["metadata"];
    for (const auto& [name, part] : value.as_object()) {
      if (name != "managedFields" && part != others[name.view()]) metadata[name.view()] = part;
    }
  }
  fill_zero_values(schema, result);
  return result;
}

ManagedEntry entry_of(const FieldManager& who, std::string_view operation) {
  return {who.name.empty() ? "unknown" : who.name,
          std::string{operation},
          who.api_version,
          who.subresource,
          now_text(who.now),
          {}};
}

/// Removes changed fields from all entries but `own`.
void take_away(ManagedEntries& entries, const Comparison& changes, std::string_view own) {
  for (auto it = entries.begin(); it != entries.end();) {
    if (it->first != own) {
      it->second.fields.subtract(changes.modified);
      it->second.fields.subtract(changes.added);
      it->second.fields.subtract(changes.removed);
    }
    it = it->second.fields.empty() ? entries.erase(it) : std::next(it);
  }
}

/// Records that `who` changed `before` to `after`.
void record_update(const SchemaNode& schema, const Value& before, const Value& after,
                   const FieldManager& who, ManagedEntries& entries) {
  Comparison changes = compare_typed(schema, before, after);
  changes.ignore(ignored_by(who));
  take_away(entries, changes, {});
  ManagedEntry entry = entry_of(who, "Update");
  entry.fields = std::move(changes.modified);
  entry.fields.add(changes.added);
  entry.fields.subtract(untracked());
  if (entry.fields.empty()) return;
  std::string id = entry.identity();
  if (const auto previous = entries.find(id); previous != entries.end())
    entry.fields.add(previous->second.fields);
  entries.insert_or_assign(std::move(id), std::move(entry));
}

bool clears_managed_fields(const Value& object, bool custom_resource) {
  const Value* list = object.find("metadata.managedFields");
  if (list == nullptr || !list->is_array()) return false;
  if (list->size() == 0) return !custom_resource;
  return list->size() == 1 && (*list)[0].is_object() && (*list)[0].size() == 0;
}

ManagedEntries entries_or_none(const Value& object) {
  return read_managed_fields(object).value_or(ManagedEntries{});
}

std::string_view annotation_of(const Value& object) {
  const Value* annotations = object.find("metadata.annotations");
  return annotations == nullptr ? std::string_view{} : text_member(*annotations, kLastApplied);
}

struct Conflict {
  std::string owner;  ///< ManagedEntry::shown()
  std::string path;
};

[[noreturn]] void refuse(const std::vector<Conflict>& conflicts) {
  std::string text;
  if (conflicts.size() == 1) {
    text = fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].owner,
                       conflicts[0].path);
  } else {
    text = fmt::format("Apply failed with {} conflicts: ", conflicts.size());
    std::string_view owner;
    for (const Conflict& conflict : conflicts) {
      if (conflict.owner != owner) {
        text += fmt::format("{}conflicts with {}:", owner.empty() ? "" : "\n", conflict.owner);
      }
      owner = conflict.owner;
      text += fmt::format("\n- {}", conflict.path);
    }
  }
  meta::v1::Status status = failure_status(409, meta::v1::status_reason::kConflict, text);
  auto& details = status.details.emplace();
  for (const Conflict& conflict : conflicts) {
    auto& cause = details.causes.emplace_back();
    cause.reason = meta::v1::cause_type::kFieldManagerConflict;
    cause.message = fmt::format("conflict with {}", conflict.owner);
    cause.field = conflict.path;
  }
  throw ApiError{std::move(status)};
}

class Applier {
 public:
  Applier(const SchemaNode& schema, const Value& live, const Value& config, const FieldManager& who)
      : schema_(schema),
        config_(config),
        who_(who),
        own_(entry_of(who, "Apply")),
        own_id_(own_.identity()),
        entries_(entries_or_none(live)) {
    if (live.is_absent()) {
      live_ = Value::object();
      compared_live_ = empty_object(schema, who);
    } else {
      live_ = live;
      if (Value* metadata = member(live_, "metadata")) metadata->erase("managedFields");
      compared_live_ = comparable(schema, live);
      if (entries_.empty()) {
        FieldManager before = who;
        before.name = "before-first-apply";
        record_update(schema, empty_object(schema, who), compared_live_, before, entries_);
      }
    }
  }

  Value run(bool force) {
    check_config();
    Value merged = merge_typed(schema_, live_, config_);
    const FieldSet last = entries_.contains(own_id_) ? entries_.at(own_id_).fields : FieldSet{};
    std::string last_time = entries_.contains(own_id_) ? entries_.at(own_id_).time : std::string{};
    own_.fields = field_set_of(schema_, config_);
    own_.fields.subtract_trees(ignored_by(who_));
    entries_.insert_or_assign(own_id_, own_);
    // Parents that became empty are removed with their last member, unless the configuration sets
    // them to empty.
    merged = merge_typed(schema_, without_dropped(std::move(merged), last), config_);

    const Value compared = comparable(schema_, merged);
    Comparison changes = compare_typed(schema_, compared_live_, compared);
    changes.ignore(ignored_by(who_));
    if (!force) check_conflicts(changes);
    take_away(entries_, changes, own_id_);

    if (const auto own = entries_.find(own_id_); own != entries_.end()) {
      if (compared == compared_live_) own->second.time = last_time;
      own->second.fields.subtract(untracked());
      if (own->second.fields.empty()) entries_.erase(own);
    }
    if (who_.name == "kubectl" && !annotation_of(merged).empty()) {
      merged["metadata"]["annotations"][kLastApplied] = last_applied_text();
    }
    write_managed_fields(merged, entries_);
    return merged;
  }

 private:
  void check_config() const {
    const Value* managed = config_.find("metadata.managedFields");
    if (managed != nullptr && managed->is_array()) {
      throw ApiError{failure_status(400, meta::v1::status_reason::kBadRequest,
                                    "metadata.managedFields must be nil")};
    }
    const std::vector<std::string> errors = validate_typed(schema_, config_);
    if (errors.empty()) return;
    const GroupVersion version = parse_group_version(who_.api_version);
    const std::string shown =
        errors.size() == 1 ? errors[0] : fmt::format("errors:\n  {}", fmt::join(errors, "\n  "));
    throw ApiError{failure_status(
        500, "",
        fmt::format("failed to create typed patch object ({}/{}; {}): {}",
                    text_member(config_["metadata"], "namespace"),
                    text_member(config_["metadata"], "name"),
                    to_string(version.with_kind(text_member(config_, "kind"))), shown))};
  }

  /// Returns `merged` without the fields that this manager applied last time and does not apply
  /// now, unless other managers own them.
  Value without_dropped(Value merged, const FieldSet& last) const {
    if (last.empty()) return merged;
    const FieldSet dropped = with_named_fields(schema_, last);
    const FieldSet present = with_named_fields(schema_, field_set_of(schema_, merged));
    FieldSet owned;
    for (const auto& [id, entry] : entries_) owned.add(entry.fields);
    // Removal takes whole subtrees, so the remaining fields are determined first, then the removed
    // fields that have another owner. Parents that become empty are kept: they may contain fields
    // without an owner.
    FieldSet remaining = present;
    remaining.subtract_trees(dropped);
    FieldSet doomed = present;
    doomed.subtract(remaining);
    doomed.subtract(with_named_fields(schema_, std::move(owned)));
    FieldSet kept = present;
    kept.subtract_trees(doomed);
    FieldSet gone = present;
    gone.subtract(kept);
    gone.intersect(dropped);
    return remove_typed(schema_, std::move(merged), gone);
  }

  void check_conflicts(const Comparison& changes) const {
    FieldSet set = changes.modified;
    set.add(changes.added);
    const FieldSet allowed = set.empty() ? FieldSet{} : formerly_applied();
    std::vector<Conflict> conflicts;
    for (const auto& [id, found] : entries_) {
      if (id == own_id_) continue;
      const auto& entry = found;  // clang 14 cannot capture a structured binding
      FieldSet common = entry.fields;
      common.intersect(set);
      common.subtract(allowed);
      // Fields applied through `scale` are shown in the version of Scale (ST-4).
      const std::string owner =
          entry.shown(who_.subresource == "scale" ? "autoscaling/v1" : entry.api_version);
      common.for_each([&](const std::string& path) { conflicts.push_back({owner, path}); });
    }
    if (!conflicts.empty()) refuse(conflicts);
  }

  /// Returns the fields that client-side apply set and nobody changed since: kubectl keeps their
  /// ownership.
  FieldSet formerly_applied() const {
    const std::string_view text =
        who_.name == "kubectl" ? annotation_of(live_) : std::string_view{};
    if (text.empty()) return {};
    try {
      const Value last = *decode_json<Value>(text);
      if (text_member(last, "apiVersion") != who_.api_version ||
          !validate_typed(schema_, last).empty())
        return {};
      FieldSet set = field_set_of(schema_, last);
      const Comparison changes = compare_typed(schema_, last, compared_live_);
      set.subtract(changes.modified);
      set.subtract(changes.added);
      set.subtract(changes.removed);
      return set;
    } catch (const Error&) {  // the annotation is not JSON
      return {};
    }
  }

  std::string last_applied_text() const {
    Value config = config_;
    if (Value* metadata = member(config, "metadata")) {
      if (Value* annotations = member(*metadata, "annotations")) annotations->erase(kLastApplied);
    }
    return encode_json(config) + '\n';
  }

  const SchemaNode& schema_;
  const Value& config_;
  const FieldManager& who_;
  ManagedEntry own_;
  std::string own_id_;
  ManagedEntries entries_;
  Value live_;           ///< without managedFields
  Value compared_live_;  ///< live_ as returned by comparable()
};

}  // namespace

std::string manager_from_user_agent(std::string_view user_agent) {
  const std::string_view name = user_agent.substr(0, user_agent.find('/'));
  return std::string{name.empty() ? "unknown" : name.substr(0, 128)};
}

Value track_update(const SchemaNode& schema, const Value& live, Value next,
                   const FieldManager& who) {
  const bool creates = live.is_absent();
  ManagedEntries entries;
  if (!who.subresource.empty() && !creates) {
    entries = entries_or_none(live);
  } else if (!clears_managed_fields(next, who.custom_resource)) {
    entries = entries_or_none(next);
    if (entries.empty() && !creates) entries = entries_or_none(live);
  }
  // An object without managedFields stays untracked until its first apply.
  if (!entries.empty() || creates) {
    const Value before = creates ? empty_object(schema, who) : comparable(schema, live, next);
    record_update(schema, before, comparable(schema, next, live), who, entries);
    limit_updaters(entries);
  }
  write_managed_fields(next, entries);
  return next;
}

Value track_scale(const SchemaNode& schema, const Value& live, Value next, const FieldManager& who,
                  std::string_view path) {
  const auto owns = [&](const Value& entry) {
    const Value* place = &entry["fieldsV1"];
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      place = &(*place)[fmt::format("f:{}", path.substr(begin, end - begin))];
      begin = end + 1;
    }
    return !place->is_absent();
  };
  if (std::ranges::none_of(live.get_array("metadata.managedFields"), owns)) return next;
  const Value* const before = live.find(path);
  const Value* const now = std::as_const(next).find(path);
  if (now == nullptr || *now != Value{0} || (before != nullptr && *before == *now)) {
    return track_update(schema, live, std::move(next), who);
  }
  const std::size_t leaf = path.rfind('.');
  next.at_path(path.substr(0, leaf)).erase(path.substr(leaf + 1));
  next = track_update(schema, live, std::move(next), who);
  next.at_path(path) = 0;
  return next;
}

Value apply_patch(const SchemaNode& schema, const Value& live, const Value& config,
                  const FieldManager& who, bool force) {
  return Applier{schema, live, config, who}.run(force);
}

Value restrict_to_status(Value config) {
  Value result = Value::object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const Value* value = member(config, name)) result[name] = *value;
  }
  const Value& metadata = std::as_const(config)["metadata"];
  for (const char* name : {"name", "namespace", "resourceVersion", "uid", "managedFields"}) {
    if (const Value* value = member(metadata, name)) result["metadata"][name] = *value;
  }
  if (Value* status = member(config, "status")) result["status"] = std::move(*status);
  return result;
}

Value keep_old_timestamps(const Value& live, Value next) {
  const Value* old_entries = live.find("metadata.managedFields");
  const Value* new_entries = std::as_const(next).find("metadata.managedFields");
  if (old_entries == nullptr || new_entries == nullptr || *old_entries == *new_entries ||
      old_entries->size() != new_entries->size()) {
    return next;
  }
  // The comparison below copies both objects, so objects that obviously differ are excluded first.
  const bool others_differ = std::ranges::any_of(live.as_object(), [&](const auto& live_member) {
    const auto& [key, value] = live_member;
    return key != "metadata" && value != std::as_const(next)[key.view()];
  });
  if (others_differ) return next;
  const auto stripped = [](Value object) {
    object["metadata"].erase("resourceVersion");
    std::vector<std::string> entries;
    for (Value& entry : elements(object["metadata"]["managedFields"])) {
      entry.erase("time");
      entries.push_back(encode_json(entry));
    }
    std::ranges::sort(entries);  // the order of entries depends on their times
    object["metadata"]["managedFields"] = fmt::format("{}", fmt::join(entries, "\n"));
    return object;
  };
  if (!old_entries->is_array() || !new_entries->is_array() || !(stripped(live) == stripped(next)))
    return next;
  next["metadata"]["managedFields"] = Value{*old_entries};
  return next;
}

}  // namespace kube::testkit::detail
