// SPDX-License-Identifier: Apache-2.0
#include "codec/watch_splitter.hpp"

#include "base/buffer.hpp"
#include "codec/json_scanner.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/error.hpp>

#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace kube {

namespace {

constexpr std::array<std::pair<std::string_view, EventType>, 5> kEventTypes{
    {{"ADDED", EventType::kAdded},
     {"MODIFIED", EventType::kModified},
     {"DELETED", EventType::kDeleted},
     {"BOOKMARK", EventType::kBookmark},
     {"ERROR", EventType::kError}}};

EventType event_type(std::string_view text, std::size_t offset) {
  for (const auto& [name, type] : kEventTypes) {
    if (name == text) return type;
  }
  throw CodecError("type", "unknown event type \"" + std::string{text.substr(0, 80)} + '"', offset);
}

/// Size of the length prefix of a protobuf frame, in bytes.
constexpr std::size_t kLengthSize = 4;

std::size_t frame_length(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthSize; ++i) {
    length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

std::string_view to_string(EventType type) noexcept {
  for (const auto& [name, known] : kEventTypes) {
    if (known == type) return name;
  }
  return "ERROR";
}

namespace detail {

std::optional<WatchFrame> WatchSplitter::next(std::string_view& chunk) {
  if (std::exchange(is_used_, false)) clear_buffer(partial_);
  return format_ == Format::kJson ? next_json(chunk) : next_protobuf(chunk);
}

void WatchSplitter::finish() const {
  if (!is_used_ && !partial_.empty()) {
    throw CodecError("", "the stream ended within an event", consumed_ + partial_.size());
  }
}

void WatchSplitter::check_size(std::size_t size) const {
  if (size > limits_.max_frame) {
    throw CodecError(
        "", "event larger than the limit of " + std::to_string(limits_.max_frame) + " bytes",
        consumed_);
  }
}

std::string_view WatchSplitter::cut(std::string_view& chunk, std::size_t size, bool complete) {
  std::string_view frame = chunk.substr(0, size);
  if (!complete || !partial_.empty()) {
    partial_.append(frame);
    frame = partial_;
    is_used_ = complete;
  }
  chunk.remove_prefix(size);
  return frame;
}

std::optional<WatchFrame> WatchSplitter::next_json(std::string_view& chunk) {
  if (partial_.empty()) {
    // Skips white space between events.
    const std::size_t start = std::min(chunk.find_first_not_of(" \n\r\t"), chunk.size());
    chunk.remove_prefix(start);
    consumed_ += start;
    if (chunk.empty()) return std::nullopt;
    if (chunk.front() != '{') throw CodecError("", "expected a watch event", consumed_);
    extent_.start();
  }
  bool complete = false;
  const std::size_t size = extent_.advance(chunk, complete);
  check_size(partial_.size() + size);
  const std::string_view frame = cut(chunk, size, complete);
  if (!complete) return std::nullopt;
  const std::size_t offset = std::exchange(consumed_, consumed_ + frame.size());
  return open_json(frame, offset);
}

WatchFrame WatchSplitter::open_json(std::string_view frame, std::size_t offset) const {
  WatchFrame opened;
  // Nearly every event has this form, and its object then ends before the last brace. Anything
  // after the object is detected when the object is decoded.
  constexpr std::string_view kType = R"({"type":")";
  constexpr std::string_view kObject = R"(","object":)";
  if (frame.starts_with(kType) && frame.ends_with('}')) {
    const std::size_t quote = frame.find('"', kType.size());
    if (quote != std::string_view::npos && frame.substr(quote, kObject.size()) == kObject) {
      const std::size_t start = quote + kObject.size();
      opened.type = event_type(frame.substr(kType.size(), quote - kType.size()), offset);
      opened.object = frame.substr(start, frame.size() - 1 - start);
      opened.offset = offset + start;
      return opened;
    }
  }
  JsonScanner scan{frame, offset, limits_.max_depth};
  if (!is_utf8(frame)) scan.fail(nullptr, "event is not valid UTF-8");
  bool has_type = false;
  scan.consume('{');
  scan.white_space();
  if (!scan.consume('}')) {
    do {
      std::string_view key;
      scan.expect('"', "key in quotes", nullptr);
      scan.string(key, nullptr);
      scan.expect(':', "':'", nullptr);
      scan.white_space();
      const char* const start = scan.at();
      if (key == "type") {
        std::string_view text;
        scan.expect('"', "string", nullptr);
        scan.string(text, nullptr);
        opened.type = event_type(text, offset + scan.position());
        has_type = true;
      } else {
        opened.offset = key == "object" ? offset + scan.position() : opened.offset;
        scan.skip_value(nullptr, 1);
        if (key == "object") {
          opened.object = {start, static_cast<std::size_t>(scan.at() - start)};
        }
      }
      scan.white_space();
    } while (scan.consume(','));
    scan.expect('}', "',' or '}'", nullptr);
  }
  if (!has_type || opened.object.empty()) {
    throw CodecError("", "watch event without type or object", offset);
  }
  return opened;
}

std::optional<WatchFrame> WatchSplitter::next_protobuf(std::string_view& chunk) {
  // Reads the length first, then exactly that many bytes.
  if (partial_.size() < kLengthSize && (!partial_.empty() || chunk.size() < kLengthSize)) {
    const std::size_t taken = std::min(kLengthSize - partial_.size(), chunk.size());
    (void)cut(chunk, taken, false);
    if (partial_.size() < kLengthSize) return std::nullopt;
  }
  const std::size_t length = frame_length(partial_.empty() ? chunk : std::string_view{partial_});
  check_size(length);
  const std::size_t missing = kLengthSize + length - partial_.size();
  const bool complete = chunk.size() >= missing;
  const std::string_view frame = cut(chunk, std::min(missing, chunk.size()), complete);
  if (!complete) return std::nullopt;
  const std::size_t offset = std::exchange(consumed_, consumed_ + frame.size());
  return open_protobuf(frame.substr(kLengthSize), offset + kLengthSize);
}

std::string_view WatchSplitter::upcoming(std::string_view chunk) const noexcept {
  if (format_ != Format::kProtobuf || chunk.size() < kLengthSize) return {};
  const std::size_t length = frame_length(chunk);
  if (length > chunk.size() - kLengthSize) return {};
  try {
    return open_protobuf(chunk.substr(kLengthSize, length), 0).object;
  } catch (const std::exception&) {
    return {};  // next() will report it
  }
}

WatchFrame WatchSplitter::open_protobuf(std::string_view frame, std::size_t offset) {
  WatchFrame opened;
  bool has_type = false;
  try {
    protozero::pbf_reader event{frame.data(), frame.size()};
    while (event.next()) {
      switch (event.tag_and_type()) {
        case protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited): {
          const protozero::data_view text = event.get_view();
          opened.type = event_type({text.data(), text.size()}, offset);
          has_type = true;
          break;
        }
        case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited): {
          protozero::pbf_reader extension{event.get_view()};
          while (extension.next(1, protozero::pbf_wire_type::length_delimited)) {
            const protozero::data_view raw = extension.get_view();
            opened.object = {raw.data(), raw.size()};
            opened.offset = offset + static_cast<std::size_t>(raw.data() - frame.data());
          }
          break;
        }
        default:
          event.skip();
      }
    }
  } catch (const protozero::exception&) {
    throw CodecError("", "malformed watch event", offset);
  }
  if (!has_type || opened.object.empty()) {
    throw CodecError("", "watch event without type or object", offset);
  }
  return opened;
}

}  // namespace detail
}  // namespace kube
