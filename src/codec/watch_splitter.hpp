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

/// One event, still encoded. In protobuf the object is in its envelope.
struct WatchFrame {
  EventType type = EventType::kError;
  std::string_view object;
  std::size_t offset = 0;  ///< of the object in the stream
};

/// Cuts a watch stream, as it arrives, into events. Keeps no more than one frame.
class WatchSplitter {
 public:
  WatchSplitter(Format format, const DecodeLimits& limits) : format_(format), limits_(limits) {}

  /// Takes bytes off the front of `chunk`, up to the end of a frame or all of them. The frame, if one is
  /// complete, lies in `chunk` or in the splitter, and there until the next call.
  /// Throws CodecError on a malformed or oversized frame.
  [[nodiscard]] std::optional<WatchFrame> next(std::string_view& chunk);
  /// The object, in its envelope, of the next frame if `chunk` has all of it; else nothing, and never for JSON.
  [[nodiscard]] std::string_view upcoming(std::string_view chunk) const noexcept;
  /// How many bytes of an incomplete frame it keeps.
  [[nodiscard]] std::size_t held() const noexcept { return is_used_ ? 0 : partial_.size(); }
  /// Throws CodecError if the stream ended within a frame.
  void finish() const;

 private:
  [[nodiscard]] std::optional<WatchFrame> next_json(std::string_view& chunk);
  [[nodiscard]] std::optional<WatchFrame> next_protobuf(std::string_view& chunk);
  /// Takes `size` bytes off `chunk`. The frame so far: copied only if it does not lie in one piece.
  std::string_view cut(std::string_view& chunk, std::size_t size, bool complete);
  [[nodiscard]] WatchFrame open_json(std::string_view frame, std::size_t offset) const;
  [[nodiscard]] static WatchFrame open_protobuf(std::string_view frame, std::size_t offset);
  void check_size(std::size_t size) const;

  Format format_;
  DecodeLimits limits_;
  std::size_t consumed_ = 0;
  std::string partial_;   // of a frame
  bool is_used_ = false;  // partial_ is the frame that was returned last
  JsonExtent extent_;
};

}  // namespace kube::detail
