// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/owner_references.hpp>
#include <kube/client/client.hpp>
#include <kube/codec/json.hpp>

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Result of create_or_update() and create_or_patch().
enum class WriteResult {
  kUnchanged,
  kCreated,
  kUpdated,
  kStatusUpdated,  ///< only the status
  kUpdatedAndStatusUpdated,
};

namespace detail {

/// JSON merge patches (RFC 7386) from one document to another; empty if they are equal.
struct MergePatches {
  std::string object;  ///< without the status
  std::string status;
};
[[nodiscard]] MergePatches merge_patches(const std::string& before, const std::string& now);

/// Throws std::logic_error if `mutate` has changed the object's name or namespace.
void check_same_object(std::string_view space, std::string_view name, std::string_view new_space,
                       std::string_view new_name);

template <typename T, typename Mutate>
T mutated(const T& before, Mutate& mutate) {
  T object = before;
  mutate(object);
  check_same_object(before.metadata.namespace_.view(), before.metadata.name.view(),
                    object.metadata.namespace_.view(), object.metadata.name.view());
  return object;
}

}  // namespace detail

/// Brings an object into the state that `mutate(T&)` sets, whether it exists or not: reads it,
/// calls `mutate`, and creates or replaces it if that changed anything. `object` has the name and
/// the initial state of a new object, and holds the stored state afterwards. Throws ApiError
/// (conflict) on a concurrent change; a controller then simply tries again.
template <typename T, typename Mutate>
WriteResult create_or_update(const Client& client, T& object, Mutate mutate,
                             std::stop_token stop = {}) {
  const auto resource = client.resource<T>(object.metadata.namespace_.view());
  const Ref<T> existing = resource.find(object.metadata.name.view(), {}, stop);
  object = detail::mutated(existing ? *existing : object, mutate);
  if (!existing) {
    object = *resource.create(object, {}, std::move(stop));
    return WriteResult::kCreated;
  }
  if (object == *existing) return WriteResult::kUnchanged;
  object = *resource.update(object, {}, std::move(stop));
  return WriteResult::kUpdated;
}

/// Like create_or_update(), but sends only the fields that `mutate` has changed, and the status
/// separately, so that it does not conflict with writers of other fields.
template <typename T, typename Mutate>
WriteResult create_or_patch(const Client& client, T& object, Mutate mutate,
                            std::stop_token stop = {}) {
  const std::string name = object.metadata.name.str();
  const auto resource = client.resource<T>(object.metadata.namespace_.view());
  const Ref<T> existing = resource.find(name, {}, stop);
  object = detail::mutated(existing ? *existing : object, mutate);
  if (!existing) {
    object = *resource.create(object, {}, std::move(stop));
    return WriteResult::kCreated;
  }
  const auto patches = detail::merge_patches(encode_json(*existing), encode_json(object));
  if (!patches.object.empty()) {
    object = *resource.patch(name, PatchType::kMerge, patches.object, {}, {}, stop);
  }
  if (!patches.status.empty()) {
    object =
        *resource.patch(name, PatchType::kMerge, patches.status, {}, "status", std::move(stop));
  }
  if (patches.status.empty()) {
    return patches.object.empty() ? WriteResult::kUnchanged : WriteResult::kUpdated;
  }
  return patches.object.empty() ? WriteResult::kStatusUpdated
                                : WriteResult::kUpdatedAndStatusUpdated;
}

/// Sends the difference between the status of `before` and that of `now`, as a merge patch of the
/// status, so that it does not conflict with writers of other fields. Returns the stored object, or
/// null if the statuses are equal: nothing is sent then. `before` is the object as read, `now` a
/// copy of it with the new status; other differences are not sent.
template <typename T>
Ref<T> patch_status(const Client& client, const T& before, const T& now,
                    const PatchOptions& options = {}, std::stop_token stop = {}) {
  detail::check_same_object(before.metadata.namespace_.view(), before.metadata.name.view(),
                            now.metadata.namespace_.view(), now.metadata.name.view());
  const auto patches = detail::merge_patches(encode_json(before), encode_json(now));
  if (patches.status.empty()) return {};
  return client.resource<T>(now.metadata.namespace_.view())
      .patch(now.metadata.name.view(), PatchType::kMerge, patches.status, options, "status",
             std::move(stop));
}

/// Server-side apply of an object that `owner` controls. Forces ownership of fields that others
/// manage, as is usual for controllers.
template <typename Owner, typename T>
Ref<T> apply_controlled(const Client& client, const Owner& owner, T object,
                        std::string_view field_manager, std::stop_token stop = {}) {
  set_controller_reference(owner, object);
  return client.apply(object, {.field_manager = std::string{field_manager}, .force = true},
                      std::move(stop));
}

}  // namespace kube
