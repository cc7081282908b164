// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/json_splitter.hpp"
#include <kube/codec/event_type.hpp>
#include <kube/codec/format.hpp>
#include <kube/codec/options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// One encoded event. In protobuf the object is in its envelope.
struct WatchFrame {
  EventType type = EventType::kError;
  std::string_view object;
  std::size_t offset = 0;  ///< position of the object in the stream
};

/// Splits a watch stream into events while it arrives. Buffers at most one frame.
class WatchSplitter {
 public:
  WatchSplitter(Format format, const DecodeLimits& limits) : format_(format), limits_(limits) {}

  /// Consumes bytes of `chunk` up to the end of a frame, or all of them. Returns the frame if it is
  /// complete; it is in `chunk` or in the splitter, and valid until the next call. Throws
  /// CodecError on a malformed or oversized frame.
  [[nodiscard]] std::optional<WatchFrame> next(std::string_view& chunk);
  /// Returns the enveloped object of the next frame if `chunk` contains all of it, else nothing.
  /// Always empty for JSON.
  [[nodiscard]] std::string_view upcoming(std::string_view chunk) const noexcept;
  /// Number of buffered bytes of an incomplete frame.
  [[nodiscard]] std::size_t held() const noexcept { return is_used_ ? 0 : partial_.size(); }
  /// Throws CodecError if the stream ended within a frame.
  void finish() const;

 private:
  [[nodiscard]] std::optional<WatchFrame> next_json(std::string_view& chunk);
  [[nodiscard]] std::optional<WatchFrame> next_protobuf(std::string_view& chunk);
  /// Consumes `size` bytes of `chunk`. Returns the frame so far, copied only if it is not
  /// contiguous.
  std::string_view cut(std::string_view& chunk, std::size_t size, bool complete);
  [[nodiscard]] WatchFrame open_json(std::string_view frame, std::size_t offset) const;
  [[nodiscard]] static WatchFrame open_protobuf(std::string_view frame, std::size_t offset);
  void check_size(std::size_t size) const;

  Format format_;
  DecodeLimits limits_;
  std::size_t consumed_ = 0;
  std::string partial_;   // the start of a frame
  bool is_used_ = false;  // partial_ is the frame returned last
  JsonExtent extent_;
};

}  // namespace kube::detail
