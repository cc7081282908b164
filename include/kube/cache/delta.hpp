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

enum class DeltaType : std::uint8_t {
  kAdded,
  kUpdated,
  kDeleted,
  kReplaced,     ///< an object of a list
  kSync,         ///< a stored object, shown again
  kReplacedAll,  ///< a whole list
  kSyncAll,      ///< all stored objects, shown again
  kBookmark,     ///< only a version
};
[[nodiscard]] std::string_view to_string(DeltaType type) noexcept;

/// One step in the history of a resource, on its way from a Reflector to whoever empties the queue.
template <typename T>
struct Delta {
  DeltaType type = DeltaType::kAdded;
  /// The new state; of a deletion the last one, or with `tombstone` the last one that was seen. Null for kReplacedAll,
  /// kSyncAll and kBookmark, and for a tombstone of which only the key is known.
  Ref<T> object = nullptr;
  /// Set for a deletion that was not seen when it happened.
  bool tombstone = false;
  std::string key = {};               ///< "namespace/name"; empty for deltas about all objects
  std::string resource_version = {};  ///< of kReplacedAll and kBookmark
  std::vector<Ref<T>> objects = {};   ///< of kReplacedAll
};

namespace detail {

/// Who shall see the stored objects again: numbers of registrations.
struct ResyncRequest {
  std::vector<std::uint64_t> receivers;
};

/// A Delta whose object is of a type that is known elsewhere.
struct AnyDelta {
  DeltaType type = DeltaType::kAdded;
  /// Of a deletion: the object's last state, or with `tombstone` the last one that was seen. Null for what is
  /// about all objects, and for a tombstone of which nothing but the key is known.
  ObjectRef object = {};
  /// Of a deletion that nobody saw happen.
  bool tombstone = false;
  std::string key = {};                                   ///< of a tombstone without an object
  std::string version = {};                               ///< of kReplacedAll and kBookmark
  std::vector<ObjectRef> objects = {};                    ///< of kReplacedAll
  std::shared_ptr<const ResyncRequest> resync = nullptr;  ///< of kSync and kSyncAll; null: for all
  /// When an event was read, if anybody wants to know.
  std::optional<Clock::TimePoint> read_at = std::nullopt;

  /// "namespace/name" of the object or tombstone; empty for what is about all objects.
  [[nodiscard]] std::string key_text(const ObjectAccess& access) const {
    return object ? access.key(object.get()) : key;
  }
};

/// The place where a Reflector puts objects and changes.
///
/// Thread safety: any method from any thread. Throws to refuse; the reflector then lists again.
class ReflectorTarget {
 public:
  virtual ~ReflectorTarget() = default;

  virtual void add(ObjectRef object) = 0;
  virtual void update(ObjectRef object) = 0;
  virtual void erase(ObjectRef last) = 0;
  /// `objects` is everything there is, as of `version`.
  virtual void replace(std::vector<ObjectRef> objects, std::string version) = 0;
  /// Shows stored objects again.
  virtual void resync(std::shared_ptr<const ResyncRequest> request) = 0;
  /// No change should be added before some have been consumed.
  [[nodiscard]] virtual bool is_full() const { return false; }
  /// Nothing changed up to `version`.
  virtual void bookmark(std::string version) = 0;
  /// The object that is stored under the key of `object`, or null: an unchanged one is kept.
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
