// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/json_reader.hpp>

#include <kube/codec/base64.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/leaf.hpp>
#include <kube/codec/relocate.hpp>
#include <kube/codec/utf8.hpp>
#include <kube/object/box.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

namespace kube::detail {

namespace {

bool is_plain_scalar(const Type& type) { return type.kind <= Kind::kDouble; }
bool is_optional_scalar(const Type& type) {
  return type.kind >= Kind::kOptionalBool && type.kind <= Kind::kOptionalDouble;
}

/// The type of what stands in memory.
const Type& stored(const Type& type) { return type.kind == Kind::kLeaf ? *type.element : type; }

/// Whether null stands for the empty element in a list or map, as Go reads it. Otherwise null is content.
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

/// The text of a key that is not placed yet, until it moves.
std::string_view text_of(const Pending& key) noexcept {
  if (key.word.form() != Form::kRelative) return key.word.text();
  return {reinterpret_cast<const char*>(key.target), key.word.relative_count()};
}

/// Puts names and their values, which follow them, in order: structs of the API are not written in that of their
/// names. Sorted later, the entries of the map would take memory twice.
void sort_pending(std::span<Pending> entries) {
  constexpr std::size_t kMany = 64;  // those sort_entries() sorts in less time
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

/// A number as it is written, as a double; nothing if it is too large. One that is too small is zero.
std::optional<double> to_double(std::string_view digits) {
  double number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec == std::errc{}) return number;
  // Too large or too small; the exponent's sign tells which.
  return digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos
             ? std::optional<double>{digits.front() == '-' ? -0.0 : 0.0}
             : std::nullopt;
}

/// Enough for every struct of the API; in a larger one two names may be taken for one, which only keeps
/// the document from being a sibling.
constexpr std::size_t kMostFields = 128;

/// Servers write members in the order of the table and leave out many, so the one wanted is at or a
/// little behind `next`.
std::size_t find_field_of(const Type& type, std::size_t& next, std::string_view name) {
  const std::uint64_t prefix = Field::prefix_of(name);
  const std::size_t count = type.fields.size();
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t i = next < count ? next : 0;
    next = i + 1;
    const Field& field = type.fields[i];
    if (field.json_prefix == prefix && field.json_size == name.size() &&
        (name.size() <= 8 ||
         std::memcmp(field.json_name + 8, name.data() + 8, name.size() - 8) == 0)) {
      return i;
    }
  }
  return count;
}

}  // namespace

/// Notes one value on the tape while it is read.
class JsonReader::Recording {
 public:
  Recording(JsonReader& reader, std::size_t tag) : reader_(reader) {
    if (reader.tape_ == nullptr) return;
    index_ = reader.tape_->entries.size();
    reader.tape_->entries.push_back(
        {reader.scan_.position(), 0, 0, static_cast<std::uint32_t>(tag)});
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (reader_.tape_ == nullptr) return;
    JsonTape::Entry& entry = reader_.tape_->entries[index_];
    entry.end = reader_.scan_.position();
    entry.next = static_cast<std::uint32_t>(reader_.tape_->entries.size());
  }

 private:
  JsonReader& reader_;
  std::size_t index_ = 0;
};

void JsonReader::read(const Type& type, std::string_view text, const Projection& projection,
                      const Sibling& sibling, JsonTape* tape, std::size_t offset) {
  scan_ = JsonScanner{text, offset, limits_.max_depth};
  sibling_ = assembler_.shares() ? sibling : Sibling{};
  tape_ = tape;
  is_regular_ = true;
  if (tape != nullptr) tape->entries.clear();
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
    scan_.fail(nullptr, "document of more than 2 GiB");
  }
  if (!is_utf8(text)) scan_.fail(nullptr, "document is not valid UTF-8");

  std::byte* root = arena_.allocate_root(std::max<std::size_t>(type.size, 8));
  const Like like{sibling_.object == nullptr || sibling_.tape->entries.empty() ? kNoEntry : 0,
                  sibling_.object};
  const Context context{projection.root(), nullptr, 0};
  try {
    scan_.white_space();
    const Recording recording{*this, 0};
    if (type.kind == Kind::kStruct) {
      object(type, root, like, context);
    } else {
      assembler_.place(type, root, value(type, like, context));
    }
  } catch (...) {
    for (const Pending& pending : pending_) Assembler::discard(pending);
    pending_.clear();
    throw;
  }
  scan_.white_space();
  if (!scan_.done()) scan_.fail_expected(nullptr, "end of the document");
}

// --- the sibling ---

bool JsonReader::equals(std::uint32_t entry) const noexcept {
  const JsonTape::Entry& same = sibling_.tape->entries[entry];
  const std::size_t size = same.end - same.start;
  const auto left = static_cast<std::size_t>(scan_.end() - scan_.at());
  if (size > left || std::memcmp(scan_.at(), sibling_.text.data() + same.start, size) != 0) {
    return false;
  }
  // "12" must not be taken for the beginning of "123".
  return size == left || std::strchr(",}] \n\r\t", scan_.at()[size]) != nullptr;
}

void JsonReader::jump(std::uint32_t entry) {
  const JsonTape::Entry same = sibling_.tape->entries[entry];
  if (tape_ != nullptr) {
    // The value itself is being recorded; what is inside follows.
    const std::uint32_t shift = scan_.position() - same.start;
    const auto index_shift = static_cast<std::uint32_t>(tape_->entries.size()) - (entry + 1);
    for (std::uint32_t i = entry + 1; i < same.next; ++i) {
      JsonTape::Entry inner = sibling_.tape->entries[i];
      inner.start += shift;
      inner.end += shift;
      inner.next += index_shift;
      tape_->entries.push_back(inner);
    }
  }
  scan_.move_by(same.end - same.start);
}

JsonReader::Members JsonReader::members_of(const Like& like) const noexcept {
  if (like.entry == kNoEntry) return {};
  return {like.entry + 1, sibling_.tape->entries[like.entry].next};
}

std::uint32_t JsonReader::find_field(Members& members, std::size_t index) const noexcept {
  for (std::uint32_t i = members.next; i < members.end; i = sibling_.tape->entries[i].next) {
    const JsonTape::Entry& entry = sibling_.tape->entries[i];
    if (entry.tag == index) {
      members.next = entry.next;
      return i;
    }
  }
  return kNoEntry;
}

std::uint32_t JsonReader::find_key(Members& members, std::string_view quoted) const noexcept {
  for (std::uint32_t i = members.next; i < members.end; i = sibling_.tape->entries[i].next) {
    const JsonTape::Entry& entry = sibling_.tape->entries[i];
    if (sibling_.text.substr(entry.start - entry.tag, quoted.size()) == quoted) {
      members.next = entry.next;
      return i;
    }
  }
  return kNoEntry;
}

// --- structs ---

void JsonReader::enter(const Context& context) const {
  if (context.depth > limits_.max_depth) scan_.fail(context.path, "nested too deeply");
}

std::string_view JsonReader::key(std::string& storage, const PathFrame* path) {
  std::string_view name;
  if (scan_.string(name, path)) {
    storage.resize(name.size());
    storage.resize(scan_.unescape(name, storage.data(), path));
    name = storage;
  }
  if (name.size() > limits_.max_text) scan_.fail(path, "key is too long");
  return name;
}

void JsonReader::check_type_meta(const Type& type, std::string_view name, const PathFrame* path) {
  const bool is_kind = name == "kind";
  if ((!is_kind && name != "apiVersion") || scan_.peek() != '"') return;
  JsonScanner ahead = scan_;
  ahead.consume('"');
  std::string_view text;
  ahead.string(text, path);
  const std::string_view expected = is_kind ? type.name : type.api_version;
  if (!text.empty() && text != expected) {
    scan_.fail(path, "expected " + std::string{name} + " \"" + std::string{expected} +
                         "\", found \"" + std::string{text.substr(0, 80)} + '"');
  }
}

void JsonReader::object(const Type& type, std::byte* out, Like like, const Context& context) {
  enter(context);
  if (type.is(Type::kByToken)) {
    by_token(type, out, context);
    return;
  }
  if (!scan_.consume('{')) scan_.fail_expected(context.path, "object");
  scan_.white_space();
  if (scan_.consume('}')) return;

  Members members = members_of(like);
  std::size_t next = 0;
  std::bitset<kMostFields> seen;
  std::string storage;
  do {
    scan_.expect('"', "key in quotes", context.path);
    const std::string_view name = key(storage, context.path);
    scan_.expect(':', "':'", context.path);
    scan_.white_space();
    const std::size_t index = find_field_of(type, next, name);
    if (index < type.fields.size()) {
      if (seen.test(index % kMostFields)) is_regular_ = false;
      seen.set(index % kMostFields);
    } else if (context.path == nullptr && type.is(Type::kHasTypeMeta)) {
      check_type_meta(type, name, context.path);
    }
    Projection::Node::Choice choice{true, nullptr};
    if (index < type.fields.size() && context.keep != nullptr) choice = context.keep->field(index);
    if (index == type.fields.size() || !choice.kept) {
      scan_.skip_value(context.path, context.depth + 1);
    } else {
      const Field& field = type.fields[index];
      Like same;
      if (members.next < members.end) {
        same = {find_field(members, index), like.value + field.offset};
      }
      const PathFrame path{context.path, field.name()};
      const Recording recording{*this, index};
      member(field, out + field.offset, same, {choice.below, &path, context.depth + 1});
    }
    scan_.white_space();
  } while (scan_.consume(','));
  scan_.expect('}', "',' or '}'", context.path);
}

void JsonReader::member(const Field& field, std::byte* place, Like like, const Context& context) {
  const Type& type = *field.type;
  if (is_plain_scalar(type)) {
    if (!scan_.consume_null(context.path)) {
      assembler_.place(type, place, scalar(type, context));
    }
    return;
  }
  if (is_optional_scalar(type)) {
    optional_scalar(type, place, context);
    return;
  }
  if (type.kind == Kind::kStruct) {
    if (!scan_.consume_null(context.path)) object(type, place, like, context);
    return;
  }
  Word& word = word_at(place);
  const bool was_set = !word.is_none();
  if (scan_.peek() == 'n' && !(type.kind == Kind::kLeaf && type.leaf->takes_any_json)) {
    scan_.consume_null(context.path);
    if (was_set && is_plain_scalar(stored(type))) {
      word = {};
    } else if (was_set && type.kind != Kind::kString) {
      arena_.drop(word);
    }
    return;
  }
  if (was_set) {
    // The name stands in the document twice: structs and maps take up the second, all else gives way.
    if (type.kind == Kind::kBox && !type.element->is(Type::kByToken)) {
      assembler_.thaw(type, word);
      object(*type.element, const_cast<std::byte*>(word.relative_target()), {}, context);
      return;
    }
    if (type.kind == Kind::kMap) {
      merge_map(type, word, map(type, {}, context));
      return;
    }
    const Pending again = value(type, {}, context);
    if (type.kind != Kind::kLeaf || !again.is_raw) arena_.drop(word);
    assembler_.place(type, place, again);
    return;
  }
  if (like.entry != kNoEntry && equals(like.entry)) {
    if (type.kind == Kind::kLeaf && type.element->kind == Kind::kInt64) {
      std::memcpy(place, like.value, 8);
      jump(like.entry);
      return;
    }
    if (const auto shared = assembler_.share(type, word_at(like.value), size_of(like.entry))) {
      assembler_.place(word, *shared);
      jump(like.entry);
      return;
    }
  }
  assembler_.place(type, place, value(type, like, context));
}

void JsonReader::by_token(const Type& type, std::byte* out, const Context& context) {
  if (scan_.consume_null(context.path)) return;
  const auto member_of = [&](Kind kind) -> const Field* {
    for (const Field& field : type.fields) {
      if (field.type->kind == kind) return &field;
    }
    return nullptr;
  };
  const Field* flag = member_of(Kind::kBool);
  const Field* field = nullptr;
  std::string_view expected = flag != nullptr ? "boolean or object" : "array or object";
  switch (scan_.peek()) {
    case '{':
      field = member_of(Kind::kBox);
      break;
    case '[':
      field = member_of(Kind::kList);
      break;
    case 't':
    case 'f':
      field = flag;
      break;
    default:
      break;
  }
  if (field == nullptr) scan_.fail_expected(context.path, expected);
  if (field->type->kind == Kind::kBox && flag != nullptr) {
    *reinterpret_cast<bool*>(out + flag->offset) = true;  // an object allows what it describes
  }
  member(*field, out + field->offset, {}, {nullptr, context.path, context.depth + 1});
}

// --- values without a place ---

Pending JsonReader::value(const Type& type, Like like, const Context& context) {
  switch (type.kind) {
    case Kind::kString:
    case Kind::kOptionalString:
    case Kind::kBytes:
      return text(type, reinterpret_cast<const Word*>(like.value), context);
    case Kind::kLeaf:
      return leaf(type, reinterpret_cast<const Word*>(like.value), context);
    case Kind::kStruct:
      return boxed_struct(type, like, context);
    case Kind::kBox:
      return boxed_struct(*type.element, like, context);
    case Kind::kList:
      return list(type, like, context);
    case Kind::kMap:
      return map(type, like, context);
    case Kind::kValue:
      return any(like, context);
    default:
      return scalar(type, context);
  }
}

Pending JsonReader::boxed_struct(const Type& type, Like like, const Context& context) {
  std::byte* content = arena_.allocate(std::max<std::size_t>(type.size, 8));
  if (like.value != nullptr) {
    like.value = boxed(word_at(like.value));
    if (like.value == nullptr) like = {};
  }
  object(type, content, like, context);
  return Pending::relative(content, 1, Content::kBytes);
}

Pending JsonReader::text(const Type& type, const Word* sibling, const Context& context) {
  if (!scan_.consume('"')) scan_.fail_expected(context.path, type.name);
  std::string_view raw;
  const char* const first = scan_.at();
  const bool has_escapes = scan_.string(raw, context.path);
  if (raw.size() > limits_.max_text) scan_.fail_at(first, context.path, "text is too long");
  if (type.kind == Kind::kBytes) {
    std::string plain;
    if (has_escapes) {
      plain.resize(raw.size());
      plain.resize(scan_.unescape(raw, plain.data(), context.path));
      raw = plain;
    }
    const std::size_t capacity = base64_capacity(raw);
    char* copy = arena_.allocate_text(capacity);
    const std::optional<std::size_t> size = base64_decode(raw, copy);
    if (!size) scan_.fail_at(first, context.path, "malformed base64");
    arena_.shrink_text(copy, capacity, *size);
    return assembler_.text_in_place(copy + (capacity - *size), *size, sibling);
  }
  if (!has_escapes) return assembler_.text(raw, sibling);
  char* copy = arena_.allocate_text(raw.size());
  const std::size_t size = scan_.unescape(raw, copy, context.path);
  arena_.shrink_text(copy, raw.size(), size);
  return assembler_.text_in_place(copy + (raw.size() - size), size, sibling);
}

Pending JsonReader::leaf(const Type& type, const Word* sibling, const Context& context) {
  using Token = LeafOperations::Token;
  const char* const first = scan_.at();
  LeafOperations::Input input{assembler_, sibling};
  std::string_view raw;
  std::string plain;
  Token token = Token::kOther;
  if (type.leaf->takes_any_json) {
    scan_.skip_value(context.path, context.depth);
    raw = {first, static_cast<std::size_t>(scan_.at() - first)};
  } else if (scan_.consume('"')) {
    token = Token::kText;
    if (scan_.string(raw, context.path)) {
      plain.resize(raw.size());
      plain.resize(scan_.unescape(raw, plain.data(), context.path));
      raw = plain;
    }
  } else if (scan_.peek() == '-' || (scan_.peek() >= '0' && scan_.peek() <= '9')) {
    bool is_integer = false;
    token = Token::kNumber;
    raw = scan_.number(is_integer, context.path);
  } else {
    scan_.fail_expected(context.path, type.name);
  }
  if (raw.size() > limits_.max_text) scan_.fail_at(first, context.path, "text is too long");
  const Pending content = type.leaf->from_json(input, token, raw);
  if (input.problem != nullptr) {
    constexpr std::size_t kQuoted = 60;
    scan_.fail_at(
        first, context.path,
        std::string{input.problem} + ", found \"" + std::string{raw.substr(0, kQuoted)} + '"');
  }
  return content;
}

Pending JsonReader::scalar(const Type& type, const Context& context) {
  const char* const first = scan_.at();
  if (type.kind == Kind::kBool) return Pending::raw(scan_.boolean(context.path) ? 1 : 0);
  if (scan_.peek() != '-' && (scan_.peek() < '0' || scan_.peek() > '9')) {
    scan_.fail_expected(context.path, type.name);
  }
  bool is_integer = false;
  const std::string_view digits = scan_.number(is_integer, context.path);
  if (type.kind == Kind::kDouble) {
    const std::optional<double> number = to_double(digits);
    if (!number) scan_.fail_at(first, context.path, "number out of range");
    return Pending::raw(std::bit_cast<std::uint64_t>(*number));
  }
  std::int64_t number = 0;
  if (!is_integer) scan_.fail_at(first, context.path, "expected integer, found a fraction");
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (result.ec != std::errc{} ||
      (type.kind == Kind::kInt32 && (number < std::numeric_limits<std::int32_t>::min() ||
                                     number > std::numeric_limits<std::int32_t>::max()))) {
    scan_.fail_at(first, context.path,
                  "number " + std::string{digits.substr(0, 40)} + " does not fit into " +
                      (type.kind == Kind::kInt32 ? "32" : "64") + " bits");
  }
  return Pending::raw(static_cast<std::uint64_t>(number));
}

void JsonReader::optional_scalar(const Type& type, std::byte* out, const Context& context) {
  const auto set = [&]<typename T>(std::optional<T>* place) {
    if (scan_.consume_null(context.path)) {
      place->reset();
      return;
    }
    T number{};
    const Pending content = scalar(type_of<T>(), context);
    std::memcpy(&number, &content.word, sizeof(T));
    *place = number;
  };
  switch (type.kind) {
    case Kind::kOptionalBool:
      set(reinterpret_cast<std::optional<bool>*>(out));
      break;
    case Kind::kOptionalInt32:
      set(reinterpret_cast<std::optional<std::int32_t>*>(out));
      break;
    case Kind::kOptionalInt64:
      set(reinterpret_cast<std::optional<std::int64_t>*>(out));
      break;
    default:
      set(reinterpret_cast<std::optional<double>*>(out));
      break;
  }
}

// --- containers ---

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
      pending_.push_back(empty_element(arena_, element));
      continue;
    }
    if (same.entry != kNoEntry && !is_plain_scalar(stored(element)) && equals(same.entry)) {
      if (const auto shared = assembler_.share(element, word_at(same.value), size_of(same.entry))) {
        pending_.push_back(*shared);
        jump(same.entry);
        continue;
      }
    }
    pending_.push_back(value(element, same, below));
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
    pending_.push_back(assembler_.text(name, sibling_key));
    const Context below{choice.below, &path, context.depth + 1};
    if (scan_.peek() == 'n' && null_is_empty(value_type)) {
      scan_.consume_null(&path);
      pending_.push_back(empty_element(arena_, value_type));
    } else {
      pending_.push_back(value(value_type, same, below));
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

// --- any JSON ---

Pending JsonReader::any_number(const Context& context) {
  const char* const first = scan_.at();
  bool is_integer = false;
  const std::string_view digits = scan_.number(is_integer, context.path);
  std::int64_t integer = 0;
  std::size_t kind = 0;
  std::byte* place = nullptr;
  if (is_integer &&
      std::from_chars(digits.data(), digits.data() + digits.size(), integer).ec == std::errc{}) {
    if (integer >= Word::kMinSmall && integer <= Word::kMaxSmall) {
      return {Word::of_scalar(Word::Scalar::kInteger, integer)};
    }
    place = arena_.allocate(8);
    std::memcpy(place, &integer, 8);
  } else {
    const std::optional<double> number = to_double(digits);
    if (!number) scan_.fail_at(first, context.path, "number out of range");
    kind = 1;
    place = arena_.allocate(8);
    std::memcpy(place, &*number, 8);
  }
  return Pending::relative(place, kind, Content::kNumber);
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
    pending_.push_back(assembler_.text(name));
    const Recording recording{*this, scan_.position() - key_position};
    if (same.entry != kNoEntry && equals(same.entry)) {
      if (const auto shared =
              assembler_.share(type_of<Value>(), word_at(same.value), size_of(same.entry))) {
        pending_.push_back(*shared);
        jump(same.entry);
        scan_.white_space();
        continue;
      }
    }
    pending_.push_back(any(same, {choice.below, &path, context.depth + 1}));
    scan_.white_space();
  } while (scan_.consume(','));
  scan_.expect('}', "',' or '}'", context.path);
  const Pending entries = finish_map(type_of<Value>(), base);
  if (entries.word.form() == Form::kRelative) return entries;
  return Pending::relative(arena_.allocate(0), 0, Content::kMap);
}

}  // namespace kube::detail
