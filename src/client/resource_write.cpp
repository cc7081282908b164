// SPDX-License-Identifier: Apache-2.0
#include <kube/client/resource_core.hpp>

#include "object_operation.hpp"
#include "request.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::size_t kLongestFieldManager = 128;

std::string_view media_type_of(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      break;
  }
  return "application/apply-patch+yaml";
}

void check_field_manager(std::string_view manager) {
  const bool is_printable = std::all_of(manager.begin(), manager.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
  });
  if (manager.empty() || manager.size() > kLongestFieldManager || !is_printable) {
    throw std::invalid_argument(
        "apply needs a field_manager of at most 128 printable characters: the name under which "
        "the fields are managed");
  }
}

/// Removes null members: fields of a struct that the client does not set.
void remove_nulls(Value& value) {
  if (value.is_array()) {
    Value cleaned = Value::array();
    for (const Value& element : value.as_array()) {
      Value copy = element;
      remove_nulls(copy);
      cleaned.push_back(std::move(copy));
    }
    value = std::move(cleaned);
  } else if (value.is_object()) {
    Value cleaned = Value::object();
    for (const auto& [key, member] : value.as_object()) {
      if (member.is_null()) continue;
      Value copy = member;
      remove_nulls(copy);
      cleaned[key.view()] = std::move(copy);
    }
    value = std::move(cleaned);
  }
}

/// Returns the body of an apply: the object without the fields that only servers write.
std::string apply_body(const Sendable& object, bool is_status) {
  Value document = *kube::decode_json<Value>(encode_json(*object.type, object.object));
  remove_nulls(document);
  // Read through a const reference: operator[] of a mutable document would add missing members.
  const Value& read = document;
  if (read["metadata"].is_object()) document["metadata"].erase("managedFields");
  if (!is_status && object.type->kind == Kind::kStruct && read["status"].is_object() &&
      read["status"].size() == 0) {
    document.erase("status");
  }
  return kube::encode_json(document);
}

meta::v1::DeleteOptions delete_body(const DeleteOptions& options) {
  if (options.orphan_dependents && !options.propagation_policy.empty()) {
    throw std::invalid_argument(
        "orphan_dependents and propagation_policy exclude each other; use the policy");
  }
  meta::v1::DeleteOptions body{.grace_period_seconds = options.grace_period_seconds,
                               .orphan_dependents = options.orphan_dependents};
  if (!options.uid.empty() || !options.resource_version.empty()) {
    body.preconditions = meta::v1::Preconditions{};
    if (!options.uid.empty()) body.preconditions->uid = options.uid;
    if (!options.resource_version.empty()) {
      body.preconditions->resource_version = options.resource_version;
    }
  }
  if (!options.propagation_policy.empty()) body.propagation_policy = options.propagation_policy;
  if (options.dry_run) body.dry_run.push_back("All");
  return body;
}

}  // namespace

Verb ResourceCore::create(Sendable object, std::string_view name, std::string_view subresource,
                          const Type* wanted, const CreateOptions& options) const {
  if (!subresource.empty()) require_name(name);
  Request request = this->request("POST", name, subresource);
  add_options(request.query, options);
  return verb({.request = std::move(request), .body = std::move(object), .wanted = wanted});
}

Verb ResourceCore::update(Sendable object, std::string_view name, std::string_view subresource,
                          const UpdateOptions& options) const {
  require_name(name);
  Request request = this->request("PUT", name, subresource);
  add_options(request.query, options);
  const Type* const wanted = object.type;
  return verb({.request = std::move(request), .body = std::move(object), .wanted = wanted});
}

Verb ResourceCore::patch(std::string_view name, PatchType type, std::string body,
                         std::string_view subresource, const PatchOptions& options) const {
  require_name(name);
  if (type == PatchType::kApply) {
    check_field_manager(options.field_manager);
  } else if (options.force) {
    throw std::invalid_argument("force is for apply patches only");
  }
  Request request = this->request("PATCH", name, subresource);
  add_options(request.query, options);
  request.content_type = media_type_of(type);
  request.body = std::move(body);
  return verb({.request = std::move(request), .wanted = target_.type});
}

Verb ResourceCore::apply(const Sendable& object, std::string_view name,
                         std::string_view subresource, const ApplyOptions& options) const {
  return patch(name, PatchType::kApply, apply_body(object, subresource == "status"), subresource,
               {.dry_run = options.dry_run,
                .field_manager = options.field_manager,
                .field_validation = options.field_validation,
                .force = options.force});
}

Verb ResourceCore::remove(std::string_view name, const DeleteOptions& options) const {
  require_name(name);
  return verb(
      {.request = request("DELETE", name, {}), .body = Sendable::owning(delete_body(options))});
}

Verb ResourceCore::remove_collection(const DeleteOptions& options, const ListOptions& which) const {
  Request request = this->request("DELETE", {}, {});
  add_options(request.query, which);
  if (which.timeout && which.timeout->count() > 0) request.timeout = *which.timeout;
  return verb({.request = std::move(request), .body = Sendable::owning(delete_body(options))});
}

}  // namespace kube::detail
