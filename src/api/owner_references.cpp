// SPDX-License-Identifier: Apache-2.0
#include <kube/api/owner_references.hpp>

#include <stdexcept>

namespace kube {

namespace {

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
}

/// Ignores the version: an owner remains the same when its API version changes.
bool same_owner(const meta::v1::OwnerReference& a, const meta::v1::OwnerReference& b) {
  return group_of(a.api_version) == group_of(b.api_version) && a.kind == b.kind && a.name == b.name;
}

}  // namespace

const meta::v1::OwnerReference* controller_of(const meta::v1::ObjectMeta& metadata) noexcept {
  for (const meta::v1::OwnerReference& reference : metadata.owner_references) {
    if (reference.controller.value_or(false)) return &reference;
  }
  return nullptr;
}

void detail::put_owner_reference(meta::v1::ObjectMeta& metadata,
                                 const meta::v1::OwnerReference& reference) {
  for (meta::v1::OwnerReference& existing : metadata.owner_references) {
    if (same_owner(existing, reference)) {
      existing = reference;
      return;
    }
  }
  metadata.owner_references.push_back(reference);
}

void detail::check_controller(const meta::v1::ObjectMeta& owner,
                              const meta::v1::ObjectMeta& metadata,
                              const meta::v1::OwnerReference& reference) {
  if (!owner.namespace_.empty()) {
    if (metadata.namespace_.empty()) {
      throw std::invalid_argument("an object without namespace cannot be owned by " +
                                  owner.name.str() + " in namespace " + owner.namespace_.str());
    }
    if (metadata.namespace_ != owner.namespace_) {
      throw std::invalid_argument("an object in namespace " + metadata.namespace_.str() +
                                  " cannot be owned by " + owner.name.str() + " in namespace " +
                                  owner.namespace_.str());
    }
  }
  const meta::v1::OwnerReference* existing = controller_of(metadata);
  if (existing != nullptr && !same_owner(*existing, reference)) {
    throw AlreadyOwnedError("object " + metadata.namespace_.str() + '/' + metadata.name.str() +
                            " is already controlled by " + existing->kind.str() + ' ' +
                            existing->name.str());
  }
}

}  // namespace kube
