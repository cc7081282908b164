// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/projection.hpp>

#include "codec/projection_node.hpp"
#include <kube/object/value.hpp>

#include <stdexcept>

namespace kube {

namespace {

/// The struct, map or Value in which a path continues: boxes and lists are transparent.
const Type& inside(const Type& type) {
  const Type* inner = &type;
  while (inner->kind == Kind::kBox || inner->kind == Kind::kList) inner = inner->element;
  return *inner;
}

[[noreturn]] void no_such_field(const std::string& path, std::string_view step, const Type& type) {
  throw std::invalid_argument("projection \"" + path + "\": " + std::string{type.name} +
                              " has no field \"" + std::string{step} + '"');
}

/// Returns the type that `step` leads to from `type`.
const Type& below(const Type& type, const PathStep& step, const std::string& path) {
  if (!step.is_index && type.kind == Kind::kMap) return inside(*type.element);
  if (!step.is_index && type.kind == Kind::kValue) return type;
  for (const Field& field : type.fields) {
    if (!step.is_index && field.name() == step.key) return inside(*field.type);
  }
  no_such_field(path, step.is_index ? std::to_string(step.index) : step.key, type);
}

std::vector<PathStep> steps_of(const Type& type, const std::string& path) {
  std::vector<PathStep> steps;
  try {
    steps = parse_path(path);
  } catch (const ValueError& error) {
    throw std::invalid_argument("projection: " + std::string{error.what()});
  }
  if (steps.empty()) throw std::invalid_argument("projection: empty path");
  // Checks the whole path, even if another path already covers a part of it.
  const Type* reached = &type;
  for (const PathStep& step : steps) reached = &below(*reached, step, path);
  return steps;
}

}  // namespace

std::shared_ptr<Projection::Node> Projection::Node::make(const Type& type, bool keeps_named) {
  auto node = std::make_shared<Node>();
  node->fields_.resize(type.fields.size());
  for (Entry& entry : node->fields_) entry.kept = !keeps_named;
  node->others_kept_ = !keeps_named;
  return node;
}

void Projection::Node::name(const Type& type, const std::string& path, std::size_t step,
                            const std::vector<PathStep>& steps, bool keeps_named) {
  const std::string& key = steps[step].key;
  Entry* entry = nullptr;
  if (type.kind == Kind::kStruct) {
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (type.fields[i].name() == key) entry = &fields_[i];
    }
  } else {
    entry = &keys_.try_emplace(key, Entry{!keeps_named, nullptr}).first->second;
  }
  const Type& next = below(type, steps[step], path);
  const bool is_last = step + 1 == steps.size();
  const bool already_whole = entry->kept == keeps_named && entry->below == nullptr;
  if (is_last) {
    *entry = {keeps_named, nullptr};
  } else if (!already_whole || !keeps_named) {
    if (!keeps_named && !entry->kept) return;  // already dropped as a whole
    entry->kept = true;
    if (entry->below == nullptr) entry->below = make(next, keeps_named);
    entry->below->name(next, path, step + 1, steps, keeps_named);
  }
}

Projection Projection::build(const Type& type, const std::vector<std::string>& paths,
                             bool keeps_named) {
  Projection projection;
  const auto root = Node::make(type, keeps_named);
  for (const std::string& path : paths) {
    root->name(type, path, 0, steps_of(type, path), keeps_named);
  }
  projection.root_ = root;
  return projection;
}

Projection Projection::keep(const Type& type, const std::vector<std::string>& paths) {
  return build(type, paths, true);
}

Projection Projection::without(const Type& type, const std::vector<std::string>& paths) {
  return build(type, paths, false);
}

}  // namespace kube
