// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/operations.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <compare>
#include <concepts>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

namespace detail {
inline constexpr Type kStringType{.kind = Kind::kString, .size = 8, .name = "string"};

/// Any type that converts to text: literals, std::string, std::string_view, String, Bytes.
template <typename T>
concept TextLike = std::convertible_to<const T&, std::string_view>;

[[nodiscard]] inline std::string join(std::string_view a, std::string_view b) {
  std::string joined;
  joined.reserve(a.size() + b.size());
  return joined.append(a).append(b);
}
}  // namespace detail

/// Text in eight bytes. Short text is stored in the handle; longer text in the enclosing block, in
/// a pool, or on the heap if the string was made or copied by the program.
///
/// Ownership: a copy owns its text and is independent of the block that it was copied from. A view
/// is valid as long as the string (or the Ref that keeps its block alive). Moving out of a cached
/// string does not compile. A String converts to std::string_view without cost and to std::string
/// by copying; `+` returns a std::string.
class String {
 public:
  String() noexcept = default;
  String(std::string_view text) : word_(detail::own_text(text.data(), text.size())) {}  // NOLINT
  String(const char* text) : String(std::string_view{text}) {}                          // NOLINT
  String(const std::string& text) : String(std::string_view{text}) {}                   // NOLINT
  String(const String& other) : word_(detail::own_text(other.data(), other.size())) {}
  String(const String&&) = delete;
  String(String&& other) noexcept : word_(detail::take_word(detail::kStringType, other.word_)) {}
  String& operator=(const String& other) {
    if (this != &other) *this = String{other};
    return *this;
  }
  String& operator=(const String&&) = delete;
  String& operator=(String&& other) noexcept {
    if (this != &other) {
      clear();
      word_ = detail::take_word(detail::kStringType, other.word_);
    }
    return *this;
  }
  ~String() { clear(); }

  [[nodiscard]] std::string_view view() const noexcept {
    const detail::View content = word_.view();
    return {reinterpret_cast<const char*>(content.data), content.count};
  }
  operator std::string_view() const noexcept { return view(); }  // NOLINT: implicit
  operator std::string() const { return str(); }                 // NOLINT
  [[nodiscard]] std::string str() const { return std::string{view()}; }
  [[nodiscard]] const char* data() const noexcept { return view().data(); }
  [[nodiscard]] std::size_t size() const noexcept { return word_.view().count; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  void clear() noexcept {
    if (word_.is_owned()) detail::free_owned(word_);
    word_ = {};
  }

  friend bool operator==(const String& a, const String& b) noexcept { return a.view() == b.view(); }
  template <detail::TextLike Other>
  friend bool operator==(const String& a, const Other& b) noexcept {
    return a.view() == std::string_view{b};
  }
  friend auto operator<=>(const String& a, const String& b) noexcept {
    return a.view() <=> b.view();
  }
  template <detail::TextLike Other>
  friend auto operator<=>(const String& a, const Other& b) noexcept {
    return a.view() <=> std::string_view{b};
  }
  template <detail::TextLike Other>
  friend std::string operator+(const String& a, const Other& b) {
    return detail::join(a, b);
  }
  template <detail::TextLike Other>
  requires(!std::same_as<Other, String>) friend std::string operator+(const Other& a,
                                                                      const String& b) {
    return detail::join(a, b);
  }
  /// Reuses the memory of `a` in a chain of concatenations.
  friend std::string operator+(std::string&& a, const String& b) {
    return std::move(a.append(b.view()));
  }
  friend std::string operator+(const String& a, char b) { return a.str() + b; }
  friend std::string operator+(char a, const String& b) { return detail::join({&a, 1}, b); }
  friend std::ostream& operator<<(std::ostream& out, const String& text) {
    return out << text.view();
  }
  /// Makes String formattable with fmt.
  friend std::string_view format_as(const String& text) noexcept { return text.view(); }

 private:
  friend class OptionalString;
  detail::Word word_;
};

/// Text that may be absent, which differs from empty.
class OptionalString {
 public:
  OptionalString() noexcept = default;
  OptionalString(std::nullopt_t) noexcept {}                                           // NOLINT
  OptionalString(std::string_view text) : text_(text) { mark_set(); }                  // NOLINT
  OptionalString(const char* text) : OptionalString(std::string_view{text}) {}         // NOLINT
  OptionalString(const std::string& text) : OptionalString(std::string_view{text}) {}  // NOLINT
  OptionalString(const String& text) : text_(text) { mark_set(); }                     // NOLINT
  OptionalString(const OptionalString& other) : text_(other.text_) {
    if (other.has_value()) mark_set();
  }
  OptionalString(OptionalString&& other) noexcept = default;
  OptionalString(const OptionalString&&) = delete;
  OptionalString& operator=(const OptionalString& other) {
    if (this != &other) *this = OptionalString{other};
    return *this;
  }
  OptionalString& operator=(OptionalString&& other) noexcept = default;
  OptionalString& operator=(const OptionalString&&) = delete;
  ~OptionalString() = default;

  [[nodiscard]] bool has_value() const noexcept { return !text_.word_.is_none(); }
  explicit operator bool() const noexcept { return has_value(); }
  const String& operator*() const noexcept { return text_; }
  const String* operator->() const noexcept { return &text_; }
  /// Returns the text, or `fallback` if it is absent.
  [[nodiscard]] std::string_view value_or(std::string_view fallback) const noexcept {
    return has_value() ? text_.view() : fallback;
  }
  void reset() noexcept { text_.clear(); }

  friend bool operator==(const OptionalString& a, const OptionalString& b) noexcept {
    return a.has_value() == b.has_value() && a.text_ == b.text_;
  }
  template <detail::TextLike Other>
  friend bool operator==(const OptionalString& a, const Other& b) noexcept {
    return a.has_value() && a.text_ == b;
  }

 private:
  void mark_set() noexcept {
    if (text_.word_.is_none()) text_.word_ = detail::Word::set_but_empty();
  }

  String text_;
};

/// Arbitrary bytes; base64 in JSON. Unset (null in JSON) is distinguished from empty there, but
/// compares equal.
class Bytes {
 public:
  Bytes() noexcept = default;
  Bytes(std::string_view bytes) : bytes_(bytes) {}    // NOLINT: converts as String does
  Bytes(const char* bytes) : bytes_(bytes) {}         // NOLINT
  Bytes(const std::string& bytes) : bytes_(bytes) {}  // NOLINT
  Bytes(const String& bytes) : bytes_(bytes) {}       // NOLINT

  [[nodiscard]] std::string_view view() const noexcept { return bytes_->view(); }
  operator std::string_view() const noexcept { return view(); }  // NOLINT
  [[nodiscard]] std::size_t size() const noexcept { return bytes_->size(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_->empty(); }

  friend bool operator==(const Bytes& a, const Bytes& b) noexcept { return a.view() == b.view(); }
  template <detail::TextLike Other>
  friend bool operator==(const Bytes& a, const Other& b) noexcept {
    return a.view() == std::string_view{b};
  }

 private:
  OptionalString bytes_;
};

namespace detail {
inline constexpr Type kOptionalStringType{
    .kind = Kind::kOptionalString, .size = 8, .name = "string"};
inline constexpr Type kBytesType{.kind = Kind::kBytes, .size = 8, .name = "base64 string"};
template <>
inline constexpr bool kStoredInline<String> = true;
template <>
inline constexpr bool kStoredInline<Bytes> = true;
}  // namespace detail

template <>
struct TypeOf<String> {
  static constexpr const Type& value = detail::kStringType;
};
template <>
struct TypeOf<OptionalString> {
  static constexpr const Type& value = detail::kOptionalStringType;
};
template <>
struct TypeOf<Bytes> {
  static constexpr const Type& value = detail::kBytesType;
};

}  // namespace kube

template <>
struct std::hash<kube::String> {
  std::size_t operator()(const kube::String& text) const noexcept {
    return std::hash<std::string_view>{}(text.view());
  }
};
