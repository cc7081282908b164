// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/watch_splitter.hpp"
#include <kube/codec/decoder.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace kube::test {

/// One decoded event of a watch stream.
template <typename T>
struct ReadEvent {
  EventType type = EventType::kError;
  /// The object; metadata only for a bookmark, null for an error.
  Ref<T> object;
  /// For an error: the encoded Status, valid during the call that delivers the event.
  std::string_view status;
};

/// Splits and decodes a watch stream like a client, without a transport.
template <typename T>
class WatchReader {
 public:
  WatchReader(Format format, DecoderOptions options = {})
      : splitter_(format, options.limits), format_(format), decoder_(std::move(options)) {}

  /// Calls `on_event(ReadEvent<T>)` for each event that `chunk` completes. Throws CodecError; the
  /// reader cannot be used afterwards.
  template <typename OnEvent>
  void feed(std::string_view chunk, OnEvent on_event) {
    while (!chunk.empty()) {
      const std::optional<detail::WatchFrame> frame = splitter_.next(chunk);
      if (!frame) continue;
      ReadEvent<T> event{frame->type, nullptr, {}};
      if (frame->type == EventType::kError) {
        event.status = frame->object;
      } else {
        event.object = format_ == Format::kJson ? decoder_.json(frame->object, frame->offset)
                                                : decoder_.enveloped(frame->object, frame->offset);
        if (frame->type == EventType::kDeleted) decoder_.forget(event.object);
      }
      on_event(std::move(event));
    }
  }
  /// Throws CodecError if the stream ended within an event.
  void finish() const { splitter_.finish(); }

 private:
  detail::WatchSplitter splitter_;
  Format format_;
  Decoder<T> decoder_;
};

}  // namespace kube::test
