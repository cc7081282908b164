// SPDX-License-Identifier: Apache-2.0
#include "codec/assembler.hpp"

#include "object/freeze.hpp"
#include "object/intern.hpp"
#include <kube/object/box.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kube::detail {

namespace {

/// Shorter text takes less memory in the block than a reference to a node.
constexpr std::size_t kShortestShared = 16;
/// Likewise for smaller sub-trees.
constexpr std::size_t kSmallestTree = 16;
/// Slots for fingerprints of texts: few at first, because most decoders see few texts.
constexpr std::size_t kFewestSightings = std::size_t{1} << 6;
constexpr std::size_t kMostSightings = std::size_t{1} << 14;
/// How many slots are probed for a fingerprint.
constexpr std::size_t kProbes = 4;

/// Bytes of the struct or array itself, without the content that it refers to.
std::size_t array_size(const Type& type, const Word& word) noexcept {
  switch (type.kind) {
    case Kind::kStruct:
      return type.size;
    case Kind::kBox:
      return type.element->size;
    case Kind::kList:
      return word.view().count * type.element->list_stride();
    case Kind::kMap:
      return word.view().count * type.element->map_stride();
    default:
      return 0;
  }
}

bool has_time(const Type& type, const std::byte* value) noexcept;

bool has_time_inside(const Type& container, const View& content) noexcept {
  const Type& element = *container.element;
  const bool is_map = container.kind == Kind::kMap;
  const std::size_t stride = is_map ? element.map_stride() : element.list_stride();
  for (std::size_t i = 0; i < content.count; ++i) {
    const std::byte* slot = content.data + i * stride + (is_map ? 8 : 0);
    if (has_time(element, element.is_boxed_in_containers() ? boxed(word_at(slot)) : slot)) {
      return true;
    }
  }
  return false;
}

/// True if `value` contains a timestamp. Such content is equal in two objects only by coincidence,
/// and soon only one of them would refer to the node.
bool has_time(const Type& type, const std::byte* value) noexcept {
  switch (type.kind) {
    case Kind::kLeaf:
      return type.is(Type::kVolatile) && word_at(value).bits != 0;
    case Kind::kStruct:
      return type.is(Type::kVolatile) &&
             std::any_of(type.fields.begin(), type.fields.end(), [&](const Field& field) {
               return has_time(*field.type, value + field.offset);
             });
    case Kind::kBox:
      return !word_at(value).is_none() && has_time(*type.element, boxed(word_at(value)));
    case Kind::kList:
    case Kind::kMap:
      return (type.element->is(Type::kVolatile) || type.element->element != nullptr) &&
             has_time_inside(type, word_at(value).view());
    default:
      return false;
  }
}

}  // namespace

Assembler::Assembler(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}

void Assembler::start(std::size_t budget, std::uint32_t owner) {
  arena_.set_budget(budget);
  promoted_ = 0;
  owner_ = owner;
}

bool Assembler::seen_elsewhere(std::uint64_t hash) {
  if (new_sightings_ >= sightings_.size() / 8 && sightings_.size() < kMostSightings) {
    const std::vector<Sighting> before = std::exchange(
        sightings_, std::vector<Sighting>(std::max(kFewestSightings, 2 * sightings_.size())));
    for (const Sighting& sighting : before) {
      if (sighting.text != 0) sighting_slot(sighting.text) = sighting;
    }
    new_sightings_ = 0;
  }
  const std::uint32_t text = static_cast<std::uint32_t>(hash >> 32) | 1U;
  Sighting& last = sighting_slot(text);
  if (last.text == text) {
    if (last.owner != 0 && last.owner == owner_) return false;
    last.owner = 0;
    return true;
  }
  last = {text, owner_};
  ++new_sightings_;
  return false;
}

Assembler::Sighting& Assembler::sighting_slot(std::uint32_t text) noexcept {
  const std::size_t mask = sightings_.size() - 1;  // the size is a power of two
  const std::size_t first = text >> 1;
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    Sighting& place = sightings_[(first + probe) & mask];
    if (place.text == text || place.text == 0) return place;
  }
  return sightings_[first & mask];
}

Pending Assembler::text(std::string_view text, const Word* sibling) {
  if (text.size() <= Word::kMaxInline) return {Word::inline_text(text.data(), text.size())};
  if (pool_ != nullptr && text.size() >= kShortestShared) {
    if (sibling != nullptr && sibling->form() == Form::kNode && sibling->text() == text) {
      return same_text(*sibling);
    }
    if (seen_elsewhere(pool_->hash(text))) return {Word::of_node(intern_text(*pool_, text))};
  }
  char* copy = arena_.allocate_text(text.size());
  std::memcpy(copy, text.data(), text.size());
  return Pending::relative(copy, text.size(), Content::kBytes);
}

Pending Assembler::text_in_place(char* text, std::size_t size, const Word* sibling) {
  const std::string_view content{text, size};
  if (size <= Word::kMaxInline) {
    const Pending pending{Word::inline_text(text, size)};
    arena_.shrink_text(text, size, 0);
    return pending;
  }
  if (pool_ != nullptr && size >= kShortestShared) {
    Pending pending;
    if (sibling != nullptr && sibling->form() == Form::kNode && sibling->text() == content) {
      pending = same_text(*sibling);
    } else if (seen_elsewhere(pool_->hash(content))) {
      pending = {Word::of_node(intern_text(*pool_, content))};
    }
    if (!pending.word.is_none()) {
      arena_.shrink_text(text, size, 0);
      return pending;
    }
  }
  return Pending::relative(text, size, Content::kBytes);
}

Pending Assembler::copy_same_text(const Word& sibling) {
  const std::string_view text = sibling.text();
  if (pool_ != nullptr && text.size() >= kShortestShared) {
    ++promoted_;
    return {Word::of_node(intern_text(*pool_, text))};
  }
  char* copy = arena_.allocate_text(text.size());
  std::memcpy(copy, text.data(), text.size());
  return Pending::relative(copy, text.size(), Content::kBytes);
}

Pending Assembler::pieces(std::span<const std::string_view> texts, const Word* sibling) {
  auto* array = reinterpret_cast<Word*>(arena_.allocate(texts.size() * sizeof(Word)));
  const View like = sibling != nullptr ? sibling->view() : View{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Word* same = i < like.count ? reinterpret_cast<const Word*>(like.data) + i : nullptr;
    place(array[i], text(texts[i], same));
  }
  return Pending::relative(array, texts.size(), Content::kList);
}

std::optional<Pending> Assembler::share(const Type& described, const Word& sibling,
                                        std::size_t encoded_size) {
  const Type& type = described.kind == Kind::kLeaf ? *described.element : described;
  if (type.kind == Kind::kInt64) return Pending::raw(sibling.bits);  // a number, not a word
  switch (sibling.form()) {
    case Form::kNone:
      return std::nullopt;
    case Form::kInline:
    case Form::kScalar:
    case Form::kNode:
      return same_word(sibling);
    default:
      break;
  }
  if (pool_ == nullptr) return std::nullopt;
  if (is_text(type)) return same_text(sibling);
  if (type.kind == Kind::kValue) {
    if (sibling.relative_content() == Content::kBytes) return same_text(sibling);
    if (sibling.relative_content() == Content::kNumber) return std::nullopt;
  }
  if (type.kind == Kind::kStruct ? has_time(type, boxed(sibling))
                                 : has_time(type, reinterpret_cast<const std::byte*>(&sibling))) {
    return std::nullopt;
  }

  if (encoded_size < kSmallestTree && array_size(type, sibling) < kSmallestTree) {
    return std::nullopt;
  }
  // The sibling's own copy becomes a node. From the third object on, it already is one.
  const std::optional<Pending> shared =
      node_arena_.with_room(encoded_size, [&] { return intern_copy(type, sibling); });
  node_arena_.clear();
  if (shared) ++promoted_;
  return shared;
}

std::optional<Pending> Assembler::intern_copy(const Type& type, const Word& sibling) {
  const std::byte* root = nullptr;
  std::size_t count = 1;
  Content content = Content::kBytes;
  if (type.kind == Kind::kStruct || type.kind == Kind::kBox) {
    const Type& element = type.kind == Kind::kBox ? *type.element : type;
    std::byte* copy = node_arena_.allocate(std::max<std::size_t>(element.size, 8));
    freeze_into(node_arena_, element, copy, boxed(sibling), Nodes::kCopy);
    root = copy;
  } else {
    auto* word = reinterpret_cast<Word*>(node_arena_.allocate(sizeof(Word)));
    freeze_into(node_arena_, type, reinterpret_cast<std::byte*>(word),
                reinterpret_cast<const std::byte*>(&sibling), Nodes::kCopy);
    if (word->form() != Form::kRelative) return std::nullopt;
    root = word->relative_target();
    count = word->relative_count();
    content = word->relative_content();
  }
  return Pending{Word::of_node(intern(*pool_, node_arena_.image(root), count, content))};
}

void Assembler::place(const Type& type, std::byte* at, const Pending& pending) {
  if (pending.is_raw) {
    std::memcpy(at, &pending.word, type.size);
  } else {
    place(word_at(at), pending);
  }
}

void Assembler::thaw(const Type& type, Word& word) {
  if (word.form() != Form::kNode) return;
  const bool is_struct = type.kind == Kind::kStruct || type.kind == Kind::kBox;
  if (is_struct) {
    const Type& element = type.kind == Kind::kBox ? *type.element : type;
    std::byte* copy = arena_.allocate(std::max<std::size_t>(element.size, 8));
    freeze_into(arena_, element, copy, boxed(word), Nodes::kCopy);
    arena_.drop(word);
    word.set_relative(copy, 1, Content::kBytes);
    return;
  }
  auto* copy = reinterpret_cast<Word*>(arena_.allocate(sizeof(Word)));
  freeze_into(arena_, type, reinterpret_cast<std::byte*>(copy),
              reinterpret_cast<const std::byte*>(&word), Nodes::kCopy);
  arena_.drop(word);
  arena_.assign(word, *copy);
}

void Assembler::discard(const Pending& pending) noexcept {
  if (!pending.is_raw && pending.word.form() == Form::kNode && !pending.word.is_held()) {
    pending.word.node()->release();
  }
}

}  // namespace kube::detail
