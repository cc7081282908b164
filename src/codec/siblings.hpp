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

/// The objects that a decoder compares the next ones with: for each family (objects whose names differ
/// in their last part only, as pods of one ReplicaSet do) one that was decoded lately, with its bytes.
///
/// Bounded by bytes; the family that came first goes first. A deleted object has to be forgotten, or it would be kept
/// for as long as nothing takes its place. A wrong guess costs speed, never correctness.
class Siblings {
 public:
  struct Entry {
    std::string bytes;
    JsonTape tape;  ///< empty for protobuf
    Ref<std::byte> object;
    std::size_t struct_bytes =
        0;  ///< of it; here, as looking at the object is what prefetch() avoids
    unsigned uses = 0;
    std::size_t cost = 0;  ///< in bytes
    std::uint64_t family = 0;
    std::uint64_t name = 0;  ///< its hash
    Entry* older = nullptr;  ///< remembered before this one
    Entry* newer = nullptr;
  };
  /// Which object: hashes of its name and of the part that its family has in common.
  struct Identity {
    std::uint64_t family = 0;
    std::uint64_t name = 0;
    bool has_name = false;
  };

  explicit Siblings(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  struct Found {
    Entry* entry = nullptr;  ///< null if there is none at all
    bool is_family = false;
  };
  /// The sibling for an object: one of its family, or else the object that was remembered last. That one counts as
  /// family if the object has no name.
  [[nodiscard]] Found find(const Identity& identity);
  /// Lets the processor fetch what find() will return.
  void prefetch(const Identity& identity);
  /// Makes `object` the sibling of its family, unless it takes too large a part of the memory. Throws std::bad_alloc;
  /// nothing has changed then.
  void remember(const Identity& identity, std::string_view bytes, JsonTape tape,
                Ref<std::byte> object);
  /// Forgets the sibling of that family if it is, or may be, an object of that name.
  void forget(const Identity& identity) noexcept;

  /// The name in the metadata of an object, as far as it can be told without decoding.
  static std::string_view name_in_protobuf(std::string_view message) noexcept;
  static std::string_view name_in_json(std::string_view text) noexcept;
  static Identity identity_of(std::string_view name) noexcept;

 private:
  /// The object counts, as it may be kept by nothing else.
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
  // In the order in which families came; the one that was remembered last is in use for new ones.
  Entry* oldest_ = nullptr;
  Entry* newest_ = nullptr;
  Entry* last_ = nullptr;
};

}  // namespace kube::detail
