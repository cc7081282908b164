// SPDX-License-Identifier: Apache-2.0
//
// ProtobufReader: lists and maps.
#include "codec/protobuf_reader.hpp"

#include "codec/relocate.hpp"

#include <stdexcept>
#include <string>

namespace kube::detail {

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

void ProtobufReader::packed_list(const Type& type, Word& word, std::string_view payload) {
  const Type& element = *type.element;
  const std::uint32_t wire = element.kind == Kind::kDouble ? kFixed64 : kVarint;
  const char* at = payload.data();
  const char* const end = at + payload.size();
  std::size_t count = 0;
  for (const char* ahead = at; ahead < end; ++count) ahead = skip(wire, ahead, end, 0);
  std::byte* slot = grow_array(type, word, count);
  for (; at < end; slot += element.size) at = scalar(element, slot, wire, at, end);
}

const char* ProtobufReader::unpacked_list(const Type& type, Word& word, std::uint32_t tag,
                                          const char* at, const char* end) {
  if (type.kind != Kind::kList || !is_scalar(*type.element)) fail_wire(type, wire_of(tag), at);
  const Type& element = *type.element;
  std::size_t count = 0;
  const char* behind = at;
  for (const char* ahead = at;;) {
    ahead = skip(tag, ahead, end, 0);
    ++count;
    behind = ahead;
    if (ahead >= end || read_tag(ahead, end) != tag) break;
  }
  std::byte* slot = grow_array(type, word, count);
  for (std::size_t i = 0; i < count; ++i, slot += element.list_stride()) {
    if (i > 0) (void)read_tag(at, end);
    at = scalar(element, slot, wire_of(tag), at, end);
  }
  return behind;
}

const char* ProtobufReader::list(const Type& type, Word& word, const Run& run, Follower sibling,
                                 const Word* sibling_word, Keep keep, int depth) {
  Run like_run;
  View siblings;
  if (const char* tag = run.start;
      sibling_word != nullptr && seek(read_tag(tag, run.end), sibling)) {
    const char* behind_tag = sibling.at;
    (void)read_tag(behind_tag, sibling.end);
    like_run = this->run(sibling.at, behind_tag, sibling.end);
    sibling.at = like_run.end;
    if (like_run.bytes() == run.bytes() && share(type, word, {sibling_word, run.bytes(), true})) {
      return sibling.at;
    }
    siblings = sibling_word->view();
  }

  const Type& element = *type.element;
  const std::size_t stride = element.list_stride();
  std::byte* slot = grow_array(type, word, run.count);
  const char* at = run.start;
  const char* like_at = like_run.start;
  for (std::size_t i = 0; i < run.count; ++i, slot += stride) {
    at += run.tag_size;
    const std::string_view payload = bytes(at, run.end);
    Like like;
    if (i < like_run.count && i < siblings.count) {
      like_at += like_run.tag_size;
      like.word = &word_at(siblings.data + i * stride);
      like.payload = bytes(like_at, like_run.end);
    }
    if (element.kind != Kind::kStruct) {
      single(element, slot, payload, like.word, keep, depth + 1);
      continue;
    }
    like.equal = like.word != nullptr && like.payload.size() == payload.size() &&
                 same_bytes(like.payload.data(), payload.data(), payload.size());
    box(element, word_at(slot), payload, like, keep, depth + 1);
  }
  return sibling.at;
}

void ProtobufReader::wrapped_list(const Type& type, Word& word, std::string_view payload, Keep keep,
                                  int depth) {
  // A message whose only field, number 1, contains the elements.
  if (word.is_none()) word = Word::set_but_empty();
  const char* at = payload.data();
  const char* const end = at + payload.size();
  while (at < end) {
    const char* const start = at;
    const std::uint32_t tag = read_tag(at, end);
    if (number_of(tag) != 1) {
      at = skip(tag, at, end, depth);
    } else if (wire_of(tag) != kLengthDelimited) {
      at = unpacked_list(type, word, tag, at, end);
    } else if (is_scalar(*type.element)) {
      packed_list(type, word, bytes(at, end));
    } else {
      const Run all = run(start, at, end);
      (void)list(type, word, all, {}, nullptr, keep, depth);
      at = all.end;
    }
  }
}

const char* ProtobufReader::map(const Type& type, Word& word, const Run& run, Follower sibling,
                                const Word* sibling_word, Keep keep, int depth) {
  View siblings;
  if (const char* tag = run.start;
      sibling_word != nullptr && seek(read_tag(tag, run.end), sibling)) {
    if (is_next_run(run, sibling) && share(type, word, {sibling_word, run.bytes(), true})) {
      return sibling.at + (run.end - run.start);
    }
    siblings = sibling_word->view();
  }

  const Type& value_type = *type.element;
  const std::size_t stride = value_type.map_stride();
  std::byte* slot = grow_array(type, word, run.count);
  const char* at = run.start;
  for (std::size_t i = 0; i < run.count; ++i) {
    at += run.tag_size;
    if (map_entry(value_type, slot, bytes(at, run.end), siblings, i, keep, depth)) slot += stride;
  }
  auto* first = const_cast<std::byte*>(word.relative_target());
  const auto filled = static_cast<std::size_t>(slot - first) / stride;
  const std::size_t kept = sort_entries(arena_, first, filled, stride, value_type);
  word.set_relative(first, kept, Content::kMap);
  if (kept == 0) word = Word::set_but_empty();
  return sibling.at;
}

bool ProtobufReader::map_entry(const Type& value_type, std::byte* slot, std::string_view entry,
                               View siblings, std::size_t index, Keep keep, int depth) {
  const char* const end = entry.data() + entry.size();
  // The key may follow the value.
  std::string_view key;
  for (const char* at = entry.data(); at < end;) {
    const std::uint32_t tag = read_tag(at, end);
    if (number_of(tag) == 1 && wire_of(tag) == kLengthDelimited) {
      key = bytes(at, end);
    } else {
      at = skip(tag, at, end, depth);
    }
  }
  Keep below = nullptr;
  if (keep != nullptr) {
    const Projection::Node::Choice choice = keep->key(key);
    if (!choice.kept) return false;
    below = choice.below;
  }
  const Word* sibling_key = nullptr;
  const Word* sibling_value = nullptr;
  if (index < siblings.count) {
    const std::byte* like = siblings.data + index * value_type.map_stride();
    sibling_key = &word_at(like);
    if (sibling_key->text() == key) sibling_value = &word_at(like + 8);
  }
  static constexpr Type kKeyType{.kind = Kind::kString, .size = 8, .name = "string"};
  assembler_.place(word_at(slot), text(kKeyType, key, sibling_key));

  bool has_value = false;
  for (const char* at = entry.data(); at < end;) {
    const std::uint32_t tag = read_tag(at, end);
    if (number_of(tag) != 2) {
      at = skip(tag, at, end, depth);
      continue;
    }
    has_value = true;
    if (is_scalar(value_type)) {
      at = scalar(value_type, slot + 8, wire_of(tag), at, end);
      continue;
    }
    if (wire_of(tag) != kLengthDelimited) fail_wire(value_type, wire_of(tag), at);
    const std::string_view payload = bytes(at, end);
    if (value_type.kind == Kind::kStruct) {
      box(value_type, word_at(slot + 8), payload, {}, below, depth + 1);
    } else {
      single(value_type, slot + 8, payload, sibling_value, below, depth + 1);
    }
  }
  if (!has_value && value_type.kind == Kind::kStruct) {
    box(value_type, word_at(slot + 8), {}, {}, below, depth + 1);
  }
  return true;
}

void ProtobufReader::single(const Type& type, std::byte* slot, std::string_view payload,
                            const Word* sibling, Keep keep, int depth) {
  switch (type.kind) {
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      arena_.drop(word_at(slot));
      assembler_.place(word_at(slot), text(type, payload, sibling));
      break;
    case Kind::kLeaf:
      leaf(type, slot, payload, sibling);
      break;
    case Kind::kList:
      wrapped_list(type, word_at(slot), payload, keep, depth);
      break;
    default:
      fail(payload.data(), std::string{type.name} + " has no protobuf form");
  }
}

}  // namespace kube::detail
