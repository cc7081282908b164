// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/object/object_ref.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// Kind of a Delta.
enum class DeltaType : std::uint8_t {
  kAdded,
  kUpdated,
  kDeleted,
  kReplaced,     ///< one object of a list
  kSync,         ///< a stored object, delivered again by a resync
  kReplacedAll,  ///< a complete list
  kSyncAll,      ///< all stored objects, delivered again by a resync
  kBookmark,     ///< a resourceVersion without a change
};
/// Returns the name that client-go uses in logs: "Added", "Updated", "Replaced"...
[[nodiscard]] std::string_view to_string(DeltaType type) noexcept;

/// One change of a resource, queued by a Reflector for the consumer of the queue.
template <typename T>
struct Delta {
  DeltaType type = DeltaType::kAdded;
  /// The new state. For a deletion the final state, or with `tombstone` the last state seen. Null
  /// for kReplacedAll, kSyncAll and kBookmark, and for a tombstone with only a key.
  Ref<T> object = nullptr;
  /// True for a deletion that was not observed when it happened (DeletedFinalStateUnknown).
  bool tombstone = false;
  std::string key = {};  ///< "namespace/name"; empty for deltas that concern all objects
  std::string resource_version = {};  ///< for kReplacedAll and kBookmark
  std::vector<Ref<T>> objects = {};   ///< for kReplacedAll
};

namespace detail {

/// Ids of the registrations that a resync is for.
struct ResyncRequest {
  std::vector<std::uint64_t> receivers;
};

/// A type-erased Delta.
struct AnyDelta {
  DeltaType type = DeltaType::kAdded;
  /// For a deletion: the final state, or with `tombstone` the last state seen. Null for deltas that
  /// concern all objects, and for a tombstone with only a key.
  ObjectRef object = {};
  /// True for a deletion that was not observed when it happened.
  bool tombstone = false;
  std::string key = {};                 ///< for a tombstone without an object
  std::string version = {};             ///< for kReplacedAll and kBookmark
  std::vector<ObjectRef> objects = {};  ///< for kReplacedAll
  /// for kSync and kSyncAll; null: for all registrations
  std::shared_ptr<const ResyncRequest> resync = nullptr;
  /// Time at which the event was read, if the queue measures lag.
  std::optional<Clock::TimePoint> read_at = std::nullopt;

  /// Returns "namespace/name" of the object or tombstone; empty for deltas that concern all
  /// objects.
  [[nodiscard]] std::string key_text(const ObjectAccess& access) const {
    return object ? access.key(object.get()) : key;
  }
};

/// Receives objects and changes from a Reflector.
///
/// Thread safety: any method from any thread.
/// Throws to refuse a change; the reflector then lists again.
class ReflectorTarget {
 public:
  virtual ~ReflectorTarget() = default;

  virtual void add(ObjectRef object) = 0;
  virtual void update(ObjectRef object) = 0;
  virtual void erase(ObjectRef last) = 0;
  /// Replaces the whole content by `objects`, as of `version`.
  virtual void replace(std::vector<ObjectRef> objects, std::string version) = 0;
  /// Delivers the stored objects again.
  virtual void resync(std::shared_ptr<const ResyncRequest> request) = 0;
  /// True while changes should not be added because too many are waiting (back-pressure).
  [[nodiscard]] virtual bool is_full() const { return false; }
  /// Records that nothing changed up to `version`.
  virtual void bookmark(std::string version) = 0;
  /// Returns the object stored under the key of `object`, or null. The reflector reuses it if it is
  /// unchanged.
  [[nodiscard]] virtual ObjectRef known(const void* object) const = 0;
};

template <typename T>
[[nodiscard]] Delta<T> typed_delta(const AnyDelta& any) {
  Delta<T> delta{any.type,      any.object.template to<T>(),
                 any.tombstone, any.key_text(kObjectAccess<T>),
                 any.version,   {}};
  delta.objects.reserve(any.objects.size());
  for (const ObjectRef& object : any.objects) delta.objects.push_back(object.template to<T>());
  return delta;
}

}  // namespace detail
}  // namespace kube
