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

/// Returns the element in a slot of a list or map: the slot itself, or the content of its box.
const std::byte* slot_content(const Type& element, const std::byte* slot) noexcept {
  return element.is_boxed_in_containers() ? boxed(word_at(slot)) : slot;
}

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

namespace {

template <typename T>
bool equal_scalars(const std::byte* a, const std::byte* b) noexcept {
  return *reinterpret_cast<const T*>(a) == *reinterpret_cast<const T*>(b);
}

bool equal_text(const std::byte* a, const std::byte* b) noexcept {
  const View x = word_at(a).view();
  const View y = word_at(b).view();
  return x.count == y.count && (x.count == 0 || std::memcmp(x.data, y.data, x.count) == 0);
}

bool equal_slots(const Type& element, const std::byte* a, const std::byte* b) noexcept {
  if (!element.is_boxed_in_containers()) return equal_values(element, a, b);
  const std::byte* x = boxed(word_at(a));
  const std::byte* y = boxed(word_at(b));
  return x == y || equal_values(element, x, y);
}

bool equal_elements(const Type& type, const std::byte* a, const std::byte* b) noexcept {
  const View x = word_at(a).view();
  const View y = word_at(b).view();
  if (x.count != y.count) return false;
  if (x.data == y.data) return true;
  const bool is_map = type.kind == Kind::kMap;
  const std::size_t stride = is_map ? type.element->map_stride() : type.element->list_stride();
  for (std::size_t i = 0; i < x.count; ++i) {
    const std::byte* from = x.data + i * stride;
    const std::byte* with = y.data + i * stride;
    if (is_map) {
      if (!equal_text(from, with)) return false;
      from += 8;
      with += 8;
    }
    if (!equal_slots(*type.element, from, with)) return false;
  }
  return true;
}

bool equal_any(const std::byte* a, const std::byte* b) noexcept {
  const Value& x = *reinterpret_cast<const Value*>(a);
  const Value& y = *reinterpret_cast<const Value*>(b);
  if (x.kind() != y.kind()) {
    const auto is_number = [](Value::Kind kind) {
      return kind == Value::Kind::kInteger || kind == Value::Kind::kDouble;
    };
    return is_number(x.kind()) && is_number(y.kind()) && x.as_double() == y.as_double();
  }
  switch (x.kind()) {
    case Value::Kind::kArray:
      return equal_elements(type_of<List<Value>>(), a, b);
    case Value::Kind::kObject:
      return equal_elements(type_of<Map<Value>>(), a, b);
    case Value::Kind::kString:
      return equal_text(a, b);
    case Value::Kind::kDouble:
      return x.as_double() == y.as_double();
    case Value::Kind::kInteger:
      return x.as_integer() == y.as_integer();
    case Value::Kind::kBool:
      return x.as_bool() == y.as_bool();
    default:
      return true;
  }
}

}  // namespace

bool equal_values(const Type& type, const std::byte* a, const std::byte* b) noexcept {
  switch (type.kind) {
    case Kind::kBool:
      return equal_scalars<bool>(a, b);
    case Kind::kInt32:
      return equal_scalars<std::int32_t>(a, b);
    case Kind::kInt64:
      return equal_scalars<std::int64_t>(a, b);
    case Kind::kDouble:
      return equal_scalars<double>(a, b);
    case Kind::kOptionalBool:
      return equal_scalars<std::optional<bool>>(a, b);
    case Kind::kOptionalInt32:
      return equal_scalars<std::optional<std::int32_t>>(a, b);
    case Kind::kOptionalInt64:
      return equal_scalars<std::optional<std::int64_t>>(a, b);
    case Kind::kOptionalDouble:
      return equal_scalars<std::optional<double>>(a, b);
    case Kind::kOptionalString:
      return word_at(a).is_none() == word_at(b).is_none() && equal_text(a, b);
    case Kind::kString:
    case Kind::kBytes:
      return equal_text(a, b);
    case Kind::kLeaf:
      return equal_values(*type.element, a, b);
    case Kind::kValue:
      return equal_any(a, b);
    case Kind::kStruct:
      return std::all_of(type.fields.begin(), type.fields.end(), [&](const Field& field) {
        return equal_values(*field.type, a + field.offset, b + field.offset);
      });
    case Kind::kBox: {
      const std::byte* x = boxed(word_at(a));
      const std::byte* y = boxed(word_at(b));
      if (x == y) return true;
      return x != nullptr && y != nullptr && equal_values(*type.element, x, y);
    }
    case Kind::kList:
    case Kind::kMap:
      return equal_elements(type, a, b);
  }
  return false;
}

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

std::uint64_t hash_text(const Word& word) noexcept {
  const View text = word.view();
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(text.data), text.count});
}

std::uint64_t hash_elements(const Type& type, const Word& word) noexcept {
  const View content = word.view();
  const bool is_map = type.kind == Kind::kMap;
  const std::size_t stride = is_map ? type.element->map_stride() : type.element->list_stride();
  std::uint64_t hash = content.count;
  for (std::size_t i = 0; i < content.count; ++i) {
    const std::byte* slot = content.data + i * stride;
    if (is_map) {
      hash = mix(hash, hash_text(word_at(slot)));
      slot += 8;
    }
    hash = mix(hash, hash_value(*type.element, slot_content(*type.element, slot)));
  }
  return hash;
}

std::uint64_t hash_any(const std::byte* value) noexcept {
  const Value& any = *reinterpret_cast<const Value*>(value);
  switch (any.kind()) {
    case Value::Kind::kArray:
      return hash_elements(type_of<List<Value>>(), word_at(value));
    case Value::Kind::kObject:
      return hash_elements(type_of<Map<Value>>(), word_at(value));
    case Value::Kind::kString:
      return hash_text(word_at(value));
    case Value::Kind::kDouble:
    case Value::Kind::kInteger:
      return std::hash<double>{}(any.as_double());  // 1 and 1.0 are equal
    case Value::Kind::kBool:
      return any.as_bool() ? 3 : 2;
    case Value::Kind::kNull:
      return 1;
    case Value::Kind::kAbsent:
      break;
  }
  return 0;
}

template <typename T>
std::uint64_t hash_scalar(const std::byte* value) noexcept {
  return std::hash<T>{}(*reinterpret_cast<const T*>(value));
}

}  // namespace

std::uint64_t hash_value(const Type& type, const std::byte* value) noexcept {
  switch (type.kind) {
    case Kind::kBool:
      return hash_scalar<bool>(value);
    case Kind::kInt32:
      return hash_scalar<std::int32_t>(value);
    case Kind::kInt64:
      return hash_scalar<std::int64_t>(value);
    case Kind::kDouble:
      return hash_scalar<double>(value);
    case Kind::kOptionalBool:
      return hash_scalar<std::optional<bool>>(value);
    case Kind::kOptionalInt32:
      return hash_scalar<std::optional<std::int32_t>>(value);
    case Kind::kOptionalInt64:
      return hash_scalar<std::optional<std::int64_t>>(value);
    case Kind::kOptionalDouble:
      return hash_scalar<std::optional<double>>(value);
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      return hash_text(word_at(value));
    case Kind::kLeaf:
      return hash_value(*type.element, value);
    case Kind::kValue:
      return hash_any(value);
    case Kind::kStruct: {
      std::uint64_t hash = 7;
      for (const Field& field : type.fields) {
        hash = mix(hash, hash_value(*field.type, value + field.offset));
      }
      return hash;
    }
    case Kind::kBox: {
      const std::byte* content = boxed(word_at(value));
      return content == nullptr ? 0 : hash_value(*type.element, content);
    }
    case Kind::kList:
    case Kind::kMap:
      return hash_elements(type, word_at(value));
  }
  return 0;
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
