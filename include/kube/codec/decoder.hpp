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

/// How a decoder works. Any field may be left out.
struct DecoderOptions {
  /// Where content that objects have in common is kept; null shares nothing. Decoders that feed one cache
  /// should have one pool: `std::make_shared<kube::Pool>()` of <kube/object/pool.hpp>.
  std::shared_ptr<Pool> pool = nullptr;
  /// What to keep of each object.
  Projection projection = {};
  DecodeLimits limits = {};
  /// Memory for objects that the next ones are compared with; 0 compares none. Only with a pool.
  std::size_t sibling_bytes = std::size_t{8} << 20;
};

namespace detail {

/// The decoder of one type, for types known at run time. See Decoder.
class DecoderCore {
 public:
  DecoderCore(const Type& type, DecoderOptions options);
  DecoderCore(const DecoderCore&) = delete;
  DecoderCore& operator=(const DecoderCore&) = delete;
  ~DecoderCore();

  [[nodiscard]] Block* json(std::string_view text, std::size_t offset);
  [[nodiscard]] Block* protobuf(std::string_view message, std::size_t offset);
  [[nodiscard]] Block* enveloped(std::string_view bytes, std::size_t offset);
  /// Lets the processor fetch what enveloped() will compare these bytes with, while another document is decoded.
  void prepare(std::string_view bytes) noexcept;
  /// The object that was decoded last has been deleted: releases what is kept of it and its earlier versions.
  void forget(const Block& object) noexcept;
  /// Gives back the memory that only decoding needs: nothing is expected soon.
  void rest() noexcept;
  [[nodiscard]] const Type& type() const noexcept { return type_; }

 private:
  struct State;
  const Type& type_;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// Turns documents into objects of one type, each one immutable block. Worth keeping: it re-uses its
/// scratch memory and learns what objects have in common.
///
/// Every method throws CodecError on bad input, with nothing half-made left behind; `offset` is where the
/// bytes stand in a larger document, for the message.
/// Thread safety: none; give each thread its own.
template <typename T>
class Decoder {
 public:
  explicit Decoder(DecoderOptions options = {}) : core_(type_of<T>(), std::move(options)) {}

  [[nodiscard]] Ref<T> json(std::string_view text, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.json(text, offset));
  }
  /// A bare message.
  [[nodiscard]] Ref<T> protobuf(std::string_view message, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.protobuf(message, offset));
  }
  /// A message in the envelope that API servers put around it, which names its kind.
  [[nodiscard]] Ref<T> enveloped(std::string_view bytes, std::size_t offset = 0) {
    return detail::ref_to_root<T>(core_.enveloped(bytes, offset));
  }
  /// Tells the decoder that the object it decoded last has been deleted, so that it keeps nothing of it to compare
  /// others with. Watch does so with each DELETED event.
  void forget(const Ref<T>& object) noexcept { core_.forget(*detail::block_of(object)); }

 private:
  detail::DecoderCore core_;
};

}  // namespace kube
