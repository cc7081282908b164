// SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_reader.hpp"

#include "base/prefetch.hpp"
#include "codec/leaf.hpp"
#include "codec/protobuf_path.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/error.hpp>
#include <kube/object/box.hpp>

#include <protozero/varint.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace kube::detail {

namespace {

/// Finds an entry, starting at `next`, where it nearly always is, because fields are sent in
/// ascending order. Moves `next` behind it. Returns null if there is none. Sets `is_back` if the
/// entry was before `next`.
const ProtoField* find(std::span<const ProtoField> table, const ProtoField*& next,
                       std::uint32_t number, bool& is_back) {
  const ProtoField* const end = table.data() + table.size();
  for (const ProtoField* entry = next; entry != end && entry->number <= number; ++entry) {
    if (entry->number != number) continue;
    next = entry + 1;
    return entry;
  }
  for (const ProtoField* entry = table.data(); entry != next; ++entry) {
    if (entry->number != number) continue;
    is_back = true;
    next = entry + 1;
    return entry;
  }
  return nullptr;
}

}  // namespace

void ProtobufReader::read(const Type& type, std::string_view message, const Projection& projection,
                          const Sibling& sibling, std::size_t offset) {
  type_ = &type;
  message_ = message;
  offset_ = offset;
  is_regular_ = true;
  // Decoding jumps from length to length, which the hardware prefetcher cannot predict.
  prefetch(message.data(), message.size());
  std::byte* root = arena_.allocate_root(type.size);
  Follower follower;
  if (sibling.object != nullptr && assembler_.shares()) {
    const std::string_view bytes = sibling.message;
    follower = {bytes.data(), bytes.data() + bytes.size(), sibling.object};
  }
  this->message(type, type.proto, root, message, follower, projection.root(), 0);
}

void ProtobufReader::message(const Type& type, std::span<const ProtoField> table, std::byte* out,
                             std::string_view content, Follower sibling, Keep keep, int depth) {
  const char* at = content.data();
  const char* const end = at + content.size();
  if (depth > limits_.max_depth) fail(at, "nested too deeply");
  const ProtoField* next = table.data();
  bool is_back = false;
  while (at < end) {
    const char* const start = at;
    const std::uint32_t tag = read_tag(at, end);
    const ProtoField* const entry = find(table, next, number_of(tag), is_back);
    if (entry == nullptr) {
      if (wire_of(tag) == kEndGroup) fail_tag(start, "unexpected end of a group");
      at = skip(tag, at, end, depth);
      continue;
    }
    if (keep != nullptr && !entry->is_part && !keep->field(entry->field).kept) {
      next = entry;  // the next field may be another element of the same list
      at = skip(tag, at, end, depth);
      continue;
    }
    const Field& described = type.fields[entry->field];
    const Type& inner = *described.type;
    std::byte* const place = out + described.offset;
    const bool is_delimited = wire_of(tag) == kLengthDelimited;
    if (is_delimited && is_text(inner) && !entry->is_part) {
      const std::string_view payload = bytes(at, end);
      Word& word = word_at(place);
      if (!word.is_none()) arena_.drop(word);
      if (is_next(start, at, sibling)) {
        sibling.at += at - start;
        take_text(word, word_at(sibling.object + described.offset));
      } else {
        sibling.at = new_text(inner, word, tag, payload, sibling, described.offset);
      }
    } else if (!is_delimited || is_scalar(inner)) {
      if (entry->is_part) fail_wire(type, wire_of(tag), at);
      at = is_scalar(inner) ? scalar(inner, place, wire_of(tag), at, end)
                            : unpacked_list(inner, word_at(place), tag, at, end);
      // Keeps the sibling in step; it does not matter whether its number is the same.
      if (is_next(start, at, sibling)) sibling.at += at - start;
    } else {
      const Step step = structured(type, *entry, out, start, at, end, sibling, keep, depth + 1);
      at = step.at;
      sibling.at = step.sibling;
    }
  }
  // Elements of a list are adjacent and are read at once, so a regular message never goes back.
  if (is_back) is_regular_ = false;
}

const char* ProtobufReader::new_text(const Type& type, Word& word, std::uint32_t tag,
                                     std::string_view payload, Follower sibling,
                                     std::size_t offset) {
  if (follow(tag, payload, sibling).equal) {
    take_text(word, word_at(sibling.object + offset));
  } else {
    assembler_.place(word, text(type, payload, nullptr));
  }
  return sibling.at;
}

ProtobufReader::Step ProtobufReader::structured(const Type& type, const ProtoField& entry,
                                                std::byte* out, const char* start, const char* at,
                                                const char* end, Follower sibling, Keep keep,
                                                int depth) {
  const Field& described = type.fields[entry.field];
  const Type& inner = *described.type;
  if (keep != nullptr && !entry.is_part) keep = keep->field(entry.field).below;
  const Word* const like_word =
      sibling.object == nullptr ? nullptr : &word_at(sibling.object + described.offset);
  const bool is_list = inner.kind == Kind::kList && !described.is(Field::kProtoWrapped);
  if ((is_list || inner.kind == Kind::kMap) && !entry.is_part) {
    Word& word = word_at(out + described.offset);
    if (is_list && is_scalar(*inner.element)) {
      packed_list(inner, word, bytes(at, end));
      return {at, sibling.at};
    }
    const Run all = run(start, at, end);
    if (like_word != nullptr && is_next_run(all, sibling) &&
        share(inner, word, {like_word, all.bytes(), true})) {
      return {all.end, sibling.at + (all.end - all.start)};
    }
    return {all.end, is_list ? list(inner, word, all, sibling, like_word, keep, depth)
                             : map(inner, word, all, sibling, like_word, keep, depth)};
  }

  const std::string_view payload = bytes(at, end);
  Like like;
  if (is_next(start, at, sibling)) {
    sibling.at += at - start;
    like = {like_word, payload, true};
  } else if (like_word != nullptr) {
    const char* tag_at = start;
    like = follow(read_tag(tag_at, end), payload, sibling);
    if (like.payload.data() != nullptr) like.word = like_word;
  }
  if (entry.is_part) {
    message(type, entry.part, out, payload, like.inside(sibling.object), keep, depth);
  } else {
    field(described, out, payload, like, keep, depth);
  }
  return {at, sibling.at};
}

void ProtobufReader::field(const Field& field, std::byte* out, std::string_view payload,
                           const Like& like, Keep keep, int depth) {
  const Type& type = *field.type;
  std::byte* const place = out + field.offset;
  Word& word = word_at(place);
  switch (type.kind) {
    case Kind::kLeaf:
      if (like.equal && type.element->kind == Kind::kInt64) {
        std::memcpy(place, like.word, 8);
      } else if (!like.equal || !share(type, word, like)) {
        leaf(type, place, payload, like.word);
      }
      break;
    case Kind::kStruct:
      message(type, type.proto, place, payload,
              like.inside(reinterpret_cast<const std::byte*>(like.word)), keep, depth);
      break;
    case Kind::kBox:
      box(*type.element, word, payload, like, keep, depth);
      break;
    case Kind::kList:
      if (!like.equal || !share(type, word, like)) wrapped_list(type, word, payload, keep, depth);
      break;
    default:
      fail(payload.data(), std::string{type.name} + " has no protobuf form");
  }
}

bool ProtobufReader::share_new(const Type& type, Word& word, const Like& like) {
  const std::optional<Pending> shared = assembler_.share(type, *like.word, like.payload.size());
  if (shared) assembler_.place(type, reinterpret_cast<std::byte*>(&word), *shared);
  return shared.has_value();
}

void ProtobufReader::box(const Type& element, Word& word, std::string_view payload,
                         const Like& like, Keep keep, int depth) {
  Follower inner;
  if (like.word != nullptr && !like.word->is_none()) {
    if (like.equal && share(element, word, like)) return;
    inner = like.inside(boxed(*like.word));
  }
  std::byte* content = nullptr;
  if (!word.is_none()) {
    // The message was split in two: the second part is merged into the first.
    assembler_.thaw(element, word);
    content = const_cast<std::byte*>(word.relative_target());
  } else {
    content = arena_.allocate(std::max<std::size_t>(element.size, 8));
    word.set_relative(content, 1, Content::kBytes);
  }
  message(element, element.proto, content, payload, inner, keep, depth);
}

void ProtobufReader::leaf(const Type& type, std::byte* out, std::string_view payload,
                          const Word* sibling) {
  if (payload.size() > limits_.max_text) fail(payload.data(), "text is too long");
  if (type.leaf->from_protobuf == nullptr) {
    fail(payload.data(), std::string{type.name} + " has no protobuf form");
  }
  LeafOperations::Input input{assembler_, sibling};
  const Pending content = type.leaf->from_protobuf(input, payload);
  if (input.problem != nullptr) fail(payload.data(), input.problem);
  if (!content.is_raw) arena_.drop(word_at(out));
  assembler_.place(type, out, content);
}

Pending ProtobufReader::text(const Type& type, std::string_view bytes, const Word* sibling) {
  if (bytes.size() > limits_.max_text) fail(bytes.data(), "text is too long");
  if (type.kind != Kind::kBytes && !is_utf8(bytes)) fail(bytes.data(), "text is not valid UTF-8");
  return assembler_.text(bytes, sibling);
}

const char* ProtobufReader::scalar(const Type& type, std::byte* out, std::uint32_t wire,
                                   const char* at, const char* end) {
  const char* const start = at;
  if (type.kind == Kind::kDouble || type.kind == Kind::kOptionalDouble) {
    if (wire != kFixed64) fail_wire(type, wire, start);
    if (end - at < 8) fail(start, "truncated number");
    double number = 0;
    std::memcpy(&number, at, 8);
    if (number - number != 0) fail(start, "number is not finite");
    if (type.kind == Kind::kDouble) {
      *reinterpret_cast<double*>(out) = number;
    } else {
      *reinterpret_cast<std::optional<double>*>(out) = number;
    }
    return at + 8;
  }
  if (wire != kVarint) fail_wire(type, wire, start);
  const auto number = static_cast<std::int64_t>(varint(at, end));
  const auto narrow = [&] {
    if (number < std::numeric_limits<std::int32_t>::min() ||
        number > std::numeric_limits<std::int32_t>::max()) {
      fail(start, "number " + std::to_string(number) + " does not fit into 32 bits");
    }
    return static_cast<std::int32_t>(number);
  };
  switch (type.kind) {
    case Kind::kBool:
      *reinterpret_cast<bool*>(out) = number != 0;
      break;
    case Kind::kInt32:
      *reinterpret_cast<std::int32_t*>(out) = narrow();
      break;
    case Kind::kInt64:
      *reinterpret_cast<std::int64_t*>(out) = number;
      break;
    case Kind::kOptionalBool:
      *reinterpret_cast<std::optional<bool>*>(out) = number != 0;
      break;
    case Kind::kOptionalInt32:
      *reinterpret_cast<std::optional<std::int32_t>*>(out) = narrow();
      break;
    default:
      *reinterpret_cast<std::optional<std::int64_t>*>(out) = number;
      break;
  }
  return at;
}

std::uint64_t ProtobufReader::long_varint(const char*& at, const char* end) {
  const char* const start = at;
  try {
    return protozero::decode_varint(&at, end);
  } catch (const protozero::exception&) {
    fail(start,
         end - start >= protozero::max_varint_length ? "malformed number" : "truncated number");
  }
}

const char* ProtobufReader::skip(std::uint32_t tag, const char* at, const char* end, int depth) {
  const char* const start = at;
  const auto advance = [&](std::ptrdiff_t size) {
    if (end - at < size) fail(start, "truncated field");
    at += size;
  };
  switch (wire_of(tag)) {
    case kVarint:
      (void)varint(at, end);
      break;
    case kFixed64:
      advance(8);
      break;
    case kLengthDelimited:
      (void)bytes(at, end);
      break;
    case kFixed32:
      advance(4);
      break;
    case kStartGroup: {
      if (depth >= limits_.max_depth) fail(start, "nested too deeply");
      for (;;) {
        if (at >= end) fail(start, "unterminated group");
        const std::uint32_t inner = read_tag(at, end);
        if (wire_of(inner) == kEndGroup) {
          if (number_of(inner) != number_of(tag)) fail(start, "unterminated group");
          break;
        }
        at = skip(inner, at, end, depth + 1);
      }
      break;
    }
    default:
      fail(start, "unknown wire type " + std::to_string(wire_of(tag)));
  }
  return at;
}

bool ProtobufReader::seek(std::uint32_t tag, Follower& sibling) {
  // The sibling was decoded before, so its bytes are known to be well-formed.
  while (sibling.at < sibling.end) {
    const char* at = sibling.at;
    const std::uint32_t found = read_tag(at, sibling.end);
    if (found == tag) return true;
    if (number_of(found) > number_of(tag)) return false;
    sibling.at = skip(found, at, sibling.end, 0);
  }
  return false;
}

ProtobufReader::Like ProtobufReader::follow(std::uint32_t tag, std::string_view payload,
                                            Follower& sibling) {
  const char* at = sibling.at;
  if (at == sibling.end || read_tag(at, sibling.end) != tag) {
    if (!seek(tag, sibling)) return {};
    at = sibling.at;
    (void)read_tag(at, sibling.end);
  }
  const std::string_view like = bytes(at, sibling.end);
  sibling.at = at;
  return {nullptr, like,
          like.size() == payload.size() && same_bytes(like.data(), payload.data(), payload.size())};
}

void ProtobufReader::fail(const char* at, std::string_view problem) const {
  throw CodecError(protobuf_path(*type_, message_, at, false), problem,
                   offset_ + static_cast<std::size_t>(at - message_.data()));
}

void ProtobufReader::fail_tag(const char* at, std::string_view problem) const {
  throw CodecError(protobuf_path(*type_, message_, at, true), problem,
                   offset_ + static_cast<std::size_t>(at - message_.data()));
}

void ProtobufReader::fail_wire(const Type& type, std::uint32_t wire, const char* at) const {
  fail(at, "expected " + std::string{type.name} + ", found wire type " + std::to_string(wire));
}

void ProtobufReader::fail_length(const char* at, std::uint64_t size) const {
  fail(at, "length of " + std::to_string(size) + " extends beyond the end");
}

}  // namespace kube::detail
