// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta.hpp>
#include <kube/object/object_ref.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kube::detail {

/// What a handler is told.
struct Notification {
  enum class Kind : std::uint8_t { kNone, kAdd, kUpdate, kDelete };
  /// Who is told: everybody; those who are due at the last resync check (only for compatibility); those who
  /// a resync was made for.
  enum class Audience : std::uint8_t { kAll, kFlagged, kReceivers };

  Kind kind = Kind::kNone;
  Audience audience = Audience::kAll;
  bool initial = false;    ///< of an addition: part of the state to begin with
  bool tombstone = false;  ///< of a deletion: `object` may be older than the last state
  ObjectRef before = {};   ///< what was stored until then
  ObjectRef object =
      {};  ///< null only for the deletion of something of which just the key is known
  std::shared_ptr<const std::string> key = nullptr;
};

/// Notifications of one change of the store.
struct NotificationBatch {
  std::uint64_t number =
      0;  ///< tells it from others: a batch may be distributed in several attempts
  std::vector<Notification> notifications;
  std::uint64_t sequence = 0;  ///< of the store after the change
  std::shared_ptr<const ResyncRequest> resync;
};

}  // namespace kube::detail
