// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/json_splitter.hpp>
#include <kube/codec/list_splitter.hpp>
#include <kube/codec/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kube {

/// What happened to the object of a watch event.
enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// "ADDED", ...: as on the wire.
[[nodiscard]] std::string_view to_string(EventType type) noexcept;

namespace detail {

/// One event, still encoded. In protobuf the object is in its envelope.
struct WatchFrame {
  EventType type = EventType::kError;
  std::string_view object;
  std::size_t offset = 0;  ///< of the object in the stream
};

/// Cuts a watch stream, as it arrives, into events. Keeps no more than one frame.
class WatchSplitter {
 public:
  using OnFrame = std::function<void(const WatchFrame& frame)>;

  WatchSplitter(Format format, const DecodeLimits& limits) : format_(format), limits_(limits) {}

  /// Throws CodecError on a malformed or oversized frame; what `on_frame` throws passes through.
  void feed(std::string_view chunk, const OnFrame& on_frame);
  /// Throws CodecError if the stream ended within a frame.
  void finish() const;

 private:
  void feed_json(std::string_view chunk, const OnFrame& on_frame);
  void feed_protobuf(std::string_view chunk, const OnFrame& on_frame);
  [[nodiscard]] WatchFrame open_json(std::string_view frame, std::size_t offset) const;
  [[nodiscard]] WatchFrame open_protobuf(std::string_view frame, std::size_t offset) const;
  void check_size(std::size_t size) const;

  Format format_;
  DecodeLimits limits_;
  std::size_t consumed_ = 0;
  std::string partial_;
  JsonExtent extent_;
};

}  // namespace detail
}  // namespace kube
