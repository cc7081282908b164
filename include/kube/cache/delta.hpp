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

/// Who shall see the stored objects again: numbers of registrations.
struct ResyncRequest {
  std::vector<std::uint64_t> receivers;
};

/// One step in the history of a resource, on its way from the server to the store.
struct Delta {
  DeltaType type = DeltaType::kAdded;
  /// Of a deletion: the object's last state, or with `tombstone` the last one that was seen. Null for what is
  /// about all objects, and for a tombstone of which nothing but the key is known.
  detail::ObjectRef object = {};
  /// Of a deletion that nobody saw happen.
  bool tombstone = false;
  std::string key = {};                                   ///< of a tombstone without an object
  std::string version = {};                               ///< of kReplacedAll and kBookmark
  std::vector<detail::ObjectRef> objects = {};            ///< of kReplacedAll
  std::shared_ptr<const ResyncRequest> resync = nullptr;  ///< of kSync and kSyncAll; null: for all
  /// When an event was read, if anybody wants to know.
  std::optional<Clock::TimePoint> read_at = std::nullopt;

  /// "namespace/name" of the object or tombstone; empty for what is about all objects.
  [[nodiscard]] std::string key_text(const detail::ObjectAccess& access) const {
    return object ? access.key(object.get()) : key;
  }
};

/// Where a Reflector puts what it learns.
///
/// Thread safety: any method from any thread. Throws to refuse; the reflector then lists again.
class ReflectorTarget {
 public:
  virtual ~ReflectorTarget() = default;

  virtual void add(detail::ObjectRef object) = 0;
  virtual void update(detail::ObjectRef object) = 0;
  virtual void erase(detail::ObjectRef last) = 0;
  /// `objects` is everything there is, as of `version`.
  virtual void replace(std::vector<detail::ObjectRef> objects, std::string version) = 0;
  /// Shows stored objects again.
  virtual void resync(std::shared_ptr<const ResyncRequest> request) = 0;
  /// While it is on, more follows at once: the consumer need not be woken for each change.
  virtual void hold(bool /*on*/) {}
  /// Nothing changed up to `version`.
  virtual void bookmark(std::string version) = 0;
  /// The object that is stored under the key of `object`, or null: an unchanged one is kept.
  [[nodiscard]] virtual detail::ObjectRef known(const void* object) const = 0;
};

}  // namespace kube
