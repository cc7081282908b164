// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/options.hpp>
#include <kube/codec/projection.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace kube {

class Pool;

/// Configures a Decoder. Any field may be left out.
struct DecoderOptions {
  /// Stores content that objects have in common; null shares nothing. Decoders that feed one cache
  /// should share one pool: `std::make_shared<kube::Pool>()` of <kube/object/pool.hpp>.
  std::shared_ptr<Pool> pool = nullptr;
  /// Selects the fields to keep of each object.
  Projection projection = {};
  /// Bounds the size and depth of documents.
  DecodeLimits limits = {};
  /// Memory for siblings, the objects that later ones are compared with; 0 compares none. Only used
  /// with a pool.
  std::size_t sibling_bytes = std::size_t{8} << 20;
};

namespace detail {

/// The decoder of a type that is known at run time. See Decoder.
class DecoderCore {
 public:
  DecoderCore(const Type& type, DecoderOptions options);
  DecoderCore(const DecoderCore&) = delete;
  DecoderCore& operator=(const DecoderCore&) = delete;
  ~DecoderCore();

  [[nodiscard]] Block* json(std::string_view text, std::size_t offset);
  [[nodiscard]] Block* protobuf(std::string_view message, std::size_t offset);
  [[nodiscard]] Block* enveloped(std::string_view bytes, std::size_t offset);
  /// Prefetches the sibling that enveloped() will compare these bytes with, while another document
  /// is decoded.
  void prepare(std::string_view bytes) noexcept;
  /// Releases what is kept of the object decoded last, and of its earlier versions, because it was
  /// deleted.
  void forget(const Block& object) noexcept;
  /// Releases the memory that is only needed for decoding, because no input is expected soon.
  void rest() noexcept;
  [[nodiscard]] const Type& type() const noexcept { return type_; }

 private:
  struct State;
  [[nodiscard]] State& state();

  const Type& type_;
  const DecoderOptions options_;
  std::unique_ptr<State> state_;  // null while nothing of earlier documents is kept
};

}  // namespace detail

/// Decodes documents into objects of one type, each an immutable block. Keep a decoder for further
/// documents: it reuses its scratch memory and remembers what objects have in common.
///
/// Every method throws CodecError on malformed input and then leaves no partial state behind.
/// `offset` is the position of the bytes in a larger document, for error messages.
/// Thread safety: none; use one decoder per thread.
template <typename T>
class Decoder {
 public:
  explicit Decoder(DecoderOptions options = {}) : core_(type_of<T>(), std::move(options)) {}

  /// Decodes one JSON document.
  [[nodiscard]] Ref<T> json(std::string_view text, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.json(text, offset));
  }
  /// Decodes a bare message.
  [[nodiscard]] Ref<T> protobuf(std::string_view message, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.protobuf(message, offset));
  }
  /// Decodes a message in the envelope of API servers, which contains its kind.
  [[nodiscard]] Ref<T> enveloped(std::string_view bytes, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.enveloped(bytes, offset));
  }
  /// Tells the decoder that the object decoded last was deleted, so that it is not kept as a
  /// sibling. Watch calls this for each DELETED event.
  void forget(const Ref<T>& object) noexcept { core_.forget(*detail::block_of(object)); }

 private:
  detail::DecoderCore core_;
};

}  // namespace kube
