// SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_writer.hpp"

#include "codec/leaf.hpp"
#include <kube/object/box.hpp>
#include <kube/object/word.hpp>

#include <protozero/varint.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace kube::detail {

namespace {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kLengthDelimited = 2;

template <typename T>
const T& at(const std::byte* value) {
  return *reinterpret_cast<const T*>(value);
}

std::string_view text_at(const std::byte* value) {
  const View view = word_at(value).view();
  return {reinterpret_cast<const char*>(view.data), view.count};
}

bool is_zero(const Type& type, const std::byte* value) {
  return std::all_of(value, value + type.size, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

char* ProtobufWriter::reserve(std::size_t size) {
  if (start_ < size) {
    const std::size_t used = this->size();
    const std::size_t capacity = std::max<std::size_t>(2 * capacity_ + size, 4096);
    std::unique_ptr<char[]> larger{new char[capacity]};
    if (used > 0) std::memcpy(larger.get() + capacity - used, buffer_.get() + start_, used);
    buffer_ = std::move(larger);
    capacity_ = capacity;
    start_ = capacity - used;
  }
  start_ -= size;
  return buffer_.get() + start_;
}

void ProtobufWriter::bytes(std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
}

void ProtobufWriter::varint(std::uint64_t number) {
  if (number < 0x80) {
    *reserve(1) = static_cast<char>(number);
    return;
  }
  char buffer[protozero::max_varint_length];
  char* const end = buffer + protozero::write_varint(buffer, number);
  bytes({buffer, static_cast<std::size_t>(end - buffer)});
}

void ProtobufWriter::text_field(std::uint32_t number, std::string_view text) {
  bytes(text);
  varint(text.size());
  tag(number, kLengthDelimited);
}

void ProtobufWriter::close(std::uint32_t number, std::size_t size_before) {
  varint(size() - size_before);
  tag(number, kLengthDelimited);
}

void ProtobufWriter::message(const Type& type, const std::byte* value) {
  if (type.kind != Kind::kStruct || (type.proto.empty() && !type.fields.empty())) {
    throw std::logic_error(std::string{type.name} + " has no protobuf form");
  }
  table(type, type.proto, value);
}

void ProtobufWriter::table(const Type& type, std::span<const ProtoField> table,
                           const std::byte* value) {
  // Not std::views::reverse, which clang 14 cannot compile with the library of g++ 12.
  for (std::size_t i = table.size(); i-- > 0;) {
    const ProtoField& entry = table[i];
    if (entry.is_part) {
      const std::size_t before = size();
      this->table(type, entry.part, value);
      close(entry.number, before);
    } else {
      const Field& described = type.fields[entry.field];
      field(described, entry.number, value + described.offset);
    }
  }
}

void ProtobufWriter::field(const Field& field, std::uint32_t number, const std::byte* value) {
  const Type& type = *field.type;
  const auto optional_integer = [&]<typename T>(const std::optional<T>& content) {
    if (!content) return;
    varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(*content)));
    tag(number, kVarint);
  };
  switch (type.kind) {
    case Kind::kOptionalBool:
      optional_integer(at<std::optional<bool>>(value));
      break;
    case Kind::kOptionalInt32:
      optional_integer(at<std::optional<std::int32_t>>(value));
      break;
    case Kind::kOptionalInt64:
      optional_integer(at<std::optional<std::int64_t>>(value));
      break;
    case Kind::kOptionalDouble:
      if (const auto& content = at<std::optional<double>>(value)) {
        element(type_of<double>(), number, reinterpret_cast<const std::byte*>(&*content));
      }
      break;
    case Kind::kOptionalString:
    case Kind::kBytes:
      if (!word_at(value).is_none()) text_field(number, text_at(value));
      break;
    case Kind::kLeaf:
      if (!field.is(Field::kOptional) || !is_zero(type, value)) element(type, number, value);
      break;
    case Kind::kBox:
      if (const std::byte* content = boxed(word_at(value))) {
        element(*type.element, number, content);
      }
      break;
    case Kind::kList:
      if (!field.is(Field::kProtoWrapped)) {
        list(type, number, value);
      } else if (!word_at(value).is_none()) {
        element(type, number, value);
      }
      break;
    case Kind::kMap:
      map(type, number, value);
      break;
    default:
      element(type, number, value);
      break;
  }
}

void ProtobufWriter::element(const Type& type, std::uint32_t number, const std::byte* value) {
  switch (type.kind) {
    case Kind::kBool:
      varint(at<bool>(value) ? 1 : 0);
      tag(number, kVarint);
      break;
    case Kind::kInt32:
      varint(static_cast<std::uint64_t>(std::int64_t{at<std::int32_t>(value)}));
      tag(number, kVarint);
      break;
    case Kind::kInt64:
      varint(static_cast<std::uint64_t>(at<std::int64_t>(value)));
      tag(number, kVarint);
      break;
    case Kind::kDouble:
      bytes({reinterpret_cast<const char*>(value), 8});
      tag(number, kFixed64);
      break;
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      text_field(number, text_at(value));
      break;
    case Kind::kLeaf:
      if (type.leaf->to_protobuf == nullptr) {
        throw std::logic_error(std::string{type.name} + " has no protobuf form");
      }
      scratch_.clear();
      type.leaf->to_protobuf(value, scratch_);
      text_field(number, scratch_);
      break;
    case Kind::kStruct: {
      const std::size_t before = size();
      message(type, value);
      close(number, before);
      break;
    }
    case Kind::kList: {  // in a message of its own
      const std::size_t before = size();
      list(type, 1, value);
      close(number, before);
      break;
    }
    default:
      throw std::logic_error(std::string{type.name} + " has no protobuf form");
  }
}

void ProtobufWriter::list(const Type& type, std::uint32_t number, const std::byte* value) {
  const View elements = word_at(value).view();
  const std::size_t stride = type.element->list_stride();
  for (std::size_t i = elements.count; i-- > 0;) {
    const std::byte* slot = elements.data + i * stride;
    element(*type.element, number,
            type.element->is_boxed_in_containers() ? boxed(word_at(slot)) : slot);
  }
}

void ProtobufWriter::map(const Type& type, std::uint32_t number, const std::byte* value) {
  const View entries = word_at(value).view();
  const std::size_t stride = type.element->map_stride();
  for (std::size_t i = entries.count; i-- > 0;) {
    const std::byte* entry = entries.data + i * stride;
    const std::byte* slot = entry + 8;
    const std::size_t before = size();
    element(*type.element, 2, type.element->is_boxed_in_containers() ? boxed(word_at(slot)) : slot);
    text_field(1, text_at(entry));
    close(number, before);
  }
}

}  // namespace kube::detail
