// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/store/key_table.hpp"
#include "cache/store/persistent_set.hpp"
#include "cache/store/slot_table.hpp"

#include <kube/cache/object_access.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Hashes a text to 64 bits, with a random seed per process, so that colliding names cannot be
/// chosen.
[[nodiscard]] std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept;
[[nodiscard]] std::uint64_t hash_key(std::string_view space, std::string_view name) noexcept;
/// Returns the upper 32 bits of the hash, as stored in KeyTable.
[[nodiscard]] inline std::uint32_t short_hash(std::uint64_t hash) noexcept {
  return static_cast<std::uint32_t>(hash >> 32);
}
[[nodiscard]] std::uint32_t hash_value_text(std::string_view value) noexcept;
/// 16 bits for the label's key, then 16 for its value: all entries of one label key are adjacent.
[[nodiscard]] std::uint32_t hash_label(std::string_view key, std::string_view value) noexcept;

/// Entries of all indexes: the hash in the upper half, the object's slot in the lower.
[[nodiscard]] constexpr std::uint64_t entry(std::uint64_t hash, std::uint32_t slot) noexcept {
  return hash << 32 | slot;
}
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key);
}

/// One immutable state of a store; see docs/cache-engine.md. Objects are stored in numbered slots.
/// The sets hold hashes and slot numbers. A hash only finds candidates: readers compare the texts.
struct StoreState {
  struct Index {
    std::string name;
    PersistentSet entries;
  };

  const ObjectAccess* access = nullptr;
  bool has_labels = false;
  bool has_namespaces = false;
  SlotTable slots;
  KeyTable keys;
  PersistentSet namespaces;
  PersistentSet labels;
  std::vector<Index> indexes;
  std::string version;
  std::string newest;  ///< the highest version ever reached
  std::uint64_t sequence = 0;

  struct Place {
    std::uint32_t number = 0;
    const StoredObject* slot = nullptr;  ///< null: there is no such object
  };
  /// Returns the slot of an object, valid until the next change.
  [[nodiscard]] Place find_slot(std::string_view space, std::string_view name) const;
  /// Returns the object, or null.
  [[nodiscard]] ObjectRef find(std::string_view space, std::string_view name) const;
};

}  // namespace kube::detail
