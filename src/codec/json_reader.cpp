// SPDX-License-Identifier: Apache-2.0
// JsonReader: documents, structs and their members.
#include "json_reader_parts.hpp"

#include "base/buffer.hpp"
#include "codec/leaf.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/error.hpp>
#include <kube/object/box.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <limits>
#include <optional>

namespace kube::detail {

namespace {

bool is_optional_scalar(const Type& type) {
  return type.kind >= Kind::kOptionalBool && type.kind <= Kind::kOptionalDouble;
}

/// Enough for every struct of the API. In a larger one, two names may be mistaken for a duplicate,
/// which only prevents the document from being a sibling.
constexpr std::size_t kMostFields = 128;

/// Servers write members in the order of the table and omit many, so the wanted field is at `next`
/// or shortly after it.
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
    clear_buffer(pending_);
    throw;
  }
  clear_buffer(pending_);
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
  // "12" must not match the start of "123".
  return size == left || std::strchr(",}] \n\r\t", scan_.at()[size]) != nullptr;
}

void JsonReader::jump(std::uint32_t entry) {
  const JsonTape::Entry same = sibling_.tape->entries[entry];
  if (tape_ != nullptr) {
    // The entry of the value itself is being recorded; its content follows.
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
  members.credit = std::min(members.credit + kCreditPerMember, kMostCredit);
  for (std::uint32_t i = members.next; i < members.end && members.credit > 0;
       i = sibling_.tape->entries[i].next) {
    --members.credit;
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
    // Duplicate name: structs and maps are merged with the second value, all other values are
    // replaced.
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
    *reinterpret_cast<bool*>(out + flag->offset) = true;  // an object implies true
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

}  // namespace kube::detail
