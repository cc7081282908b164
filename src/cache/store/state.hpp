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

/// Spreads texts over 64 bits, differently in each process, so that nobody can choose names that collide.
[[nodiscard]] std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept;
[[nodiscard]] std::uint64_t hash_key(std::string_view space, std::string_view name) noexcept;
/// What of it KeyTable has.
[[nodiscard]] inline std::uint32_t short_hash(std::uint64_t hash) noexcept {
  return static_cast<std::uint32_t>(hash >> 32);
}
[[nodiscard]] std::uint32_t hash_value_text(std::string_view value) noexcept;
/// 16 bits of the label's key, then 16 of its value: all objects with one label stand side by side.
[[nodiscard]] std::uint32_t hash_label(std::string_view key, std::string_view value) noexcept;

/// Entries of all indexes: what is looked for in the upper half, the object's slot in the lower.
[[nodiscard]] constexpr std::uint64_t entry(std::uint64_t hash, std::uint32_t slot) noexcept {
  return hash << 32 | slot;
}
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key);
}

/// One state of a store. Objects stand in numbered slots; the sets hold hashes and slot numbers. A hash only
/// says where to look: whoever looks compares texts.
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
  /// Where an object is, until the next change.
  [[nodiscard]] Place find_slot(std::string_view space, std::string_view name) const;
  /// The object, or null.
  [[nodiscard]] ObjectRef find(std::string_view space, std::string_view name) const;
};

}  // namespace kube::detail
