// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/merge_patch.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

Value without_nulls(const Value& value) {
  if (value.is_array()) {
    Value result = Value::array();
    for (const Value& element : value.as_array()) result.push_back(without_nulls(element));
    return result;
  }
  if (!value.is_object()) return value;
  Value result = Value::object();
  for (const auto& [key, element] : value.as_object()) {
    if (!element.is_null()) result[key.view()] = without_nulls(element);
  }
  return result;
}

namespace {

Value merge(Value target, const Value& patch) {
  if (!target.is_object()) return without_nulls(patch);
  if (!patch.is_object()) return patch;
  // Both are sorted, so this is a merge of two sorted sequences.
  Value result = Value::object();
  auto next = patch.as_object().begin();
  const auto end = patch.as_object().end();
  const auto add_new = [&] {
    if (!next->value().is_null()) result[next->key().view()] = without_nulls(next->value());
    ++next;
  };
  for (auto&& [key, value] : members(target)) {
    while (next != end && next->key().view() < key.view()) add_new();
    if (next == end || next->key().view() != key.view()) {
      result[key.view()] = std::move(value);
      continue;
    }
    if (!next->value().is_null()) result[key.view()] = merge(std::move(value), next->value());
    ++next;
  }
  while (next != end) add_new();
  return result;
}

}  // namespace

Value merge_patch(Value target, const Value& patch) {
  if (!patch.is_object()) {
    throw ApiError{failure_status(400, meta::v1::status_reason::kBadRequest,
                                  "error decoding patch: the patch is not a JSON object")};
  }
  return merge(std::move(target), patch);
}

}  // namespace kube::testkit::detail
