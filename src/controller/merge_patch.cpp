// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/create_or_update.hpp>
#include <kube/object/value.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace kube::detail {
namespace {

/// Returns the merge patch from `before` to `now`, both objects; an absent value if they are equal.
Value difference(const Value& before, const Value& now) {
  Value patch;
  for (const auto& [key, value] : before.as_object()) {
    if (now[key.view()].is_absent()) patch[key.view()] = nullptr;
  }
  for (const auto& [key, value] : now.as_object()) {
    const Value& old = before[key.view()];
    if (old == value) continue;
    if (old.is_object() && value.is_object()) {
      patch[key.view()] = difference(old, value);
    } else {
      patch[key.view()] = value;
    }
  }
  return patch;
}

}  // namespace

MergePatches merge_patches(const std::string& before, const std::string& now) {
  Value patch = difference(*decode_json<Value>(before), *decode_json<Value>(now));
  MergePatches patches;
  if (patch.is_absent()) return patches;
  if (const Value& changed = std::as_const(patch)["status"]; !changed.is_absent()) {
    Value status;
    status["status"] = changed;
    patches.status = encode_json(status);
    patch.erase("status");
  }
  if (patch.size() > 0) patches.object = encode_json(patch);
  return patches;
}

void check_same_object(std::string_view space, std::string_view name, std::string_view new_space,
                       std::string_view new_name) {
  if (space == new_space && name == new_name) return;
  throw std::logic_error(fmt::format("mutate() must not rename the object: it made {}/{} of {}/{}",
                                     new_space, new_name, space, name));
}

}  // namespace kube::detail
