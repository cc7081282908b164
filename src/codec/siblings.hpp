// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/json_reader.hpp"
#include <kube/object/ref.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// The objects that a decoder compares later ones with. For each family (objects whose names only
/// differ in their last part, such as the pods of one ReplicaSet), it keeps one recently decoded
/// object with its bytes.
///
/// Limited in bytes; evicts the oldest family first. A deleted object must be forgotten explicitly;
/// otherwise it would be kept until another one replaces it. A wrong guess costs speed, never
/// correctness.
class Siblings {
 public:
  struct Entry {
    std::string bytes;
    JsonTape tape;  ///< empty for protobuf
    Ref<std::byte> object;
    /// Size of the object's structs. Stored here, because prefetch() must not read the object.
    std::size_t struct_bytes = 0;
    unsigned uses = 0;
    std::size_t cost = 0;  ///< total cost in bytes
    std::uint64_t family = 0;
    std::uint64_t name = 0;  ///< hash of the name
    Entry* older = nullptr;  ///< remembered before this one
    Entry* newer = nullptr;
  };
  /// Identifies an object: hashes of its name and of the part that its family has in common.
  struct Identity {
    std::uint64_t family = 0;
    std::uint64_t name = 0;
    bool has_name = false;
  };

  explicit Siblings(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

  struct Found {
    Entry* entry = nullptr;  ///< null if there is no sibling at all
    bool is_family = false;
  };
  /// Returns the sibling for an object: one of its family, or else the object remembered last,
  /// which counts as family if the object has no name.
  [[nodiscard]] Found find(const Identity& identity);
  /// Prefetches the entry that find() will return.
  void prefetch(const Identity& identity);
  /// Makes `object` the sibling of its family, unless it takes too large a part of the memory.
  /// Throws std::bad_alloc without changing anything.
  void remember(const Identity& identity, std::string_view bytes, JsonTape tape,
                Ref<std::byte> object);
  /// Drops the sibling of that family if it is, or may be, an object with that name.
  void forget(const Identity& identity) noexcept;

  /// Extract the name from the metadata of an encoded object, as far as possible without decoding.
  static std::string_view name_in_protobuf(std::string_view message) noexcept;
  static std::string_view name_in_json(std::string_view text) noexcept;
  static Identity identity_of(std::string_view name) noexcept;

 private:
  /// Includes the object, because the sibling may be its only owner.
  [[nodiscard]] static std::size_t cost(std::size_t bytes, const JsonTape& tape,
                                        const Ref<std::byte>& object) noexcept {
    return bytes + tape.entries.capacity() * sizeof(JsonTape::Entry) +
           block_of(object)->image_size() + sizeof(Entry);
  }
  void link(Entry& entry) noexcept;
  void unlink(Entry& entry) noexcept;
  void erase(Entry& entry) noexcept;

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Entry>> entries_;  // by family
  // Ordered by the arrival of the families; last_ is the sibling for new families.
  Entry* oldest_ = nullptr;
  Entry* newest_ = nullptr;
  Entry* last_ = nullptr;
};

}  // namespace kube::detail
