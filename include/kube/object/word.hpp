// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// The eight bytes that represent every String, List, Map, Box and Value.
///
/// The low three bits select where the content is stored (Form). A word inside a block is
/// *self-relative*: it holds the distance from its own address, so that a block can be copied as a
/// whole, but not a single word. All-zero bits are the empty value of every described type.
namespace kube::detail {

static_assert(std::endian::native == std::endian::little, "words are laid out for little endian");

/// Where the content of a word is stored.
enum class Form : std::uint8_t {
  kNone = 0,      ///< unset
  kInline = 1,    ///< up to seven bytes of text in the word itself; also "set, but empty"
  kRelative = 2,  ///< content in the same block, at a distance from this word
  kNode = 3,      ///< content in a node of a Pool, shared with other blocks
  kOwned = 4,     ///< content on the heap, owned by this word alone
  kScalar = 5,    ///< Value only: null, a boolean or a small integer
};

/// The content of a word whose type is unknown (a Value).
enum class Content : std::uint8_t { kBytes = 0, kList = 1, kMap = 2, kNumber = 3 };

/// Header of the heap content of an owned String, List, Map or Value; the elements follow it.
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

/// The start of a word's content and its number of elements.
struct View {
  const std::byte* data = nullptr;
  std::size_t count = 0;
};

/// Content that several blocks share, owned by a Pool and reference-counted. The content (an image
/// of its own, without references to other nodes) follows the header.
struct Node {
  std::atomic<std::uint32_t> references;
  std::uint32_t count;  ///< bytes of text, elements of a list, entries of a map; 1 for a struct
  std::uint32_t hash;
  std::uint32_t size;  ///< bytes of the image
  std::uint32_t root;  ///< offset of the content in the image
  Content content;
  void* pool;

  [[nodiscard]] std::byte* image() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* image() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
  [[nodiscard]] const std::byte* data() const noexcept { return image() + root; }
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  /// Releases one reference; the last one removes the node from its pool and frees it.
  void release() noexcept;
};
static_assert(sizeof(Node) == 32);

/// One tagged word. The methods are grouped by the form that they require.
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
    // Assembled in a register: reading back single bytes just written would stall on store
    // forwarding.
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
  /// Points this word, at its final address, to `target` in the same block.
  void set_relative(const void* target, std::size_t count, Content content) noexcept {
    const auto distance =
        static_cast<const std::byte*>(target) - reinterpret_cast<const std::byte*>(this);
    bits = static_cast<std::uint64_t>(Form::kRelative) |
           (static_cast<std::uint64_t>(content) << 3) | (static_cast<std::uint64_t>(count) << 5) |
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(distance)) << 32);
  }

  // kNode
  static constexpr std::uint64_t kHeld = 8;  // nodes are aligned to 16, so this bit is free
  [[nodiscard]] Node* node() const noexcept {
    return reinterpret_cast<Node*>(bits & ~std::uint64_t{15});
  }
  /// True if a Bundle of the block holds the reference to the node; otherwise the word holds one
  /// itself.
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

  /// The content and its number of elements (bytes, list elements, map entries), for any form.
  [[nodiscard]] View view() const noexcept;
  /// As above, for text.
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

/// The word at address `place`.
inline Word& word_at(std::byte* place) noexcept { return *reinterpret_cast<Word*>(place); }
inline const Word& word_at(const std::byte* place) noexcept {
  return *reinterpret_cast<const Word*>(place);
}

}  // namespace kube::detail
