// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/json_splitter.hpp"
#include <kube/codec/format.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/codec/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kube {

namespace detail {

/// Splits the body of a LIST into its items while it arrives. Buffers at most one item.
class ListSplitter {
 public:
  /// Called with the bytes of each item, valid during the call, and their position in the body.
  using OnItem = std::function<void(std::string_view item, std::size_t offset)>;

  ListSplitter(Format format, const DecodeLimits& limits) : format_(format), limits_(limits) {}

  /// Throws CodecError if the body is not a list. Exceptions of `on_item` are passed through.
  void feed(std::string_view chunk, const OnItem& on_item);
  /// Throws CodecError if the body is incomplete.
  void finish() const;
  /// Number of buffered bytes of an incomplete item.
  [[nodiscard]] std::size_t held() const noexcept { return partial_.size(); }
  /// Complete once finish() has returned: in JSON, the metadata may follow the items.
  [[nodiscard]] const ListMetadata& metadata() const noexcept { return metadata_; }

 private:
  enum class JsonState : std::uint8_t {
    kStart,
    kKeyOrEnd,
    kKey,
    kColon,
    kMember,
    kItems,
    kItemOrEnd,
    kItem,
    kBehindItem,
    kBehindMember,
    kDone,
  };
  enum class ProtoState : std::uint8_t { kMagic, kEnvelopeField, kListField };

  void feed_json(std::string_view chunk, const OnItem& on_item);
  /// Takes the part of a key, member or item that is at the start of `chunk`. Returns its size.
  std::size_t json_piece(std::string_view chunk, const OnItem& on_item);
  /// Handles a character between keys, members and items. Returns false if it starts the next one,
  /// and so is not consumed.
  bool json_punctuation(char c);
  void json_member(std::string_view value);
  void feed_protobuf(std::string_view chunk, const OnItem& on_item);
  /// Consumes one complete field or header at the start of `bytes`. Returns 0 if more bytes are
  /// needed.
  std::size_t proto_step(std::string_view bytes, const OnItem& on_item);
  void proto_list_meta(std::string_view message);
  [[noreturn]] void fail(std::string_view problem, std::size_t ahead = 0) const;

  Format format_;
  DecodeLimits limits_;
  ListMetadata metadata_;
  std::size_t consumed_ = 0;  // bytes of the body before the current position
  std::string partial_;       // the start of an incomplete piece

  JsonState json_state_ = JsonState::kStart;
  JsonExtent extent_;
  std::string key_;

  ProtoState proto_state_ = ProtoState::kMagic;
  std::size_t list_left_ = 0;  // remaining bytes of the list message
  bool saw_list_ = false;
};

}  // namespace detail
}  // namespace kube
