// SPDX-License-Identifier: Apache-2.0
#include <kube/object/box.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/value.hpp>

#include <string>

namespace kube {

namespace {

using detail::View;
using detail::Word;
using detail::word_at;

class Walk {
 public:
  explicit Walk(const Visitor& visitor) : visitor_(visitor) {}

  void value(const Type& type, const std::byte* value) {
    if (!visitor_(path_, type, value)) return;
    switch (type.kind) {
      case Kind::kStruct:
        for (const Field& field : type.fields) {
          below(path_.empty() ? std::string{field.name()} : '.' + std::string{field.name()},
                *field.type, value + field.offset);
        }
        break;
      case Kind::kBox:
        if (const std::byte* content = detail::boxed(word_at(value))) {
          this->value(*type.element, content);
        }
        break;
      case Kind::kList:
        list(*type.element, word_at(value).view());
        break;
      case Kind::kMap:
        map(*type.element, word_at(value).view());
        break;
      case Kind::kValue:
        any(*reinterpret_cast<const Value*>(value), word_at(value));
        break;
      default:
        break;
    }
  }

 private:
  void below(const std::string& step, const Type& type, const std::byte* value) {
    const std::size_t size = path_.size();
    path_ += step;
    this->value(type, value);
    path_.resize(size);
  }
  static const std::byte* content(const Type& element, const std::byte* slot) {
    return element.is_boxed_in_containers() ? detail::boxed(word_at(slot)) : slot;
  }
  void list(const Type& element, View elements) {
    for (std::size_t i = 0; i < elements.count; ++i) {
      below('[' + std::to_string(i) + ']', element,
            content(element, elements.data + i * element.list_stride()));
    }
  }
  void map(const Type& element, View entries) {
    for (std::size_t i = 0; i < entries.count; ++i) {
      const std::byte* entry = entries.data + i * element.map_stride();
      below("['" + reinterpret_cast<const String*>(entry)->str() + "']", element,
            content(element, entry + 8));
    }
  }
  void any(const Value& value, const Word& word) {
    if (value.is_array()) list(type_of<Value>(), word.view());
    if (value.is_object()) map(type_of<Value>(), word.view());
  }

  const Visitor& visitor_;
  std::string path_;
};

}  // namespace

void visit(const Type& type, const std::byte* value, const Visitor& visitor) {
  Walk{visitor}.value(type, value);
}

}  // namespace kube
