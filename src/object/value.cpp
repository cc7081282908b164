// SPDX-License-Identifier: Apache-2.0
#include <kube/object/value.hpp>

#include <cassert>
#include <cmath>
#include <cstring>

namespace kube {

using detail::Content;
using detail::Form;
using detail::Word;

namespace {

enum NumberKind : std::uint32_t { kBoxedInteger = 0, kBoxedDouble = 1 };

Word own_number(const void* bits, NumberKind kind) {
  detail::OwnedHeader* header = detail::allocate_owned(8, 1, Content::kNumber);
  header->count = kind;
  std::memcpy(header->data(), bits, 8);
  return Word::of_owned(header);
}

template <typename Number>
Number number_behind(const Word& word) noexcept {
  Number number{};
  const detail::View content = word.view();
  assert(content.data != nullptr);
  std::memcpy(&number, content.data, sizeof number);
  return number;
}

[[noreturn]] void wrong_kind(std::string_view expected, Value::Kind found) {
  throw ValueError("expected " + std::string{expected} + ", found " +
                   std::string{to_string(found)});
}

const Value& absent_value() noexcept {
  static const Value kAbsent;
  return kAbsent;
}

/// Calls `get` and prefixes the message of a ValueError with `path`.
template <typename Get>
auto at(std::string_view path, Get get) {
  try {
    return get();
  } catch (const ValueError& error) {
    throw ValueError(std::string{path} + ": " + error.what());
  }
}

}  // namespace

std::string_view to_string(Value::Kind kind) noexcept {
  switch (kind) {
    case Value::Kind::kAbsent:
      return "nothing";
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInteger:
      return "integer";
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kObject:
      return "object";
  }
  return "nothing";
}

Value::Value(std::nullptr_t) noexcept : word_(Word::of_scalar(Word::Scalar::kNull)) {}

Value::Value(bool value) noexcept
    : word_(Word::of_scalar(value ? Word::Scalar::kTrue : Word::Scalar::kFalse)) {}

Value::Value(double value) : word_(own_number(&value, kBoxedDouble)) {}

Value::Value(std::string_view text) : word_(detail::own_text(text.data(), text.size())) {
  if (word_.is_none()) word_ = Word::set_but_empty();
}

Value Value::integer(std::int64_t value) {
  Value result;
  if (value >= Word::kMinSmall && value <= Word::kMaxSmall) {
    result.word_ = Word::of_scalar(Word::Scalar::kInteger, value);
  } else {
    result.word_ = own_number(&value, kBoxedInteger);
  }
  return result;
}

Value Value::array(std::initializer_list<Value> elements) {
  Value result;
  result.word_ = Word::of_owned(detail::allocate_owned(elements.size(), 8, Content::kList));
  for (const Value& element : elements) result.push_back(element);
  return result;
}

Value Value::object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Value result;
  result.word_ = Word::of_owned(detail::allocate_owned(members.size(), 16, Content::kMap));
  for (const auto& [key, value] : members) result[key] = value;
  return result;
}

Value::Kind Value::kind() const noexcept {
  Content content = Content::kBytes;
  switch (word_.form()) {
    case Form::kNone:
      return Kind::kAbsent;
    case Form::kInline:
      return Kind::kString;
    case Form::kScalar:
      switch (word_.scalar()) {
        case Word::Scalar::kNull:
          return Kind::kNull;
        case Word::Scalar::kInteger:
          return Kind::kInteger;
        default:
          return Kind::kBool;
      }
    case Form::kRelative:
      content = word_.relative_content();
      break;
    case Form::kNode:
      content = word_.node()->content;
      break;
    case Form::kOwned:
      content = word_.owned()->content;
      break;
  }
  switch (content) {
    case Content::kBytes:
      return Kind::kString;
    case Content::kList:
      return Kind::kArray;
    case Content::kMap:
      return Kind::kObject;
    case Content::kNumber:
      break;
  }
  return word_.view().count == kBoxedInteger ? Kind::kInteger : Kind::kDouble;
}

bool Value::as_bool() const {
  if (kind() != Kind::kBool) wrong_kind("boolean", kind());
  return word_.scalar() == Word::Scalar::kTrue;
}

std::int64_t Value::as_integer() const {
  if (word_.form() == Form::kScalar && word_.scalar() == Word::Scalar::kInteger) {
    return word_.small_integer();
  }
  if (kind() == Kind::kInteger) {
    return number_behind<std::int64_t>(word_);
  }
  if (kind() == Kind::kDouble) {
    const double number = as_double();
    if (number == std::floor(number) && std::abs(number) < 9.2e18) {
      return static_cast<std::int64_t>(number);
    }
  }
  wrong_kind("integer", kind());
}

double Value::as_double() const {
  switch (kind()) {
    case Kind::kInteger:
      return static_cast<double>(as_integer());
    case Kind::kDouble:
      return number_behind<double>(word_);
    default:
      wrong_kind("number", kind());
  }
}

std::string_view Value::as_string() const {
  if (kind() != Kind::kString) wrong_kind("string", kind());
  const detail::View text = word_.view();
  return {reinterpret_cast<const char*>(text.data), text.count};
}

const List<Value>& Value::as_array() const {
  if (kind() != Kind::kArray) wrong_kind("array", kind());
  // The words of an array and of a list have the same representation.
  return reinterpret_cast<const List<Value>&>(*this);
}

const Map<Value>& Value::as_object() const {
  if (kind() != Kind::kObject) wrong_kind("object", kind());
  return reinterpret_cast<const Map<Value>&>(*this);
}

List<Value>& Value::editable_array() {
  if (kind() == Kind::kAbsent || kind() == Kind::kNull) *this = array();
  return const_cast<List<Value>&>(std::as_const(*this).as_array());
}

Map<Value>& Value::editable_object() {
  if (kind() == Kind::kAbsent || kind() == Kind::kNull) *this = object();
  return const_cast<Map<Value>&>(std::as_const(*this).as_object());
}

const Value* Value::find(std::string_view path) const {
  const Value* here = this;
  for (const PathStep& step : parse_path(path)) {
    if (step.is_index) {
      if (!here->is_array() || step.index >= here->size()) return nullptr;
      here = &here->as_array()[step.index];
    } else {
      if (!here->is_object()) return nullptr;
      here = here->as_object().find(step.key);
      if (here == nullptr) return nullptr;
    }
  }
  return here;
}

std::optional<bool> Value::get_bool(std::string_view path) const {
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return at(path, [&] { return value->as_bool(); });
}

std::optional<std::int64_t> Value::get_integer(std::string_view path) const {
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return at(path, [&] { return value->as_integer(); });
}

std::optional<double> Value::get_double(std::string_view path) const {
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return at(path, [&] { return value->as_double(); });
}

std::optional<std::string_view> Value::get_string(std::string_view path) const {
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return at(path, [&] { return value->as_string(); });
}

const List<Value>& Value::get_array(std::string_view path) const {
  static const List<Value> kEmpty;
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return kEmpty;
  return *at(path, [&] { return &value->as_array(); });
}

const Map<Value>& Value::get_object(std::string_view path) const {
  static const Map<Value> kEmpty;
  const Value* value = find(path);
  if (value == nullptr || value->is_null()) return kEmpty;
  return *at(path, [&] { return &value->as_object(); });
}

const Value& Value::operator[](std::string_view key) const noexcept {
  if (!is_object()) return absent_value();
  const Value* member = reinterpret_cast<const Map<Value>&>(*this).find(key);
  return member == nullptr ? absent_value() : *member;
}

const Value& Value::element(std::size_t index) const noexcept {
  return is_array() && index < size() ? reinterpret_cast<const List<Value>&>(*this)[index]
                                      : absent_value();
}

std::size_t Value::size() const noexcept {
  return is_array() || is_object() ? word_.view().count : 0;
}

Value& Value::operator[](std::string_view key) { return editable_object()[key]; }

Value& Value::at_path(std::string_view path) {
  Value* here = this;
  for (const PathStep& step : parse_path(path)) {
    if (!step.is_index) {
      here = &(*here)[step.key];
      continue;
    }
    List<Value>& array = here->editable_array();
    if (step.index > array.size()) {
      throw ValueError(std::string{path} + ": the array has only " + std::to_string(array.size()) +
                       " elements");
    }
    here = step.index == array.size() ? &array.emplace_back() : &array[step.index];
  }
  return *here;
}

Value& Value::push_back(Value element) {
  List<Value>& array = editable_array();
  array.push_back(std::move(element));
  return array.back();
}

bool Value::erase(std::string_view key) { return is_object() && editable_object().erase(key); }

void Value::reset() noexcept {
  if (word_.is_owned()) detail::destroy_word(type_of<Value>(), word_);
  word_ = {};
}

std::vector<PathStep> parse_path(std::string_view path) {
  std::vector<PathStep> steps;
  const auto malformed = [&](std::string_view why, std::size_t at) {
    throw ValueError("path \"" + std::string{path} + "\": " + std::string{why} + " at position " +
                     std::to_string(at));
  };
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      const bool quoted = i + 1 < path.size() && path[i + 1] == '\'';
      const std::size_t start = i + (quoted ? 2 : 1);
      const std::size_t end = path.find(quoted ? "']" : "]", start);
      if (end == std::string_view::npos) malformed("bracket is not closed", i);
      const std::string_view inside = path.substr(start, end - start);
      if (quoted) {
        steps.push_back({std::string{inside}});
        i = end + 2;
      } else {
        if (inside.empty() || inside.size() > 9 ||
            inside.find_first_not_of("0123456789") != std::string_view::npos) {
          malformed("expected an index or a quoted key", start);
        }
        steps.push_back({{}, static_cast<std::size_t>(std::stoul(std::string{inside})), true});
        i = end + 1;
      }
    } else {
      const std::size_t end = std::min(path.find_first_of(".[", i), path.size());
      if (end == i) malformed("expected a key", i);
      steps.push_back({std::string{path.substr(i, end - i)}});
      i = end;
    }
    if (i < path.size() && path[i] == '.') {
      ++i;
      if (i == path.size()) malformed("expected a key", i);
    } else if (i < path.size() && path[i] != '[') {
      malformed("expected '.' or '['", i);
    }
  }
  return steps;
}

}  // namespace kube
