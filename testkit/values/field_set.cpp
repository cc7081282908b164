// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/field_set.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

namespace {

bool is_step(std::string_view text) {
  return text.size() >= 2 && text[1] == ':' &&
         std::string_view{"fkvi"}.find(text[0]) != std::string_view::npos;
}

/// Drops empty children.
void tidy(FieldSet& set) {
  std::erase_if(set.children, [](const auto& entry) {
    return !entry.second.is_member && entry.second.children.empty();
  });
}

bool read(const Value& fields, FieldSet& set) {
  if (!fields.is_object()) return false;
  for (const auto& [key, value] : fields.as_object()) {
    if (key == ".") {
      set.is_member = true;
      continue;
    }
    FieldSet child;
    if (!is_step(key.view()) || !read(value, child)) return false;
    if (value.size() == 0) child.is_member = true;
    set.children.emplace_hint(set.children.end(), key.str(), std::move(child));
  }
  return true;
}

std::string scalar_text(const Value& value) {
  return value.is_string() ? quoted_go(value.as_string()) : encode_json(value);
}

void visit_members(const FieldSet& set, const std::string& path,
                   const std::function<void(const std::string&)>& visit) {
  for (const auto& [step, child] : set.children) {
    if (child.is_member) visit(path + step_text(step));
  }
  for (const auto& [step, child] : set.children) {
    if (!child.children.empty()) visit_members(child, path + step_text(step), visit);
  }
}

}  // namespace

std::optional<FieldSet> FieldSet::from_fields_v1(const Value& fields) {
  FieldSet set;
  if (!read(fields, set)) return std::nullopt;
  return set;
}

Value FieldSet::to_fields_v1() const {
  Value fields = Value::object();
  if (is_member && !children.empty()) fields["."] = Value::object();
  for (const auto& [step, child] : children) fields[step] = child.to_fields_v1();
  return fields;
}

void FieldSet::insert(const std::vector<std::string>& path) {
  FieldSet* here = this;
  for (const std::string& step : path) here = &here->children[step];
  here->is_member = true;
}

void FieldSet::add(const FieldSet& other) {
  is_member = is_member || other.is_member;
  for (const auto& [step, child] : other.children) children[step].add(child);
}

void FieldSet::subtract(const FieldSet& other) {
  is_member = is_member && !other.is_member;
  for (const auto& [step, child] : other.children) {
    if (const auto found = children.find(step); found != children.end())
      found->second.subtract(child);
  }
  tidy(*this);
}

void FieldSet::subtract_trees(const FieldSet& other) {
  for (const auto& [step, child] : other.children) {
    const auto found = children.find(step);
    if (found == children.end()) continue;
    if (child.is_member) {
      children.erase(found);
    } else {
      found->second.subtract_trees(child);
    }
  }
  tidy(*this);
}

void FieldSet::intersect(const FieldSet& other) {
  is_member = is_member && other.is_member;
  for (auto it = children.begin(); it != children.end();) {
    const FieldSet* match = other.child(it->first);
    if (match == nullptr) {
      it = children.erase(it);
    } else {
      it++->second.intersect(*match);
    }
  }
  tidy(*this);
}

void FieldSet::for_each(const std::function<void(const std::string& path)>& visit) const {
  visit_members(*this, {}, visit);
}

std::string step_text(std::string_view step) {
  const std::string_view rest = step.substr(2);
  if (step[0] == 'f') return fmt::format(".{}", rest);
  if (step[0] == 'i') return fmt::format("[{}]", rest);
  try {
    const Value value = *decode_json<Value>(rest);
    if (step[0] == 'v') return fmt::format("[={}]", scalar_text(value));
    std::string keys;
    for (const auto& [key, part] : value.as_object()) {
      keys += fmt::format("{}{}={}", keys.empty() ? "" : ",", key.view(), scalar_text(part));
    }
    return fmt::format("[{}]", keys);
  } catch (const Error&) {  // clients can write malformed steps
    return fmt::format("[{}]", rest);
  }
}

}  // namespace kube::testkit::detail
