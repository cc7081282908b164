// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/base/error.hpp>

#include <string>
#include <string_view>

namespace kube {

/// Thrown if another controller already owns the object.
class AlreadyOwnedError : public Error {
 public:
  using Error::Error;
};

/// Returns the owner reference that is marked as controller, or null.
[[nodiscard]] const meta::v1::OwnerReference* controller_of(
    const meta::v1::ObjectMeta& metadata) noexcept;

namespace detail {
/// Adds `reference` to `metadata`, replacing one to the same owner (same group, kind and name).
void put_owner_reference(meta::v1::ObjectMeta& metadata, const meta::v1::OwnerReference& reference);
/// Throws AlreadyOwnedError or std::invalid_argument if `reference` must not control `metadata`.
void check_controller(const meta::v1::ObjectMeta& owner, const meta::v1::ObjectMeta& metadata,
                      const meta::v1::OwnerReference& reference);
}  // namespace detail

/// Returns a reference to `owner` that is not marked as controller.
template <typename Owner>
[[nodiscard]] meta::v1::OwnerReference owner_reference_to(const Owner& owner) {
  return {.api_version = Owner::kube_type.api_version,
          .kind = Owner::kube_type.name,
          .name = owner.metadata.name,
          .uid = owner.metadata.uid};
}

/// True if `owner` is the controller of the object; compares the UIDs.
template <typename T, typename Owner>
[[nodiscard]] bool is_controlled_by(const T& object, const Owner& owner) noexcept {
  const meta::v1::OwnerReference* controller = controller_of(object.metadata);
  return controller != nullptr && controller->uid == owner.metadata.uid;
}

/// Makes `owner` one of the owners of `object`.
template <typename Owner, typename T>
void set_owner_reference(const Owner& owner, T& object) {
  detail::put_owner_reference(object.metadata, owner_reference_to(owner));
}

/// Makes `owner` the controller of `object`, which is garbage-collected with it and blocks its
/// foreground deletion. Throws AlreadyOwnedError if another controller owns the object, and
/// std::invalid_argument if the owner is in another namespace.
template <typename Owner, typename T>
void set_controller_reference(const Owner& owner, T& object) {
  meta::v1::OwnerReference reference = owner_reference_to(owner);
  reference.controller = true;
  reference.block_owner_deletion = true;
  detail::check_controller(owner.metadata, object.metadata, reference);
  detail::put_owner_reference(object.metadata, reference);
}

}  // namespace kube
