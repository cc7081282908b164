// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta.hpp>
#include <kube/object/object_ref.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kube::detail {

/// One notification for handlers.
struct Notification {
  enum class Kind : std::uint8_t { kNone, kAdd, kUpdate, kDelete };
  /// The receivers: all handlers; those that were due at the last resync check (only for
  /// compatibility); those that a resync was made for.
  enum class Audience : std::uint8_t { kAll, kFlagged, kReceivers };

  Kind kind = Kind::kNone;
  Audience audience = Audience::kAll;
  bool initial = false;    ///< for an addition: the object existed before
  bool tombstone = false;  ///< for a deletion: `object` may be older than the final state
  ObjectRef before = {};   ///< the state stored until then
  ObjectRef object = {};   ///< null only for a deletion with only a key
  std::shared_ptr<const std::string> key = nullptr;
};

/// Notifications of one change of the store.
struct NotificationBatch {
  std::uint64_t number = 0;  ///< identifies the batch: it may be distributed in several attempts
  std::vector<Notification> notifications;
  std::uint64_t sequence = 0;  ///< sequence number of the store after the change
  std::shared_ptr<const ResyncRequest> resync;
};

}  // namespace kube::detail
