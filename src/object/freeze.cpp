// SPDX-License-Identifier: Apache-2.0
#include "object/freeze.hpp"

#include <kube/object/box.hpp>
#include <kube/object/value.hpp>

#include <cstring>

namespace kube::detail {

namespace {

class Freezer {
 public:
  Freezer(Arena& arena, Nodes nodes) : arena_(arena), nodes_(nodes) {}

  void value(const Type& type, std::byte* to, const std::byte* from) {
    switch (type.kind) {
      case Kind::kStruct:
        for (const Field& field : type.fields) {
          value(*field.type, to + field.offset, from + field.offset);
        }
        break;
      case Kind::kLeaf:
        value(*type.element, to, from);
        break;
      case Kind::kString:
      case Kind::kOptionalString:
      case Kind::kBytes:
      case Kind::kBox:
      case Kind::kList:
      case Kind::kMap:
      case Kind::kValue:
        word(type, word_at(to), word_at(from));
        break;
      default:
        std::memcpy(to, from, type.size);
        break;
    }
  }

 private:
  void word(const Type& type, Word& to, const Word& from) {
    switch (from.form()) {
      case Form::kNone:
      case Form::kInline:
      case Form::kScalar:
        to = from;
        return;
      case Form::kNode:
        if (nodes_ == Nodes::kShare) {
          from.node()->retain();
          arena_.set_node(to, from.node());
          return;
        }
        break;
      default:
        break;
    }
    switch (type.kind) {
      case Kind::kBox:
        box(*type.element, to, boxed(from));
        break;
      case Kind::kList:
        list(*type.element, to, from.view());
        break;
      case Kind::kMap:
        map(*type.element, to, from.view());
        break;
      case Kind::kValue:
        any(to, from);
        break;
      default: {
        const View text = from.view();
        arena_.set_text(to, {reinterpret_cast<const char*>(text.data), text.count});
        break;
      }
    }
  }

  void box(const Type& element, Word& to, const std::byte* from) {
    std::byte* content = arena_.allocate(std::max<std::size_t>(element.size, 8));
    to.set_relative(content, 1, Content::kBytes);
    value(element, content, from);
  }
  void slot(const Type& element, std::byte* to, const std::byte* from) {
    if (!element.is_boxed_in_containers()) {
      value(element, to, from);
      return;
    }
    Word& word = word_at(to);
    const Word& source = word_at(from);
    if (source.form() == Form::kNode && nodes_ == Nodes::kShare) {
      source.node()->retain();
      arena_.set_node(word, source.node());
    } else {
      box(element, word, boxed(source));
    }
  }
  void list(const Type& element, Word& to, View from) {
    const std::size_t stride = element.list_stride();
    std::byte* array = arena_.allocate(from.count * stride);
    to.set_relative(array, from.count, Content::kList);
    for (std::size_t i = 0; i < from.count; ++i) {
      slot(element, array + i * stride, from.data + i * stride);
    }
  }
  void map(const Type& element, Word& to, View from) {
    const std::size_t stride = element.map_stride();
    std::byte* array = arena_.allocate(from.count * stride);
    to.set_relative(array, from.count, Content::kMap);
    for (std::size_t i = 0; i < from.count; ++i) {
      word(type_of<String>(), word_at(array + i * stride), word_at(from.data + i * stride));
      slot(element, array + i * stride + 8, from.data + i * stride + 8);
    }
  }
  void any(Word& to, const Word& from) {
    const auto& value = reinterpret_cast<const Value&>(from);
    const View content = from.view();
    switch (value.kind()) {
      case Value::Kind::kArray:
        list(type_of<Value>(), to, content);
        break;
      case Value::Kind::kObject:
        map(type_of<Value>(), to, content);
        break;
      case Value::Kind::kString:
        arena_.set_text(to, {reinterpret_cast<const char*>(content.data), content.count});
        break;
      default: {  // a number that does not fit into the word
        std::byte* number = arena_.allocate(8);
        std::memcpy(number, content.data, 8);
        to.set_relative(number, content.count, Content::kNumber);
        break;
      }
    }
  }

  Arena& arena_;
  Nodes nodes_;
};

}  // namespace

void freeze_into(Arena& arena, const Type& type, std::byte* to, const std::byte* from,
                 Nodes nodes) {
  Freezer{arena, nodes}.value(type, to, from);
}

}  // namespace kube::detail
