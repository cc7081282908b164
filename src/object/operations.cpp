// SPDX-License-Identifier: Apache-2.0
#include <kube/object/operations.hpp>

#include <kube/object/box.hpp>
#include <kube/object/string.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>

namespace kube::detail {

namespace {

void copy_slot(const Type& element, std::byte* to, const std::byte* from) {
  if (!element.is_boxed_in_containers()) {
    copy_value(element, to, from);
    return;
  }
  std::byte* copy = allocate_struct(element.size);
  word_at(to) = Word::of_owned(copy);
  copy_value(element, copy, boxed(word_at(from)));
}

void destroy_slot(const Type& element, std::byte* slot) noexcept {
  if (!element.is_boxed_in_containers()) {
    destroy_value(element, slot);
  } else if (word_at(slot).is_owned()) {
    destroy_value(element, word_at(slot).owned_struct());
    free_struct(word_at(slot).owned_struct());
  }
}

Content content_of(const Word& word) noexcept {
  switch (word.form()) {
    case Form::kRelative:
      return word.relative_content();
    case Form::kNode:
      return word.node()->content;
    case Form::kOwned:
      return word.owned()->content;
    default:
      return Content::kBytes;
  }
}

/// The static type of the content of a Value's word, so that values are processed like typed
/// containers.
const Type* container_type_of_value(const Word& word) noexcept {
  switch (content_of(word)) {
    case Content::kList:
      return &type_of<List<Value>>();
    case Content::kMap:
      return &type_of<Map<Value>>();
    default:
      return nullptr;
  }
}

Word copy_number(const Word& from) {
  const View number = from.view();
  OwnedHeader* header = allocate_owned(8, 1, Content::kNumber);
  header->count = static_cast<std::uint32_t>(number.count);
  std::memcpy(header->data(), number.data, 8);
  return Word::of_owned(header);
}

Word copy_list(const Type& type, const Word& from) {
  const View content = from.view();
  if (content.count == 0) return Word::set_but_empty();
  const std::size_t stride = type.element->list_stride();
  OwnedHeader* header = allocate_owned(content.count, stride, Content::kList);
  Word copy = Word::of_owned(header);
  try {
    for (std::size_t i = 0; i < content.count; ++i) {
      ++header->count;  // first, so that a partially copied element is freed, too
      copy_slot(*type.element, header->data() + i * stride, content.data + i * stride);
    }
  } catch (...) {
    destroy_word(type, copy);
    throw;
  }
  return copy;
}

Word copy_map(const Type& type, const Word& from) {
  const View content = from.view();
  if (content.count == 0) return Word::set_but_empty();
  const std::size_t stride = type.element->map_stride();
  OwnedHeader* header = allocate_owned(content.count, stride, Content::kMap);
  Word copy = Word::of_owned(header);
  try {
    for (std::size_t i = 0; i < content.count; ++i) {
      ++header->count;  // first, so that a partially copied entry is freed, too
      std::byte* to = header->data() + i * stride;
      const View key = word_at(content.data + i * stride).view();
      word_at(to) = own_text(reinterpret_cast<const char*>(key.data), key.count);
      copy_slot(*type.element, to + 8, content.data + i * stride + 8);
    }
  } catch (...) {
    destroy_word(type, copy);
    throw;
  }
  return copy;
}

/// Not calloc: glibc's calloc bypasses the per-thread cache, which costs more than clearing small
/// pieces.
std::byte* allocate_zeroed(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc{};
  asm("" : "+r"(memory));  // prevents the compiler from merging the two into calloc
  return static_cast<std::byte*>(std::memset(memory, 0, size));
}

}  // namespace

OwnedHeader* allocate_owned(std::size_t capacity, std::size_t stride, Content content) {
  if (capacity > Word::kMaxCount) throw std::length_error("more elements than a value can hold");
  auto* header =
      reinterpret_cast<OwnedHeader*>(allocate_zeroed(sizeof(OwnedHeader) + capacity * stride));
  header->capacity = static_cast<std::uint32_t>(capacity);
  header->content = content;
  return header;
}

OwnedHeader* grow_owned(Word& word, std::size_t stride, Content content) {
  if (!word.is_owned()) {
    // Any other non-empty container is inside a block and therefore const.
    word = Word::of_owned(allocate_owned(4, stride, content));
    return word.owned();
  }
  OwnedHeader* header = word.owned();
  if (header->count == header->capacity) {
    const std::size_t capacity = std::max<std::size_t>(std::size_t{header->capacity} * 2, 4);
    // Elements are owned words and scalars, which are trivially relocatable.
    OwnedHeader* larger = allocate_owned(capacity, stride, content);
    std::memcpy(larger->data(), header->data(), header->count * stride);
    larger->count = header->count;
    std::free(header);
    word = Word::of_owned(larger);
    return larger;
  }
  return header;
}

void free_owned(Word word) noexcept { std::free(word.owned()); }

std::byte* allocate_struct(std::size_t size) {
  return allocate_zeroed(std::max<std::size_t>(size, 8));
}

void free_struct(std::byte* memory) noexcept { std::free(memory); }

Word own_text(const char* text, std::size_t size) {
  if (size == 0) return {};
  if (size <= Word::kMaxInline) return Word::inline_text(text, size);
  OwnedHeader* header = allocate_owned(size, 1, Content::kBytes);
  header->count = static_cast<std::uint32_t>(size);
  std::memcpy(header->data(), text, size);
  return Word::of_owned(header);
}

Word copy_word(const Type& type, const Word& from) {
  if (from.is_none()) return {};
  switch (type.kind) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kOptionalString: {
      const View text = from.view();
      if (text.count == 0) return Word::set_but_empty();
      return own_text(reinterpret_cast<const char*>(text.data), text.count);
    }
    case Kind::kBox: {
      std::byte* copy = allocate_struct(type.element->size);
      try {
        copy_value(*type.element, copy, boxed(from));
      } catch (...) {
        destroy_value(*type.element, copy);
        free_struct(copy);
        throw;
      }
      return Word::of_owned(copy);
    }
    case Kind::kList:
      return copy_list(type, from);
    case Kind::kMap:
      return copy_map(type, from);
    case Kind::kValue:
      if (from.form() == Form::kScalar || from.form() == Form::kInline) return from;
      if (const Type* container = container_type_of_value(from)) {
        Word copy = copy_word(*container, from);
        if (!copy.is_owned()) {  // keeps the distinction between an empty array and an empty object
          copy = Word::of_owned(allocate_owned(0, 8, content_of(from)));
        }
        return copy;
      }
      if (content_of(from) == Content::kNumber) return copy_number(from);
      return copy_word(type_of<String>(), from);
    default:
      throw std::logic_error("copy_word: not a word");
  }
}

Word copy_moved_word(const Type& type, const Word& from) noexcept {
  try {
    return copy_word(type, from);
  } catch (...) {
    std::terminate();
  }
}

void destroy_word(const Type& type, Word& word) noexcept {
  if (!word.is_owned()) {
    word = {};
    return;
  }
  switch (type.kind) {
    case Kind::kBox:
      destroy_value(*type.element, word.owned_struct());
      free_struct(word.owned_struct());
      break;
    case Kind::kList: {
      const std::size_t stride = type.element->list_stride();
      OwnedHeader* header = word.owned();
      for (std::size_t i = 0; i < header->count; ++i) {
        destroy_slot(*type.element, header->data() + i * stride);
      }
      std::free(header);
      break;
    }
    case Kind::kMap: {
      const std::size_t stride = type.element->map_stride();
      OwnedHeader* header = word.owned();
      for (std::size_t i = 0; i < header->count; ++i) {
        std::byte* entry = header->data() + i * stride;
        if (word_at(entry).is_owned()) free_owned(word_at(entry));
        destroy_slot(*type.element, entry + 8);
      }
      std::free(header);
      break;
    }
    case Kind::kValue:
      if (const Type* container = container_type_of_value(word)) {
        destroy_word(*container, word);
      } else {
        free_owned(word);
      }
      break;
    default:
      free_owned(word);
      break;
  }
  word = {};
}

void copy_value(const Type& type, std::byte* to, const std::byte* from) {
  switch (type.kind) {
    case Kind::kStruct:
      for (const Field& field : type.fields) {
        copy_value(*field.type, to + field.offset, from + field.offset);
      }
      break;
    case Kind::kLeaf:
      copy_value(*type.element, to, from);
      break;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kOptionalString:
    case Kind::kBox:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kValue:
      word_at(to) = copy_word(type, word_at(from));
      break;
    default:
      std::memcpy(to, from, type.size);
      break;
  }
}

void destroy_value(const Type& type, std::byte* value) noexcept {
  switch (type.kind) {
    case Kind::kStruct:
      for (const Field& field : type.fields) destroy_value(*field.type, value + field.offset);
      break;
    case Kind::kLeaf:
      destroy_value(*type.element, value);
      break;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kOptionalString:
    case Kind::kBox:
    case Kind::kList:
    case Kind::kMap:
    case Kind::kValue:
      destroy_word(type, word_at(value));
      break;
    default:
      std::memset(value, 0, type.size);
      break;
  }
}

std::size_t lower_bound_entry(View entries, std::size_t stride, std::string_view key) noexcept {
  std::size_t low = 0;
  std::size_t high = entries.count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const View text = word_at(entries.data + middle * stride).view();
    if (std::string_view{reinterpret_cast<const char*>(text.data), text.count} < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace kube::detail
