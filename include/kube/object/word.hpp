// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// The eight bytes behind every String, List, Map, Box and Value.
///
/// The low three bits say where the content lives (Form). A word inside a block is *self-relative*: it
/// holds the distance from its own address, so a block may be copied as a whole but a single word may
/// not. All-zero bits are the empty value of every described type.
namespace kube::detail {

static_assert(std::endian::native == std::endian::little, "words are laid out for little endian");

enum class Form : std::uint8_t {
  kNone = 0,      ///< nothing set
  kInline = 1,    ///< up to seven bytes of text in the word itself; also "set, but empty"
  kRelative = 2,  ///< content in the same block, at a distance from this word
  kNode = 3,      ///< content in a node of a Pool, shared with other blocks
  kOwned = 4,     ///< content on the heap, owned by this word alone
  kScalar = 5,    ///< Value only: null, a boolean or a small integer
};

/// What a word of unknown type (a Value) refers to.
enum class Content : std::uint8_t { kBytes = 0, kList = 1, kMap = 2, kNumber = 3 };

/// Heap content of an owned String, List, Map or Value; the elements follow the header.
struct alignas(8) OwnedHeader {
  std::uint32_t count;
  std::uint32_t capacity;
  Content content;
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
};
static_assert(sizeof(OwnedHeader) == 16);

/// Where the content of a word starts and how many elements it has.
struct View {
  const std::byte* data = nullptr;
  std::size_t count = 0;
};

/// A piece of content that several blocks share; owned by a Pool and counted. The content (an image of
/// its own, free of references to other nodes) follows the header.
struct Node {
  std::atomic<std::uint32_t> references;
  std::uint32_t count;  ///< bytes of text, elements of a list, entries of a map; 1 for a struct
  std::uint32_t hash;
  std::uint32_t size;  ///< bytes of the image
  std::uint32_t root;  ///< where in the image the content starts
  Content content;
  void* pool;

  [[nodiscard]] std::byte* image() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* image() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
  [[nodiscard]] const std::byte* data() const noexcept { return image() + root; }
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  /// Gives one reference back; the last one takes the node out of its pool and frees it.
  void release() noexcept;
};
static_assert(sizeof(Node) == 32);

struct Word {
  static constexpr std::uint32_t kMaxCount = (1U << 27) - 1;
  static constexpr std::size_t kMaxInline = 7;

  std::uint64_t bits = 0;

  [[nodiscard]] Form form() const noexcept { return static_cast<Form>(bits & 7U); }
  [[nodiscard]] bool is_none() const noexcept { return bits == 0; }
  [[nodiscard]] bool is_owned() const noexcept { return form() == Form::kOwned; }

  // kInline
  [[nodiscard]] std::size_t inline_size() const noexcept { return (bits >> 3) & 7U; }
  [[nodiscard]] const char* inline_data() const noexcept {
    return reinterpret_cast<const char*>(&bits) + 1;
  }
  static Word inline_text(const char* text, std::size_t size) noexcept {
    // Put together in a register: the processor would have to wait for bytes that it has just written.
    std::uint64_t letters = 0;
    if (size >= 4) {
      std::uint32_t first = 0;
      std::uint32_t last = 0;
      std::memcpy(&first, text, 4);
      std::memcpy(&last, text + size - 4, 4);
      letters = first | (std::uint64_t{last} << (8 * (size - 4)));
    } else if (size > 0) {
      const auto letter = [text](std::size_t at) {
        return std::uint64_t{static_cast<unsigned char>(text[at])} << (8 * at);
      };
      letters = letter(0) | letter(size / 2) | letter(size - 1);
    }
    return Word{static_cast<std::uint64_t>(Form::kInline) | (size << 3) | (letters << 8)};
  }
  static Word set_but_empty() noexcept { return Word{static_cast<std::uint64_t>(Form::kInline)}; }

  // kRelative
  [[nodiscard]] Content relative_content() const noexcept {
    return static_cast<Content>((bits >> 3) & 3U);
  }
  [[nodiscard]] std::uint32_t relative_count() const noexcept {
    return static_cast<std::uint32_t>(bits >> 5) & kMaxCount;
  }
  [[nodiscard]] const std::byte* relative_target() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + static_cast<std::int32_t>(bits >> 32);
  }
  /// Points this word, at its final place, to `target` in the same block.
  void set_relative(const void* target, std::size_t count, Content content) noexcept {
    const auto distance =
        static_cast<const std::byte*>(target) - reinterpret_cast<const std::byte*>(this);
    bits = static_cast<std::uint64_t>(Form::kRelative) |
           (static_cast<std::uint64_t>(content) << 3) | (static_cast<std::uint64_t>(count) << 5) |
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(distance)) << 32);
  }

  // kNode
  static constexpr std::uint64_t kHeld = 8;  // nodes are at multiples of 16
  [[nodiscard]] Node* node() const noexcept {
    return reinterpret_cast<Node*>(bits & ~std::uint64_t{15});
  }
  /// Whether the block has its reference by a Bundle; else the word has one of its own.
  [[nodiscard]] bool is_held() const noexcept { return (bits & kHeld) != 0; }

  static Word of_node(const Node* node) noexcept {
    return Word{reinterpret_cast<std::uint64_t>(node) | static_cast<std::uint64_t>(Form::kNode)};
  }
  static Word of_held_node(const Node* node) noexcept { return Word{of_node(node).bits | kHeld}; }

  // kOwned
  [[nodiscard]] std::uintptr_t address() const noexcept { return bits & ~std::uint64_t{7}; }
  [[nodiscard]] OwnedHeader* owned() const noexcept {
    return reinterpret_cast<OwnedHeader*>(address());
  }
  [[nodiscard]] std::byte* owned_struct() const noexcept {
    return reinterpret_cast<std::byte*>(address());
  }
  static Word of_owned(const void* allocation) noexcept {
    return Word{reinterpret_cast<std::uint64_t>(allocation) |
                static_cast<std::uint64_t>(Form::kOwned)};
  }

  // kScalar
  enum class Scalar : std::uint8_t { kNull = 0, kFalse = 1, kTrue = 2, kInteger = 3 };
  static constexpr std::int64_t kMaxSmall = (std::int64_t{1} << 55) - 1;
  static constexpr std::int64_t kMinSmall = -(std::int64_t{1} << 55);
  [[nodiscard]] Scalar scalar() const noexcept { return static_cast<Scalar>((bits >> 3) & 3U); }
  [[nodiscard]] std::int64_t small_integer() const noexcept {
    return static_cast<std::int64_t>(bits) >> 8;
  }
  static Word of_scalar(Scalar scalar, std::int64_t integer = 0) noexcept {
    return Word{static_cast<std::uint64_t>(Form::kScalar) |
                (static_cast<std::uint64_t>(scalar) << 3) |
                (static_cast<std::uint64_t>(integer) << 8)};
  }

  /// Content and number of elements (bytes, list elements, map entries), whatever the form.
  [[nodiscard]] View view() const noexcept;
  /// The same of text.
  [[nodiscard]] std::string_view text() const noexcept {
    const View content = view();
    return {reinterpret_cast<const char*>(content.data), content.count};
  }
};

static_assert(sizeof(Word) == 8);

inline View Word::view() const noexcept {
  switch (form()) {
    case Form::kInline:
      return {reinterpret_cast<const std::byte*>(inline_data()), inline_size()};
    case Form::kRelative:
      return {relative_target(), relative_count()};
    case Form::kNode:
      return {node()->data(), node()->count};
    case Form::kOwned:
      return {owned()->data(), owned()->count};
    case Form::kNone:
    case Form::kScalar:
      break;
  }
  return {};
}

/// The word that stands at `place`.
inline Word& word_at(std::byte* place) noexcept { return *reinterpret_cast<Word*>(place); }
inline const Word& word_at(const std::byte* place) noexcept {
  return *reinterpret_cast<const Word*>(place);
}

}  // namespace kube::detail
