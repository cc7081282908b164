// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/protobuf_reader.hpp>

#include <kube/codec/error.hpp>
#include <kube/codec/leaf.hpp>
#include <kube/codec/relocate.hpp>
#include <kube/codec/utf8.hpp>
#include <kube/object/box.hpp>

#include <protozero/varint.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace kube::detail {

namespace {

enum Wire : std::uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

std::uint32_t number_of(std::uint32_t tag) { return tag >> 3; }
std::uint32_t wire_of(std::uint32_t tag) { return tag & 7U; }

Word& word_at(std::byte* slot) { return *reinterpret_cast<Word*>(slot); }
const Word& word_at(const std::byte* slot) { return *reinterpret_cast<const Word*>(slot); }

/// Fields come in ascending order, and most numbers follow each other without a gap, so the one wanted is
/// nearly always as far behind `next` as its number is greater.
const ProtoField* find(std::span<const ProtoField> table, std::size_t& next, std::uint32_t number) {
  if (next >= table.size() || table[next].number > number) next = 0;
  if (next >= table.size()) return nullptr;
  const std::size_t guess = next + (std::size_t{number} - table[next].number);
  if (guess < table.size() && table[guess].number == number) {
    next = guess;
    return &table[guess];
  }
  while (next < table.size() && table[next].number < number) ++next;
  return next < table.size() && table[next].number == number ? &table[next] : nullptr;
}

bool is_scalar(const Type& type) { return type.kind <= Kind::kOptionalDouble; }

/// Reading jumps from length to length, which the processor cannot foresee; asking for the lines at once lets
/// them arrive side by side.
void prefetch(std::string_view bytes) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMost = std::size_t{32} << 10;
  const std::size_t size = std::min(bytes.size(), kMost);
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(bytes.data() + at);
}

}  // namespace

void ProtobufReader::fail(const char* at, const PathFrame* path, std::string_view problem) const {
  throw CodecError(path == nullptr ? std::string{} : path->text(), problem,
                   offset_ + static_cast<std::size_t>(at - start_));
}

void ProtobufReader::fail_wire(const Type& type, std::uint32_t wire, const char* at,
                               const PathFrame* path) const {
  fail(at, path,
       "expected " + std::string{type.name} + ", found wire type " + std::to_string(wire));
}

void ProtobufReader::fail_length(const char* at, const PathFrame* path, std::uint64_t size) const {
  fail(at, path, "length of " + std::to_string(size) + " goes beyond the end");
}

std::uint64_t ProtobufReader::long_varint(Cursor& in, const PathFrame* path) {
  const char* const at = in.at;
  try {
    return protozero::decode_varint(&in.at, in.end);
  } catch (const protozero::exception&) {
    fail(at, path,
         in.end - at >= protozero::max_varint_length ? "malformed number" : "truncated number");
  }
}

void ProtobufReader::skip(std::uint32_t tag, Cursor& in, const Context& context) {
  const char* const at = in.at;
  const auto advance = [&](std::ptrdiff_t size) {
    if (in.end - in.at < size) fail(at, context.path, "truncated field");
    in.at += size;
  };
  switch (wire_of(tag)) {
    case kVarint:
      varint(in, context.path);
      break;
    case kFixed64:
      advance(8);
      break;
    case kLengthDelimited:
      bytes(in, context.path);
      break;
    case kFixed32:
      advance(4);
      break;
    case kStartGroup: {
      if (context.depth >= limits_.max_depth) fail(at, context.path, "nested too deeply");
      for (;;) {
        if (in.done()) fail(at, context.path, "group without an end");
        const std::uint32_t inner = read_tag(in, context.path);
        if (wire_of(inner) == kEndGroup) {
          if (number_of(inner) != number_of(tag)) fail(at, context.path, "group without an end");
          break;
        }
        skip(inner, in, {context.keep, context.path, context.depth + 1});
      }
      break;
    }
    default:
      fail(at, context.path, "unknown wire type " + std::to_string(wire_of(tag)));
  }
}

bool ProtobufReader::seek(std::uint32_t tag, Follower& sibling) {
  // The sibling was decoded before, so its bytes are known to be sound.
  while (!sibling.cursor.done()) {
    Cursor ahead{sibling.cursor.at, sibling.cursor.end};
    const std::uint32_t found = read_tag(ahead, nullptr);
    if (found == tag) return true;
    if (number_of(found) > number_of(tag)) return false;
    skip(found, ahead, {nullptr, nullptr, 0});
    sibling.cursor.at = ahead.at;
  }
  return false;
}

bool ProtobufReader::follow_equal_run(std::uint32_t tag, std::string_view run, Follower& sibling) {
  const char* const before = sibling.cursor.at;
  if (!follow_equal(run, sibling)) return false;
  if (!sibling.cursor.done()) {
    Cursor next{sibling.cursor.at, sibling.cursor.end};
    if (read_tag(next, nullptr) == tag) {  // the sibling has more of them
      sibling.cursor.at = before;
      return false;
    }
  }
  return true;
}

std::size_t ProtobufReader::run(std::uint32_t tag, Cursor& in, const Context& context) {
  std::size_t count = 0;
  Cursor ahead{in.at, in.end};
  do {
    if (wire_of(tag) == kLengthDelimited) {
      bytes(ahead, context.path);
    } else {
      skip(tag, ahead, context);
    }
    ++count;
    in.at = ahead.at;
  } while (!ahead.done() && read_tag(ahead, context.path) == tag);
  return count;
}

std::byte* ProtobufReader::read(const Type& type, std::string_view message,
                                const Projection& projection, const Sibling& sibling,
                                std::size_t offset) {
  start_ = message.data();
  offset_ = offset;
  is_regular_ = true;
  prefetch(message);
  std::byte* root = arena_.allocate(type.size);
  Follower follower;
  if (sibling.object != nullptr && assembler_.shares()) {
    follower = {Cursor{sibling.message}, sibling.object};
  }
  this->message(type, type.proto, root, Cursor{message}, follower, {projection.root(), nullptr, 0});
  return root;
}

void ProtobufReader::message(const Type& type, std::span<const ProtoField> table, std::byte* out,
                             Cursor in, Follower sibling, const Context& context) {
  if (context.depth > limits_.max_depth) fail(in.at, context.path, "nested too deeply");
  std::size_t next = 0;
  std::uint32_t last_number = 0;
  while (!in.done()) {
    const char* const at = in.at;
    const std::uint32_t tag = read_tag(in, context.path);
    const ProtoField* entry = find(table, next, number_of(tag));
    if (entry == nullptr) {
      if (wire_of(tag) == kEndGroup) fail(at, context.path, "end of a group that never began");
      skip(tag, in, context);
      continue;
    }
    if (entry->is_part) {
      if (number_of(tag) <= last_number) is_regular_ = false;
      last_number = number_of(tag);
      expect_wire(type, wire_of(tag), kLengthDelimited, at, context.path);
      const std::string_view payload = bytes(in, context.path);
      Follower part;
      if (seek(tag, sibling)) {
        read_tag(sibling.cursor, nullptr);
        part = {Cursor{bytes(sibling.cursor, nullptr)}, sibling.object};
      }
      message(type, entry->part, out, Cursor{payload}, part,
              {context.keep, context.path, context.depth + 1});
      continue;
    }
    const Field& described = type.fields[entry->field];
    const Projection::Node* keep = nullptr;
    if (context.keep != nullptr) {
      const Projection::Node::Choice choice = context.keep->field(entry->field);
      if (!choice.kept) {
        skip(tag, in, context);
        continue;
      }
      keep = choice.below;
    }
    // Elements of a list come one after the other and are read at once, so none comes back here.
    if (number_of(tag) <= last_number) is_regular_ = false;
    last_number = number_of(tag);
    if (wire_of(tag) == kLengthDelimited && same_short_text(described, out, at, in, sibling)) {
      continue;
    }
    const PathFrame path{context.path, described.name()};
    field(described, out, tag, at, in, sibling, {keep, &path, context.depth + 1});
  }
}

inline bool ProtobufReader::same_short_text(const Field& field, std::byte* out, const char* start,
                                            Cursor& in, Follower& sibling) {
  const Kind kind = field.type->kind;
  if (sibling.object == nullptr || (kind != Kind::kString && kind != Kind::kOptionalString)) {
    return false;
  }
  // A length of one byte.
  const std::ptrdiff_t left = in.end - in.at;
  if (left < 1 || *in.at < 0 || left - 1 < *in.at) return false;
  const char* const end = in.at + 1 + *in.at;
  if (!follow_equal({start, static_cast<std::size_t>(end - start)}, sibling)) return false;
  Word& word = word_at(out + field.offset);
  if (!word.is_none()) arena_.drop(word);
  assembler_.place(word, assembler_.same_text(word_at(sibling.object + field.offset)));
  in.at = end;
  return true;
}

void ProtobufReader::field(const Field& field, std::byte* out, std::uint32_t tag, const char* start,
                           Cursor& in, Follower& sibling, const Context& context) {
  const Type& type = *field.type;
  std::byte* const place = out + field.offset;
  if (is_scalar(type)) {
    scalar(type, place, wire_of(tag), in, context.path);
    // Keeps the sibling in step; whether its number is the same does not matter.
    follow_equal({start, static_cast<std::size_t>(in.at - start)}, sibling);
    return;
  }
  const Word* sibling_word =
      sibling.object == nullptr ? nullptr : &word_at(sibling.object + field.offset);
  if (type.kind == Kind::kList && !field.is(Field::kProtoWrapped)) {
    list(type, word_at(place), tag, start, in, sibling, sibling_word, context);
    return;
  }
  expect_wire(type, wire_of(tag), kLengthDelimited, in.at, context.path);
  if (type.kind == Kind::kMap) {
    map(type, word_at(place), tag, start, in, sibling, sibling_word, context);
    return;
  }

  const std::string_view payload = bytes(in, context.path);
  Like like;
  if (sibling_word != nullptr) {
    // Nearly always the sibling stands at the same field already.
    const std::string_view whole{start, static_cast<std::size_t>(in.at - start)};
    like.equal = follow_equal(whole, sibling);
    if (like.equal) {
      like.word = sibling_word;
      like.payload = payload;
    } else if (seek(tag, sibling)) {
      like.word = sibling_word;
      like.equal = follow_equal(whole, sibling);
      if (like.equal) {
        like.payload = payload;
      } else {
        read_tag(sibling.cursor, nullptr);
        like.payload = bytes(sibling.cursor, nullptr);
      }
    }
  }

  Word& word = word_at(place);
  switch (type.kind) {
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      if (!word.is_none()) arena_.drop(word);
      assembler_.place(word, like.equal ? assembler_.same_text(*like.word)
                                        : text(type, payload, like.word, context.path));
      break;
    case Kind::kLeaf:
      if (like.equal && type.element->kind == Kind::kInt64) {
        std::memcpy(place, like.word, 8);
      } else if (!like.equal || !share(type, word, like)) {
        leaf(type, place, payload, like.word, context.path);
      }
      break;
    case Kind::kStruct: {
      Follower inner;
      if (like.word != nullptr) inner = {Cursor{like.payload}, sibling.object + field.offset};
      message(type, type.proto, place, Cursor{payload}, inner, context);
      break;
    }
    case Kind::kBox:
      box(*type.element, word, payload, like, context);
      break;
    case Kind::kList:
      if (!like.equal || !share(type, word, like)) wrapped_list(type, word, payload, context);
      break;
    default:
      fail(payload.data(), context.path, std::string{type.name} + " has no protobuf form");
  }
}

bool ProtobufReader::share(const Type& type, Word& word, const Like& like) {
  if (!word.is_none()) return false;  // something came before; it is added to
  const std::optional<Pending> shared = assembler_.share(type, *like.word, like.payload.size());
  if (shared) assembler_.place(type, reinterpret_cast<std::byte*>(&word), *shared);
  return shared.has_value();
}

void ProtobufReader::box(const Type& element, Word& word, std::string_view payload,
                         const Like& like, const Context& context) {
  Follower inner;
  if (like.word != nullptr && !like.word->is_none()) {
    if (like.equal && share(element, word, like)) return;
    inner = {Cursor{like.payload}, boxed(*like.word)};
  }
  std::byte* content = nullptr;
  if (!word.is_none()) {
    // The message came in two pieces: the second adds to the first.
    assembler_.thaw(element, word);
    content = const_cast<std::byte*>(word.relative_target());
  } else {
    content = arena_.allocate(std::max<std::size_t>(element.size, 8));
    word.set_relative(content, 1, Content::kBytes);
  }
  message(element, element.proto, content, Cursor{payload}, inner, context);
}

std::byte* ProtobufReader::grow_array(const Type& container, Word& word, std::size_t more) {
  const Type& element = *container.element;
  const bool is_map = container.kind == Kind::kMap;
  const std::size_t stride = is_map ? element.map_stride() : element.list_stride();
  assembler_.thaw(container, word);
  const View before = word.view();
  if (before.count + more > Word::kMaxCount) throw std::length_error("too many elements");
  std::byte* array = arena_.allocate((before.count + more) * stride);
  for (std::size_t i = 0; i < before.count; ++i) {
    const std::byte* from = before.data + i * stride;
    std::byte* to = array + i * stride;
    if (is_map) {
      arena_.assign(word_at(to), word_at(from));
      from += 8;
      to += 8;
    }
    relocate_slot(arena_, element, to, from);
  }
  const std::size_t count = before.count;
  word.set_relative(array, count + more, is_map ? Content::kMap : Content::kList);
  return array + count * stride;
}

void ProtobufReader::list(const Type& type, Word& word, std::uint32_t tag, const char* start,
                          Cursor& in, Follower& sibling, const Word* sibling_word,
                          const Context& context) {
  const Type& element = *type.element;
  if (is_scalar(element) && wire_of(tag) == kLengthDelimited) {  // packed
    Cursor packed{bytes(in, context.path)};
    const std::uint32_t wire = element.kind == Kind::kDouble ? kFixed64 : kVarint;
    std::size_t count = 0;
    for (Cursor ahead = packed; !ahead.done(); ++count) skip(wire, ahead, context);
    std::byte* slot = grow_array(type, word, count);
    for (; !packed.done(); slot += element.size) scalar(element, slot, wire, packed, context.path);
    return;
  }
  if (!is_scalar(element)) {
    expect_wire(type, wire_of(tag), kLengthDelimited, in.at, context.path);
  }

  Cursor elements{in.at, in.end};
  const std::size_t count = run(tag, in, context);
  elements.end = in.at;
  Cursor sibling_elements;
  View siblings;
  if (sibling_word != nullptr && seek(tag, sibling)) {
    siblings = sibling_word->view();
    if (follow_equal_run(tag, {start, static_cast<std::size_t>(in.at - start)}, sibling)) {
      if (share(type, word, {sibling_word, elements.rest(), true})) return;
      sibling_elements.at = elements.at;  // the same bytes
      sibling_elements.end = elements.end;
    } else {
      read_tag(sibling.cursor, nullptr);
      sibling_elements.at = sibling.cursor.at;
      run(tag, sibling.cursor, {nullptr, nullptr, 0});
      sibling_elements.end = sibling.cursor.at;
    }
  }

  std::byte* slot = grow_array(type, word, count);
  const std::size_t stride = element.list_stride();
  for (std::size_t i = 0; i < count; ++i, slot += stride) {
    if (i > 0) read_tag(elements, context.path);
    const PathFrame path{context.path, {}, i};
    Like like;
    if (!sibling_elements.done() && i < siblings.count && !is_scalar(element)) {
      if (i > 0) read_tag(sibling_elements, nullptr);
      like.word = &word_at(siblings.data + i * stride);
      like.payload = bytes(sibling_elements, nullptr);
    }
    const Context below{context.keep, &path, context.depth + 1};
    if (element.kind == Kind::kStruct) {
      const std::string_view payload = bytes(elements, &path);
      like.equal = like.word != nullptr && like.payload == payload;
      box(element, word_at(slot), payload, like, below);
    } else {
      single(element, slot, wire_of(tag), elements, like.word, below);
    }
  }
}

void ProtobufReader::wrapped_list(const Type& type, Word& word, std::string_view payload,
                                  const Context& context) {
  // A message whose only field, number 1, holds the elements.
  if (word.is_none()) word = Word::set_but_empty();
  Cursor in{payload};
  Follower none;
  while (!in.done()) {
    const char* const start = in.at;
    const std::uint32_t tag = read_tag(in, context.path);
    if (number_of(tag) == 1) {
      list(type, word, tag, start, in, none, nullptr, context);
    } else {
      skip(tag, in, context);
    }
  }
}

void ProtobufReader::map(const Type& type, Word& word, std::uint32_t tag, const char* start,
                         Cursor& in, Follower& sibling, const Word* sibling_word,
                         const Context& context) {
  Cursor entries{in.at, in.end};
  const std::size_t count = run(tag, in, context);
  entries.end = in.at;
  View siblings;
  if (sibling_word != nullptr && seek(tag, sibling)) {
    if (follow_equal_run(tag, {start, static_cast<std::size_t>(in.at - start)}, sibling) &&
        share(type, word, {sibling_word, entries.rest(), true})) {
      return;
    }
    siblings = sibling_word->view();
  }

  const Type& value_type = *type.element;
  const std::size_t stride = value_type.map_stride();
  std::byte* slot = grow_array(type, word, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) read_tag(entries, context.path);
    const std::string_view entry = bytes(entries, context.path);
    if (map_entry(value_type, slot, entry, siblings, i, context)) slot += stride;
  }
  auto* first = const_cast<std::byte*>(word.relative_target());
  const auto filled = static_cast<std::size_t>(slot - first) / stride;
  const std::size_t kept = sort_entries(arena_, first, filled, stride, value_type);
  word.set_relative(first, kept, Content::kMap);
  if (kept == 0) word = Word::set_but_empty();
}

bool ProtobufReader::map_entry(const Type& value_type, std::byte* slot, std::string_view entry,
                               View siblings, std::size_t index, const Context& context) {
  // The key may stand behind the value.
  std::string_view key;
  for (Cursor in{entry}; !in.done();) {
    const std::uint32_t tag = read_tag(in, context.path);
    if (number_of(tag) == 1 && wire_of(tag) == kLengthDelimited) {
      key = bytes(in, context.path);
    } else {
      skip(tag, in, context);
    }
  }
  const Projection::Node* keep = nullptr;
  if (context.keep != nullptr) {
    const Projection::Node::Choice choice = context.keep->key(key);
    if (!choice.kept) return false;
    keep = choice.below;
  }
  const PathFrame path{context.path, key, 0, true};
  const Word* sibling_key = nullptr;
  const Word* sibling_value = nullptr;
  if (index < siblings.count) {
    const std::byte* like = siblings.data + index * value_type.map_stride();
    const View like_key = word_at(like).view();
    sibling_key = &word_at(like);
    if (std::string_view{reinterpret_cast<const char*>(like_key.data), like_key.count} == key) {
      sibling_value = &word_at(like + 8);
    }
  }
  static constexpr Type kKeyType{.kind = Kind::kString, .size = 8, .name = "string"};
  assembler_.place(word_at(slot), text(kKeyType, key, sibling_key, &path));

  const Context below{keep, &path, context.depth + 1};
  bool has_value = false;
  for (Cursor in{entry}; !in.done();) {
    const std::uint32_t tag = read_tag(in, &path);
    if (number_of(tag) != 2) {
      skip(tag, in, below);
      continue;
    }
    has_value = true;
    if (value_type.kind == Kind::kStruct) {
      expect_wire(value_type, wire_of(tag), kLengthDelimited, in.at, &path);
      box(value_type, word_at(slot + 8), bytes(in, &path), {}, below);
    } else {
      single(value_type, slot + 8, wire_of(tag), in, sibling_value, below);
    }
  }
  if (!has_value && value_type.kind == Kind::kStruct) {
    box(value_type, word_at(slot + 8), {}, {}, below);
  }
  return true;
}

void ProtobufReader::single(const Type& type, std::byte* slot, std::uint32_t wire, Cursor& in,
                            const Word* sibling, const Context& context) {
  if (is_scalar(type)) {
    scalar(type, slot, wire, in, context.path);
    return;
  }
  expect_wire(type, wire, kLengthDelimited, in.at, context.path);
  const std::string_view payload = bytes(in, context.path);
  switch (type.kind) {
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      arena_.drop(word_at(slot));
      assembler_.place(word_at(slot), text(type, payload, sibling, context.path));
      break;
    case Kind::kLeaf:
      leaf(type, slot, payload, sibling, context.path);
      break;
    case Kind::kList:
      wrapped_list(type, word_at(slot), payload, context);
      break;
    default:
      fail(payload.data(), context.path, std::string{type.name} + " has no protobuf form");
  }
}

void ProtobufReader::leaf(const Type& type, std::byte* out, std::string_view payload,
                          const Word* sibling, const PathFrame* path) {
  if (payload.size() > limits_.max_text) fail(payload.data(), path, "text is too long");
  if (type.leaf->from_protobuf == nullptr) {
    fail(payload.data(), path, std::string{type.name} + " has no protobuf form");
  }
  LeafOperations::Input input{assembler_, sibling};
  const Pending content = type.leaf->from_protobuf(input, payload);
  if (input.problem != nullptr) {
    fail(payload.data(), path, input.problem);
  }
  if (!content.is_raw) arena_.drop(word_at(out));
  assembler_.place(type, out, content);
}

Pending ProtobufReader::text(const Type& type, std::string_view bytes, const Word* sibling,
                             const PathFrame* path) {
  if (bytes.size() > limits_.max_text) fail(bytes.data(), path, "text is too long");
  if (type.kind != Kind::kBytes && !is_utf8(bytes)) {
    fail(bytes.data(), path, "text is not valid UTF-8");
  }
  return assembler_.text(bytes, sibling);
}

void ProtobufReader::scalar(const Type& type, std::byte* out, std::uint32_t wire, Cursor& in,
                            const PathFrame* path) {
  const char* const at = in.at;
  if (type.kind == Kind::kDouble || type.kind == Kind::kOptionalDouble) {
    expect_wire(type, wire, kFixed64, at, path);
    if (in.end - in.at < 8) fail(at, path, "truncated number");
    double number = 0;
    std::memcpy(&number, in.at, 8);
    in.at += 8;
    if (number - number != 0) fail(at, path, "number is not finite");
    if (type.kind == Kind::kDouble) {
      *reinterpret_cast<double*>(out) = number;
    } else {
      *reinterpret_cast<std::optional<double>*>(out) = number;
    }
    return;
  }
  expect_wire(type, wire, kVarint, at, path);
  const auto number = static_cast<std::int64_t>(varint(in, path));
  const auto narrow = [&] {
    if (number < std::numeric_limits<std::int32_t>::min() ||
        number > std::numeric_limits<std::int32_t>::max()) {
      fail(at, path, "number " + std::to_string(number) + " does not fit into 32 bits");
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
}

}  // namespace kube::detail
