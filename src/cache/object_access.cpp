// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/object_access.hpp>

#include <algorithm>

namespace kube::detail {
namespace {

const Field* find_field(const Type& type, std::string_view name) noexcept {
  const auto found = std::ranges::find(type.fields, name, &Field::name);
  return found == type.fields.end() ? nullptr : &*found;
}

}  // namespace

bool has_metadata(const Type& type, std::string_view name) noexcept {
  if (type.kind == Kind::kValue) return true;
  const Field* metadata = find_field(type, "metadata");
  return metadata != nullptr && find_field(*metadata->type, name) != nullptr;
}

}  // namespace kube::detail
