// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/json_reader.hpp>
#include <kube/object/ref.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// The objects that a decoder compares the next ones with: for each family (objects whose names differ
/// in their last part only, as pods of one ReplicaSet do) one that was decoded lately, with its bytes.
///
/// Bounded by bytes; the family that came first goes first. A wrong guess costs speed, never correctness.
class Siblings {
 public:
  struct Entry {
    std::string bytes;
    JsonTape tape;  ///< empty for protobuf
    Ref<std::byte> object;
    std::size_t struct_bytes =
        0;  ///< of it; here, as looking at the object is what prefetch() avoids
    unsigned uses = 0;
  };

  explicit Siblings(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  struct Found {
    Entry* entry = nullptr;  ///< null if there is none at all
    bool is_family = false;
  };
  /// The sibling for a family: its own, or else the object that was remembered last.
  [[nodiscard]] Found find(std::uint64_t family);
  /// Lets the processor fetch what find() will return.
  void prefetch(std::uint64_t family);
  /// Makes `object` the sibling of its family.
  void remember(std::uint64_t family, std::string_view bytes, JsonTape tape, Ref<std::byte> object);

  /// The name in the metadata of an object, as far as it can be told without decoding.
  static std::string_view name_in_protobuf(std::string_view message) noexcept;
  static std::string_view name_in_json(std::string_view text) noexcept;
  static std::uint64_t family_of(std::string_view name) noexcept;

 private:
  [[nodiscard]] static std::size_t cost(const Entry& entry) noexcept;

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Entry>> entries_;
  std::deque<std::uint64_t> order_;
  Entry* last_ = nullptr;
};

}  // namespace kube::detail
