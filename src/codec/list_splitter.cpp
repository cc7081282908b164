// SPDX-License-Identifier: Apache-2.0
#include "codec/list_splitter.hpp"

#include "base/buffer.hpp"
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <protozero/pbf_reader.hpp>

#include <algorithm>

namespace kube::detail {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Reads a varint at `at` and moves `at` past it. Returns nullopt if the varint is incomplete.
std::optional<std::uint64_t> take_varint(std::string_view bytes, std::size_t& at, bool& malformed) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (shift >= 63 && byte > 1) {
      malformed = true;
      return std::nullopt;
    }
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

void ListSplitter::fail(std::string_view problem, std::size_t ahead) const {
  throw CodecError("", problem, consumed_ + ahead);
}

void ListSplitter::feed(std::string_view chunk, const OnItem& on_item) {
  if (format_ == Format::kJson) {
    feed_json(chunk, on_item);
  } else {
    feed_protobuf(chunk, on_item);
  }
}

void ListSplitter::finish() const {
  if (format_ == Format::kJson ? json_state_ != JsonState::kDone
                               : !saw_list_ || list_left_ > 0 || !partial_.empty()) {
    fail("the list ends before it is complete", partial_.size());
  }
}

// --- JSON ---

void ListSplitter::feed_json(std::string_view chunk, const OnItem& on_item) {
  while (!chunk.empty()) {
    const bool in_piece = json_state_ == JsonState::kItem || json_state_ == JsonState::kMember ||
                          json_state_ == JsonState::kKey;
    const bool is_piece = in_piece && (!partial_.empty() || !is_space(chunk.front()));
    if (is_piece) {
      chunk.remove_prefix(json_piece(chunk, on_item));
    } else if (is_space(chunk.front()) || json_punctuation(chunk.front())) {
      chunk.remove_prefix(1);
      ++consumed_;
    }
  }
}

std::size_t ListSplitter::json_piece(std::string_view chunk, const OnItem& on_item) {
  bool complete = false;
  const std::size_t size = extent_.advance(chunk, complete);
  std::string_view piece = chunk.substr(0, size);
  if (partial_.size() + size > limits_.max_frame) {
    fail("object larger than the limit of " + std::to_string(limits_.max_frame) + " bytes");
  }
  if (!complete || !partial_.empty()) {
    partial_.append(piece);
    piece = partial_;
  }
  if (complete && size == 0 && partial_.empty()) fail("expected value");
  consumed_ += size;
  if (!complete) return size;
  if (json_state_ == JsonState::kKey) {
    key_ = piece.substr(1, piece.size() - 2);
    json_state_ = JsonState::kColon;
  } else if (json_state_ == JsonState::kMember) {
    json_member(piece);
    json_state_ = JsonState::kBehindMember;
  } else {
    on_item(piece, consumed_ - piece.size());
    json_state_ = JsonState::kBehindItem;
  }
  clear_buffer(partial_);
  return size;
}

bool ListSplitter::json_punctuation(char c) {
  const auto begin_piece = [this](JsonState piece) {
    extent_.start();
    partial_.clear();
    json_state_ = piece;
  };
  switch (json_state_) {
    case JsonState::kStart:
      if (c != '{') fail("expected a list object");
      json_state_ = JsonState::kKeyOrEnd;
      return true;
    case JsonState::kKeyOrEnd:
      if (c == '}') {
        json_state_ = JsonState::kDone;
        return true;
      }
      if (c != '"') fail("expected key in quotes");
      begin_piece(JsonState::kKey);
      return false;
    case JsonState::kColon:
      if (c != ':') fail("expected ':'");
      begin_piece(key_ == "items" ? JsonState::kItems : JsonState::kMember);
      return true;
    case JsonState::kItems:
      if (c == 'n') {
        json_state_ = JsonState::kMember;  // null means no items
        return false;
      }
      if (c != '[') fail("items: expected list");
      json_state_ = JsonState::kItemOrEnd;
      return true;
    case JsonState::kItemOrEnd:
      if (c == ']') {
        json_state_ = JsonState::kBehindMember;
        return true;
      }
      begin_piece(JsonState::kItem);
      return false;
    case JsonState::kBehindItem:
      if (c != ']' && c != ',') fail("items: expected ',' or ']'");
      if (c == ',') {
        begin_piece(JsonState::kItem);
      } else {
        json_state_ = JsonState::kBehindMember;
      }
      return true;
    case JsonState::kBehindMember:
      if (c != '}' && c != ',') fail("expected ',' or '}'");
      json_state_ = c == '}' ? JsonState::kDone : JsonState::kKeyOrEnd;
      return true;
    case JsonState::kDone:
      fail("unexpected data after the end of the list");
    case JsonState::kKey:
    case JsonState::kMember:
    case JsonState::kItem:
      break;  // json_piece()
  }
  return false;
}

void ListSplitter::json_member(std::string_view value) {
  const Ref<Value> decoded = decode_json<Value>(value);
  if (key_ == "kind" && decoded->is_string()) metadata_.kind = decoded->as_string();
  if (key_ == "apiVersion" && decoded->is_string()) metadata_.api_version = decoded->as_string();
  if (key_ == "metadata" && decoded->is_object()) {
    try {
      metadata_.resource_version = decoded->get_string("resourceVersion").value_or("");
      metadata_.continue_token = decoded->get_string("continue").value_or("");
      metadata_.remaining_item_count = decoded->get_integer("remainingItemCount");
    } catch (const ValueError& error) {
      fail("metadata." + std::string{error.what()});
    }
  }
}

// --- protobuf ---

void ListSplitter::feed_protobuf(std::string_view chunk, const OnItem& on_item) {
  while (!chunk.empty()) {
    if (partial_.empty()) {
      const std::size_t size = proto_step(chunk, on_item);
      if (size == 0) {
        partial_ = chunk;
        return;
      }
      chunk.remove_prefix(size);
      consumed_ += size;
      continue;
    }
    // Completes the piece that an earlier chunk started, with as little copying as possible.
    const std::size_t had = partial_.size();
    const std::size_t wanted = std::max<std::size_t>(had < 32 ? 32 : had, 1);
    const std::size_t taken = std::min(chunk.size(), wanted);
    partial_.append(chunk.substr(0, taken));
    const std::size_t size = proto_step(partial_, on_item);
    if (size == 0) {
      chunk.remove_prefix(taken);
      continue;
    }
    consumed_ += size;
    clear_buffer(partial_);
    chunk.remove_prefix(size - had);
  }
}

std::size_t ListSplitter::proto_step(std::string_view bytes, const OnItem& on_item) {
  if (proto_state_ == ProtoState::kMagic) {
    const std::size_t known = std::min(bytes.size(), kEnvelopeMagic.size());
    if (bytes.substr(0, known) != kEnvelopeMagic.substr(0, known)) {
      fail("not a Kubernetes protobuf object: the magic bytes are missing");
    }
    if (bytes.size() < kEnvelopeMagic.size()) return 0;
    proto_state_ = ProtoState::kEnvelopeField;
    return kEnvelopeMagic.size();
  }

  std::size_t at = 0;
  bool malformed = false;
  const bool in_list = proto_state_ == ProtoState::kListField;
  const std::optional<std::uint64_t> tag = take_varint(bytes, at, malformed);
  if (malformed) fail("malformed field tag");
  if (!tag) return 0;
  if ((*tag & 7) != 2) {
    // Servers send only length-delimited fields here, but a newer one may add a number.
    if ((*tag & 7) != 0) fail("unknown wire type " + std::to_string(*tag & 7));
    const std::optional<std::uint64_t> number = take_varint(bytes, at, malformed);
    if (malformed) fail("malformed number");
    if (!number) return 0;
    if (in_list) {
      if (at > list_left_) fail("field extends beyond the end of the list");
      list_left_ -= at;
      if (list_left_ == 0) proto_state_ = ProtoState::kEnvelopeField;
    }
    return at;
  }
  const std::optional<std::uint64_t> size = take_varint(bytes, at, malformed);
  if (malformed) fail("malformed length");
  if (!size) return 0;
  const std::uint64_t number = *tag >> 3;

  if (!in_list && number == 2) {  // the list starts; its content is read field by field
    list_left_ = *size;
    saw_list_ = true;
    if (list_left_ > 0) proto_state_ = ProtoState::kListField;
    return at;
  }
  if (*size > limits_.max_frame) {
    fail("object larger than the limit of " + std::to_string(limits_.max_frame) + " bytes");
  }
  const std::size_t total = at + static_cast<std::size_t>(*size);
  if (in_list && total > list_left_) fail("field extends beyond the end of the list");
  if (bytes.size() < total) return 0;
  const std::string_view payload = bytes.substr(at, static_cast<std::size_t>(*size));
  if (!in_list) {
    if (number == 1) {
      // Parsed in the same way as the envelope of a single object.
      std::string envelope{kEnvelopeMagic};
      envelope.append(bytes.substr(0, total));
      const Envelope opened = open_envelope(envelope, consumed_);
      metadata_.kind = opened.kind;
      metadata_.api_version = opened.api_version;
    }
    return total;
  }
  if (number == 1) proto_list_meta(payload);
  if (number == 2) on_item(payload, consumed_ + at);
  list_left_ -= total;
  if (list_left_ == 0) proto_state_ = ProtoState::kEnvelopeField;
  return total;
}

void ListSplitter::proto_list_meta(std::string_view message) {
  try {
    protozero::pbf_reader reader{message.data(), message.size()};
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited):
          metadata_.resource_version = reader.get_string();
          break;
        case protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited):
          metadata_.continue_token = reader.get_string();
          break;
        case protozero::tag_and_type(4, protozero::pbf_wire_type::varint):
          metadata_.remaining_item_count = reader.get_int64();
          break;
        default:
          reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    fail("metadata: malformed message");
  }
}

}  // namespace kube::detail
