// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/unify.hpp"

#include <utility>
#include <vector>

namespace kube::testkit::cel {

namespace {

/// Returns whether values of the type can be null.
bool is_nullable(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
    case TypeKind::kObject:
    case TypeKind::kOpaque:
    case TypeKind::kOptional:
      return true;
    default:
      return false;
  }
}

bool bind(const TypePtr& parameter, const TypePtr& found, Bindings& bindings) {
  const auto [place, is_new] = bindings.emplace(parameter->name, found);
  if (is_new) return true;
  const TypePtr bound = place->second;
  if (is_open(*bound) || is_open(*found)) {
    if (is_open(*bound)) place->second = found;
    return true;
  }
  // The more general type is kept.
  if (found->kind == TypeKind::kDyn) {
    place->second = found;
    return true;
  }
  if (bound->kind == TypeKind::kNull && is_nullable(*found)) {
    place->second = found;
    return true;
  }
  if (!is_assignable(bound, found, bindings)) return false;
  return true;
}

}  // namespace

bool is_assignable(const TypePtr& wanted, const TypePtr& found, Bindings& bindings) {
  if (wanted->kind == TypeKind::kParameter) return bind(wanted, found, bindings);
  if (wanted->kind == TypeKind::kDyn || found->kind == TypeKind::kDyn) {
    // Parameters inside a dyn are bound to dyn as well.
    for (const TypePtr& parameter : wanted->parameters) {
      if (!is_assignable(parameter, open_type(), bindings)) return false;
    }
    return true;
  }
  if (found->kind == TypeKind::kNull && wanted->kind != TypeKind::kNull)
    return is_nullable(*wanted);
  if (wanted->kind == TypeKind::kNull) return is_nullable(*found);
  if (wanted->kind != found->kind) return false;
  if (wanted->kind == TypeKind::kObject || wanted->kind == TypeKind::kOpaque) {
    return wanted == found || wanted->name == found->name;
  }
  // All types of types are assignable to each other: type(x) == int.
  if (wanted->kind == TypeKind::kType) return true;
  if (wanted->parameters.size() != found->parameters.size()) return true;
  for (std::size_t i = 0; i < wanted->parameters.size(); ++i) {
    if (!is_assignable(wanted->parameters[i], found->parameters[i], bindings)) return false;
  }
  return true;
}

TypePtr substitute(const TypePtr& type, const Bindings& bindings) {
  if (type->kind == TypeKind::kParameter) {
    const auto bound = bindings.find(type->name);
    return bound == bindings.end() ? open_type() : bound->second;
  }
  if (type->parameters.empty() || type->kind == TypeKind::kObject) return type;
  Type copy;
  copy.kind = type->kind;
  copy.name = type->name;
  for (const TypePtr& parameter : type->parameters) {
    copy.parameters.push_back(substitute(parameter, bindings));
  }
  return std::make_shared<const Type>(std::move(copy));
}

}  // namespace kube::testkit::cel
