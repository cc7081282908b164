// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/type.hpp"

#include <kube/object/value.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// The values of expressions. Values that come from a document are views of it: the document, and
/// the types of its schema, must outlive them.
namespace kube::testkit::cel {

class Val;
class Meter;

/// An evaluation error. It is a value, because `||` and `&&` can absorb errors.
struct Error {
  std::string message;
};

struct Text {
  std::shared_ptr<const std::string> owner;  ///< null for text of a document
  std::string_view view;
};

struct Bytes {
  std::shared_ptr<const std::string> data;
};

struct Timestamp {
  std::int64_t seconds = 0;  ///< since 1970
  std::int32_t nanos = 0;
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

struct Duration {
  std::int64_t nanos = 0;
  friend auto operator<=>(const Duration&, const Duration&) = default;
};

/// A list: computed elements, or an array of a document.
struct ListData {
  std::vector<Val> elements;
  const Value* array = nullptr;
  const Type* type = nullptr;  ///< of a list in a document; null if it has no schema

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Val at(std::size_t index) const;
};

/// A map: computed entries by key_text(), or an object of a document, whose keys are strings.
struct MapData {
  std::map<std::string, std::pair<Val, Val>> entries;
  const Value* object = nullptr;
  const Type* type = nullptr;  ///< of an object or map in a document; null if it has no schema

  [[nodiscard]] std::size_t size() const;
};

/// A value of an opaque type, such as an IP address.
struct Opaque {
  Opaque() = default;
  Opaque(const Opaque&) = delete;
  Opaque& operator=(const Opaque&) = delete;
  virtual ~Opaque() = default;
  [[nodiscard]] virtual TypePtr type() const = 0;
  /// Compares with `other`, which has the same type.
  [[nodiscard]] virtual bool equals(const Opaque& other) const = 0;
};

struct Optional {
  std::shared_ptr<const Val> value;  ///< null for optional.none()
};

using ListPtr = std::shared_ptr<const ListData>;
using MapPtr = std::shared_ptr<const MapData>;
using OpaquePtr = std::shared_ptr<const Opaque>;

namespace detail_of_val {
template <typename T, typename Variant>
inline constexpr bool kIsContent = false;
template <typename T, typename... Contents>
inline constexpr bool kIsContent<T, std::variant<Contents...>> = (std::is_same_v<T, Contents> ||
                                                                  ...);
template <typename T, typename Variant>
concept ContentOf = kIsContent<T, Variant>;
}  // namespace detail_of_val

/// Any CEL value, or an error.
class Val {
 public:
  using Content =
      std::variant<std::monostate, Error, bool, std::int64_t, std::uint64_t, double, Text, Bytes,
                   Timestamp, Duration, ListPtr, MapPtr, TypePtr, Optional, OpaquePtr>;

  /// Constructs null.
  Val() = default;
  template <detail_of_val::ContentOf<Content> T>
  Val(T content)  // NOLINT: a value is its content
      : content_(std::in_place_type<T>, std::move(content)) {}

  static Val text(std::string text);
  /// Constructs a string that is a view into a document.
  static Val view(std::string_view text);
  static Val bytes(std::string data);
  static Val list(std::vector<Val> elements);
  static Val error(std::string message);
  static Val some(Val value);
  static Val none() { return Optional{}; }

  [[nodiscard]] bool is_error() const { return is<Error>(); }
  [[nodiscard]] bool is_null() const { return is<std::monostate>(); }
  [[nodiscard]] bool is_true() const { return is<bool>() && get<bool>(); }
  [[nodiscard]] bool is_number() const {
    return is<std::int64_t>() || is<std::uint64_t>() || is<double>();
  }
  template <typename T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(content_);
  }
  /// Returns the content, which must be of type T.
  template <typename T>
  [[nodiscard]] const T& get() const {
    return std::get<T>(content_);
  }
  [[nodiscard]] std::string_view as_text() const { return get<Text>().view; }
  [[nodiscard]] const std::string& message() const { return get<Error>().message; }

 private:
  Content content_;
};

/// Wraps a value of a document with the type from its schema; `type` is null for a document without
/// a schema.
[[nodiscard]] Val from_document(const Value& value, const Type* type);

[[nodiscard]] TypePtr type_of(const Val& value);

/// Compares two values: true, false, or an error.
[[nodiscard]] Val equal(Meter& meter, const Val& a, const Val& b);
/// Returns -1, 0 or 1 for less, equal or greater. Both are numbers, or of the same comparable type.
/// Returns an error for NaN.
[[nodiscard]] Val compare(const Val& a, const Val& b);
/// Returns whether `list` has an element that is equal to `wanted`.
[[nodiscard]] Val contains(Meter& meter, const ListData& list, const Val& wanted);
/// Implements `a + b` with the semantics of the list type of `a`.
[[nodiscard]] Val add_lists(Meter& meter, const Val& a, const Val& b);

/// Returns a canonical text for a key of a map, equal for equal numbers; empty if `key` cannot be a
/// key.
[[nodiscard]] std::string key_text(const Val& key);
/// Returns the entry of a map, or null if there is none.
[[nodiscard]] const Value* find_property(const MapData& map, std::string_view key);
[[nodiscard]] bool has_key(const MapData& map, const Val& key);
/// Returns the entry, or an error: "no such key: x".
[[nodiscard]] Val lookup(const MapData& map, const Val& key);
/// Returns all keys, in a fixed order.
[[nodiscard]] std::vector<Val> keys_of(const MapData& map);
/// Returns the number of elements, entries, characters or bytes; 1 for any other value.
[[nodiscard]] std::size_t size_of(const Val& value);

/// Formats a value for messages: `"text"`, `[1, 2]`.
[[nodiscard]] std::string to_literal(const Val& value);

}  // namespace kube::testkit::cel
