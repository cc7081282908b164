// SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_path.hpp"

#include "codec/path.hpp"

#include <protozero/varint.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace kube::detail {

namespace {

constexpr std::uint32_t kLengthDelimited = 2;

std::optional<std::uint64_t> varint(const char*& at, const char* end) {
  try {
    return protozero::decode_varint(&at, end);
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

/// One field of a message, as far as it is well-formed.
struct Piece {
  std::uint32_t number = 0;
  const char* start = nullptr;   ///< start of the tag
  const char* behind = nullptr;  ///< end of the tag
  /// Payload of a length-delimited field; the rest of the message if the length is malformed.
  std::string_view payload = {};
  const char* end = nullptr;  ///< null if unknown
};

/// Iterates over the fields of a message.
class Pieces {
 public:
  explicit Pieces(std::string_view message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  /// Returns nullopt at the end, and at a malformed tag.
  std::optional<Piece> next() {
    if (at_ == nullptr || at_ >= end_) return std::nullopt;
    Piece piece;
    piece.start = at_;
    const auto tag = varint(at_, end_);
    if (!tag) return std::nullopt;
    piece.number = static_cast<std::uint32_t>(*tag >> 3);
    piece.behind = at_;
    piece.end = end_of(static_cast<std::uint32_t>(*tag & 7U), piece);
    at_ = piece.end;
    return piece;
  }

 private:
  const char* end_of(std::uint32_t wire, Piece& piece) {
    const auto fixed = [&](std::ptrdiff_t size) {
      return end_ - at_ < size ? nullptr : at_ + size;
    };
    switch (wire) {
      case 0:
        return varint(at_, end_) ? at_ : nullptr;
      case 1:
        return fixed(8);
      case kLengthDelimited: {
        const auto size = varint(at_, end_);
        if (!size || *size > static_cast<std::uint64_t>(end_ - at_)) return nullptr;
        piece.payload = {at_, static_cast<std::size_t>(*size)};
        return at_ + *size;
      }
      case 5:
        return fixed(4);
      default:
        return nullptr;  // no API message has groups; the error is in the group or after it
    }
  }

  const char* at_;
  const char* end_;
};

class Search {
 public:
  Search(const char* at, bool is_tag) : at_(at), is_tag_(is_tag) {}

  std::string message(const Type& type, std::span<const ProtoField> table, std::string_view content,
                      const PathFrame* path) {
    Pieces pieces{content};
    std::uint32_t last = 0;
    std::size_t index = 0;
    while (const auto piece = pieces.next()) {
      index = piece->number == last ? index + 1 : 0;
      last = piece->number;
      if (!contains(*piece)) continue;
      const auto entry = std::find_if(table.begin(), table.end(), [&](const ProtoField& field) {
        return field.number == piece->number;
      });
      if (entry == table.end()) break;
      if (entry->is_part) return message(type, entry->part, piece->payload, path);
      const Field& field = type.fields[entry->field];
      const PathFrame frame{path, field.name()};
      return is_inside(*piece)
                 ? value(*field.type, field.is(Field::kProtoWrapped), index, piece->payload, frame)
                 : frame.text();
    }
    return path == nullptr ? std::string{} : path->text();
  }

 private:
  [[nodiscard]] bool contains(const Piece& piece) const {
    return is_tag_ ? is_inside(piece)
                   : at_ >= piece.behind && (piece.end == nullptr || at_ <= piece.end);
  }
  /// True if the byte is in the payload, not in the tag or length before it.
  [[nodiscard]] bool is_inside(const Piece& piece) const {
    const char* begin = piece.payload.data();
    return begin != nullptr && at_ >= begin && (at_ < piece.end || (!is_tag_ && at_ == piece.end));
  }

  std::string value(const Type& type, bool is_wrapped, std::size_t index, std::string_view payload,
                    const PathFrame& frame) {
    switch (type.kind) {
      case Kind::kStruct:
        return message(type, type.proto, payload, &frame);
      case Kind::kBox:
        return message(*type.element, type.element->proto, payload, &frame);
      case Kind::kList:
        if (is_wrapped) return wrapped(*type.element, payload, frame);
        return element(*type.element, index, payload, frame);
      case Kind::kMap:
        return entry(*type.element, payload, frame);
      default:
        return frame.text();
    }
  }

  std::string element(const Type& type, std::size_t index, std::string_view payload,
                      const PathFrame& list) {
    if (type.kind <= Kind::kOptionalDouble) return list.text();  // packed numbers
    const PathFrame frame{&list, {}, index};
    return value(type, type.kind == Kind::kList, 0, payload, frame);
  }

  std::string wrapped(const Type& type, std::string_view payload, const PathFrame& list) {
    Pieces pieces{payload};
    std::size_t index = 0;
    while (const auto piece = pieces.next()) {
      if (contains(*piece) && piece->number == 1 && is_inside(*piece)) {
        return element(type, index, piece->payload, list);
      }
      index += piece->number == 1 ? 1 : 0;
    }
    return list.text();
  }

  std::string entry(const Type& type, std::string_view payload, const PathFrame& map) {
    std::optional<std::string_view> key;
    std::string_view content;
    Pieces pieces{payload};
    while (const auto piece = pieces.next()) {
      if (piece->number == 1) key = piece->payload;
      if (piece->number == 2 && is_inside(*piece)) content = piece->payload;
    }
    if (!key) return map.text();
    const PathFrame frame{&map, *key, 0, true};
    if (content.data() == nullptr) return frame.text();
    return value(type, type.kind == Kind::kList, 0, content, frame);
  }

  const char* at_;
  bool is_tag_;
};

}  // namespace

std::string protobuf_path(const Type& type, std::string_view message, const char* at, bool is_tag) {
  return Search{at, is_tag}.message(type, type.proto, message, nullptr);
}

}  // namespace kube::detail
