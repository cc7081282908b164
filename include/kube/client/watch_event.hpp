// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/codec/event_type.hpp>
#include <kube/object/object_ref.hpp>
#include <kube/object/ref.hpp>

namespace kube {

/// One event of a watch: a change of an object, or the failure of the watch.
template <typename T>
struct WatchEvent {
  EventType type = EventType::kError;
  /// The new state of the object; for kDeleted its last state; for kBookmark only metadata. Null
  /// for kError.
  Ref<T> object = nullptr;
  /// For kError: the reason. Code 410 means that the resource version is too old: list again.
  Ref<meta::v1::Status> status = nullptr;
};

namespace detail {

/// WatchEvent without the type.
struct AnyWatchEvent {
  EventType type = EventType::kError;
  ObjectRef object = nullptr;
  Ref<meta::v1::Status> status = nullptr;

  template <typename T>
  static AnyWatchEvent from(WatchEvent<T> event) {
    return {event.type, ObjectRef::from(event.object), std::move(event.status)};
  }
  template <typename T>
  [[nodiscard]] WatchEvent<T> to() && {
    return {type, std::move(object).template to<T>(), std::move(status)};
  }
};

}  // namespace detail
}  // namespace kube
