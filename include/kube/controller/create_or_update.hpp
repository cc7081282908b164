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

/// What create_or_update() and create_or_patch() had to do.
enum class WriteResult {
  kUnchanged,
  kCreated,
  kUpdated,
  kStatusUpdated,  ///< only the status
  kUpdatedAndStatusUpdated,
};

namespace detail {

/// What to send to get from one document to the other, as a JSON merge patch (RFC 7386); empty if they are equal.
struct MergePatches {
  std::string object;  ///< without the status
  std::string status;
};
[[nodiscard]] MergePatches merge_patches(const std::string& before, const std::string& now);

/// Throws std::logic_error if `mutate` has changed which object it is.
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

/// Brings an object into the state that `mutate(T&)` makes of it, whether it exists or not: reads it, calls `mutate`,
/// and creates or replaces it if that changed anything. `object` names it, is what a new one begins as, and has the
/// stored state afterwards. Throws ApiError (conflict) if somebody else changed it meanwhile; a controller then
/// simply tries again.
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

/// The same, but sends only what `mutate` has changed, and the status on its own; so it does not conflict with others
/// who write other fields.
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

/// Sends what is different in the status of `now` from that of `before`, as a merge patch of the status; so it does not
/// conflict with others who write other fields. Returns the stored object, or null if nothing is different, and then
/// nothing is sent. `before` is what was read, `now` a copy of it with the new status; what else differs is not sent.
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

/// Server-side apply of an object that `owner` controls. Takes over fields that others manage, as controllers do:
/// what they say is so.
template <typename Owner, typename T>
Ref<T> apply_controlled(const Client& client, const Owner& owner, T object,
                        std::string_view field_manager, std::stop_token stop = {}) {
  set_controller_reference(owner, object);
  return client.apply(object, {.field_manager = std::string{field_manager}, .force = true},
                      std::move(stop));
}

}  // namespace kube
