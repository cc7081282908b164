// SPDX-License-Identifier: Apache-2.0
// JsonReader: lists, maps and untyped documents.
#include "json_reader_parts.hpp"

#include "codec/leaf.hpp"
#include "codec/relocate.hpp"
#include <kube/object/value.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

namespace kube::detail {

namespace {

/// True if null is an empty element of a list or map, as in Go. Otherwise null is a value.
bool null_is_empty(const Type& element) {
  return element.kind != Kind::kValue &&
         !(element.kind == Kind::kLeaf && element.leaf->takes_any_json);
}

Pending empty_element(Arena& arena, const Type& element) {
  if (element.kind == Kind::kStruct) {
    return Pending::relative(arena.allocate(std::max<std::size_t>(element.size, 8)), 1,
                             Content::kBytes);
  }
  return is_plain_scalar(stored(element)) ? Pending::raw(0) : Pending{};
}

/// The text of a key that is not stored in its slot yet. Valid until the key is moved.
std::string_view text_of(const Pending& key) noexcept {
  if (key.word.form() != Form::kRelative) return key.word.text();
  return {reinterpret_cast<const char*>(key.target), key.word.relative_count()};
}

/// Sorts keys together with the values that follow them: servers do not write the members of
/// structs in alphabetical order. Sorting the stored entries of the map later would take memory
/// twice.
void sort_pending(std::span<Pending> entries) {
  constexpr std::size_t kMany = 64;  // sort_entries() is faster for more
  if (entries.size() > kMany) return;
  for (std::size_t next = 2; next < entries.size(); next += 2) {
    const std::array entry{entries[next], entries[next + 1]};
    std::size_t place = next;
    while (place > 0 && text_of(entry[0]) < text_of(entries[place - 2])) place -= 2;
    if (place == next) continue;
    std::copy_backward(entries.begin() + static_cast<std::ptrdiff_t>(place),
                       entries.begin() + static_cast<std::ptrdiff_t>(next),
                       entries.begin() + static_cast<std::ptrdiff_t>(next + 2));
    std::copy(entry.begin(), entry.end(), entries.begin() + static_cast<std::ptrdiff_t>(place));
  }
}

}  // namespace

void JsonReader::make_room_for(const Pending& pending) {
  try {
    pending_.reserve(std::max<std::size_t>(16, 2 * pending_.size()));
  } catch (...) {
    Assembler::discard(pending);
    throw;
  }
}

Pending JsonReader::list(const Type& type, Like like, const Context& context) {
  enter(context);
  const Type& element = *type.element;
  if (!scan_.consume('[')) scan_.fail_expected(context.path, "list");
  scan_.white_space();
  if (scan_.consume(']')) return {Word::set_but_empty()};

  const std::size_t base = pending_.size();
  Members members = members_of(like);
  const View siblings = members.next < members.end ? word_at(like.value).view() : View{};
  std::size_t i = 0;
  do {
    scan_.white_space();
    const PathFrame path{context.path, {}, i};
    const Context below{context.keep, &path, context.depth + 1};
    Like same;
    if (members.next < members.end && i < siblings.count) {
      same = {members.next, siblings.data + i * element.list_stride()};
      members.next = sibling_.tape->entries[members.next].next;
    }
    const Recording recording{*this, i++};
    if (scan_.peek() == 'n' && null_is_empty(element)) {
      scan_.consume_null(&path);
      push(empty_element(arena_, element));
      continue;
    }
    if (same.entry != kNoEntry && !is_plain_scalar(stored(element)) && equals(same.entry)) {
      if (const auto shared = assembler_.share(element, word_at(same.value), size_of(same.entry))) {
        push(*shared);
        jump(same.entry);
        continue;
      }
    }
    push(value(element, same, below));
  } while (scan_.white_space(), scan_.consume(','));
  scan_.expect(']', "',' or ']'", context.path);
  return finish_list(element, base);
}

Pending JsonReader::finish_list(const Type& element, std::size_t base) {
  const std::size_t count = pending_.size() - base;
  const std::size_t stride = element.list_stride();
  if (count > Word::kMaxCount) throw std::length_error("too many elements");
  std::byte* array = arena_.allocate(count * stride);
  for (std::size_t i = 0; i < count; ++i) {
    const Pending content = std::exchange(pending_[base + i], {});
    assembler_.place(element, array + i * stride, content);
  }
  pending_.resize(base);
  return Pending::relative(array, count, Content::kList);
}

Pending JsonReader::map(const Type& type, Like like, const Context& context) {
  enter(context);
  const Type& value_type = *type.element;
  if (!scan_.consume('{')) scan_.fail_expected(context.path, "object");
  scan_.white_space();
  if (scan_.consume('}')) return {Word::set_but_empty()};

  const std::size_t base = pending_.size();
  const View siblings = like.value == nullptr ? View{} : word_at(like.value).view();
  std::size_t i = 0;
  std::string storage;
  do {
    scan_.expect('"', "key in quotes", context.path);
    const std::string_view name = key(storage, context.path);
    scan_.expect(':', "':'", context.path);
    scan_.white_space();
    Projection::Node::Choice choice{true, nullptr};
    if (context.keep != nullptr) choice = context.keep->key(name);
    if (!choice.kept) {
      scan_.skip_value(context.path, context.depth + 1);
      scan_.white_space();
      continue;
    }
    const PathFrame path{context.path, name, 0, true};
    const Word* sibling_key = nullptr;
    Like same;
    if (i < siblings.count) {
      const std::byte* const entry = siblings.data + i * value_type.map_stride();
      sibling_key = &word_at(entry);
      if (is_text(value_type) && sibling_key->text() == name) same.value = entry + 8;
    }
    ++i;
    push(assembler_.text(name, sibling_key));
    const Context below{choice.below, &path, context.depth + 1};
    if (scan_.peek() == 'n' && null_is_empty(value_type)) {
      scan_.consume_null(&path);
      push(empty_element(arena_, value_type));
    } else {
      push(value(value_type, same, below));
    }
    scan_.white_space();
  } while (scan_.consume(','));
  scan_.expect('}', "',' or '}'", context.path);
  return finish_map(value_type, base);
}

Pending JsonReader::finish_map(const Type& value_type, std::size_t base) {
  const std::size_t read = (pending_.size() - base) / 2;
  std::size_t count = read;
  if (count == 0) return {Word::set_but_empty()};
  if (count > Word::kMaxCount) throw std::length_error("too many entries");
  const std::size_t stride = value_type.map_stride();
  sort_pending(std::span{pending_}.subspan(base));
  std::byte* entries = arena_.allocate(count * stride);
  for (std::size_t i = 0; i < count; ++i) {
    const Pending name = std::exchange(pending_[base + 2 * i], {});
    assembler_.place(word_at(entries + i * stride), name);
    const Pending content = std::exchange(pending_[base + 2 * i + 1], {});
    assembler_.place(value_type, entries + i * stride + 8, content);
  }
  pending_.resize(base);
  count = sort_entries(arena_, entries, count, stride, value_type);
  if (count != read) is_regular_ = false;
  return Pending::relative(entries, count, Content::kMap);
}

void JsonReader::merge_map(const Type& type, Word& word, const Pending& added) {
  auto* temporary = reinterpret_cast<Word*>(arena_.allocate(sizeof(Word)));
  assembler_.place(*temporary, added);
  assembler_.thaw(type, word);
  assembler_.thaw(type, *temporary);
  const Type& value_type = *type.element;
  const std::size_t stride = value_type.map_stride();
  const View first = word.view();
  const View second = temporary->view();
  std::byte* entries = arena_.allocate((first.count + second.count) * stride);
  for (std::size_t i = 0; i < first.count + second.count; ++i) {
    const std::byte* from =
        i < first.count ? first.data + i * stride : second.data + (i - first.count) * stride;
    arena_.assign(word_at(entries + i * stride), word_at(from));
    relocate_slot(arena_, value_type, entries + i * stride + 8, from + 8);
  }
  const std::size_t count =
      sort_entries(arena_, entries, first.count + second.count, stride, value_type);
  arena_.drop(word);
  if (count == 0) {
    word = Word::set_but_empty();
  } else {
    word.set_relative(entries, count, Content::kMap);
  }
}

Pending JsonReader::any(Like like, const Context& context) {
  enter(context);
  const auto* sibling = reinterpret_cast<const Value*>(like.value);
  switch (scan_.peek()) {
    case '"':
      return text(type_of<String>(), reinterpret_cast<const Word*>(like.value), context);
    case 't':
    case 'f':
      return {Word::of_scalar(scan_.boolean(context.path) ? Word::Scalar::kTrue
                                                          : Word::Scalar::kFalse)};
    case 'n':
      scan_.consume_null(context.path);
      return {Word::of_scalar(Word::Scalar::kNull)};
    case '[': {
      if (sibling == nullptr || !sibling->is_array()) like = {};
      const Pending array = list(type_of<List<Value>>(), like, context);
      if (array.word.form() == Form::kRelative) return array;
      return Pending::relative(arena_.allocate(0), 0, Content::kList);
    }
    case '{':
      break;
    default:
      if (scan_.peek() != '-' && (scan_.peek() < '0' || scan_.peek() > '9')) {
        scan_.fail_expected(context.path, "value");
      }
      return any_number(context);
  }

  scan_.consume('{');
  scan_.white_space();
  if (scan_.consume('}')) return Pending::relative(arena_.allocate(0), 0, Content::kMap);
  if (sibling == nullptr || !sibling->is_object()) like = {};
  Members members = members_of(like);
  const std::size_t base = pending_.size();
  std::string storage;
  do {
    scan_.white_space();
    const char* const quoted = scan_.at();
    const std::uint32_t key_position = scan_.position();
    scan_.expect('"', "key in quotes", context.path);
    const std::string_view name = key(storage, context.path);
    const std::string_view quoted_name{quoted, static_cast<std::size_t>(scan_.at() - quoted)};
    scan_.expect(':', "':'", context.path);
    scan_.white_space();
    Projection::Node::Choice choice{true, nullptr};
    if (context.keep != nullptr) choice = context.keep->key(name);
    if (!choice.kept) {
      scan_.skip_value(context.path, context.depth + 1);
      scan_.white_space();
      continue;
    }
    const PathFrame path{context.path, name};
    Like same;
    if (members.next < members.end) {
      if (const Value* value = sibling->as_object().find(name)) {
        same = {find_key(members, quoted_name), reinterpret_cast<const std::byte*>(value)};
      }
    }
    push(assembler_.text(name));
    const Recording recording{*this, scan_.position() - key_position};
    if (same.entry != kNoEntry && equals(same.entry)) {
      if (const auto shared =
              assembler_.share(type_of<Value>(), word_at(same.value), size_of(same.entry))) {
        push(*shared);
        jump(same.entry);
        scan_.white_space();
        continue;
      }
    }
    push(any(same, {choice.below, &path, context.depth + 1}));
    scan_.white_space();
  } while (scan_.consume(','));
  scan_.expect('}', "',' or '}'", context.path);
  const Pending entries = finish_map(type_of<Value>(), base);
  if (entries.word.form() == Form::kRelative) return entries;
  return Pending::relative(arena_.allocate(0), 0, Content::kMap);
}

}  // namespace kube::detail
