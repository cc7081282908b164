// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>
#include <kube/object/list.hpp>
#include <kube/object/map.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>
#include <kube/object/word.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {

/// Thrown when a value does not have the requested type. The message contains the path and the type
/// found.
class ValueError : public Error {
 public:
  using Error::Error;
};

class Value;

namespace detail {
inline constexpr Type kValueType{.kind = Kind::kValue, .size = 8, .name = "value"};
template <>
inline constexpr bool kStoredInline<Value> = true;
}  // namespace detail

template <>
struct TypeOf<Value> {
  static constexpr const Type& value = detail::kValueType;
};

/// Any JSON document, in eight bytes per value. A decoded document is one block, like every object.
///
/// Reading never inserts: `document["spec"]["replicas"]` returns an absent value if there is none,
/// and find() returns null. The getters as_*() throw ValueError with the type that they found. Only
/// values that were made by the program or copied out of a Ref can be written.
class Value {
 public:
  /// The JSON type of a value.
  enum class Kind : std::uint8_t {
    kAbsent,  ///< no value at all, unlike null
    kNull,
    kBool,
    kInteger,
    kDouble,
    kString,
    kArray,
    kObject,
  };

  Value() noexcept = default;
  Value(std::nullptr_t) noexcept;  // NOLINT: JSON literals
  Value(bool value) noexcept;      // NOLINT
  /// Integers beyond the range of std::int64_t become a double, as in a decoded document.
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value)  // NOLINT
      : Value(std::is_signed_v<I> || static_cast<std::uint64_t>(value) <= INT64_MAX
                  ? integer(static_cast<std::int64_t>(value))
                  : Value(static_cast<double>(value))) {}
  Value(double value);                                               // NOLINT
  Value(std::string_view text);                                      // NOLINT
  Value(const char* text) : Value(std::string_view{text}) {}         // NOLINT
  Value(const std::string& text) : Value(std::string_view{text}) {}  // NOLINT
  Value(const String& text) : Value(text.view()) {}                  // NOLINT
  Value(const Value& other) : word_(detail::copy_word(type_of<Value>(), other.word_)) {}
  Value(const Value&&) = delete;
  Value(Value&& other) noexcept : word_(detail::take_word(type_of<Value>(), other.word_)) {}
  Value& operator=(const Value& other) {
    if (this != &other) *this = Value{other};
    return *this;
  }
  Value& operator=(const Value&&) = delete;
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      // Taken before reset(): `other` may be a part of the content.
      const detail::Word taken = detail::take_word(type_of<Value>(), other.word_);
      reset();
      word_ = taken;
    }
    return *this;
  }
  ~Value() { reset(); }

  /// Returns an integer.
  static Value integer(std::int64_t value);
  /// Returns an array, `[]` by default.
  static Value array(std::initializer_list<Value> elements = {});
  /// Returns an object, `{}` by default.
  static Value object(std::initializer_list<std::pair<std::string_view, Value>> members = {});

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] bool is_absent() const noexcept { return word_.is_none(); }
  [[nodiscard]] bool is_null() const noexcept { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_string() const noexcept { return kind() == Kind::kString; }
  [[nodiscard]] bool is_array() const noexcept { return kind() == Kind::kArray; }
  [[nodiscard]] bool is_object() const noexcept { return kind() == Kind::kObject; }

  /// Return the content. Throw ValueError if it has another type ("expected integer, found
  /// string"). as_double() also accepts integers; as_integer() accepts only numbers without a
  /// fraction.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] double as_double() const;
  [[nodiscard]] std::string_view as_string() const;
  [[nodiscard]] const List<Value>& as_array() const;
  [[nodiscard]] const Map<Value>& as_object() const;

  /// Returns the value at a path such as "spec.containers[0].image" or
  /// "metadata.labels['app.kubernetes.io/name']", or null if there is none. Throws ValueError if
  /// the path is malformed.
  [[nodiscard]] const Value* find(std::string_view path) const;
  /// Returns the content at `path`, or nullopt if it is absent or null. Throws ValueError if it has
  /// another type: "spec.replicas: expected integer, found string". The getters below do the same.
  [[nodiscard]] std::optional<bool> get_bool(std::string_view path) const;
  /// See get_bool().
  [[nodiscard]] std::optional<std::int64_t> get_integer(std::string_view path) const;
  /// See get_bool().
  [[nodiscard]] std::optional<double> get_double(std::string_view path) const;
  /// See get_bool().
  [[nodiscard]] std::optional<std::string_view> get_string(std::string_view path) const;
  /// Returns the array at `path`, or an empty one if it is absent.
  [[nodiscard]] const List<Value>& get_array(std::string_view path) const;
  /// Returns the object at `path`, or an empty one if it is absent.
  [[nodiscard]] const Map<Value>& get_object(std::string_view path) const;

  /// Returns a member or element, or an absent value if there is none.
  const Value& operator[](std::string_view key) const noexcept;
  const Value& operator[](const char* key) const noexcept { return (*this)[std::string_view{key}]; }
  template <std::integral I>
  const Value& operator[](I index) const noexcept {
    return element(static_cast<std::size_t>(index));
  }
  /// As above, for a non-const value: without this overload `value[0]` would be ambiguous, as 0 is
  /// also a null key.
  template <std::integral I>
  const Value& operator[](I index) noexcept {
    return element(static_cast<std::size_t>(index));
  }
  /// The number of members of an object or elements of an array; 0 for any other value.
  [[nodiscard]] std::size_t size() const noexcept;

  /// Returns a member for writing, inserted if missing. An absent or null value becomes an object
  /// first. Throws ValueError for any other value that is not an object.
  Value& operator[](std::string_view key);
  Value& operator[](const char* key) { return (*this)[std::string_view{key}]; }
  /// Returns the value at a path of plain keys and indexes, creating objects on the way.
  Value& at_path(std::string_view path);
  /// Appends to an array. An absent or null value becomes an array first.
  Value& push_back(Value element);
  /// Removes a member. Returns false if there was none.
  bool erase(std::string_view key);
  void reset() noexcept;

  friend bool operator==(const Value& a, const Value& b) noexcept {
    return detail::equal_values(type_of<Value>(), reinterpret_cast<const std::byte*>(&a),
                                reinterpret_cast<const std::byte*>(&b));
  }

 private:
  friend struct ValueAccess;
  [[nodiscard]] const Value& element(std::size_t index) const noexcept;
  Map<Value>& editable_object();
  List<Value>& editable_array();
  detail::Word word_;
};

/// The name of a kind in messages: "string", "integer", ...
[[nodiscard]] std::string_view to_string(Value::Kind kind) noexcept;

/// One step of a path: a key, or an index if `is_index` is set.
struct PathStep {
  std::string key;
  std::size_t index = 0;
  bool is_index = false;
};
/// Splits "a.b[3]['c.d']" into steps. Throws ValueError with the path if it is malformed.
[[nodiscard]] std::vector<PathStep> parse_path(std::string_view path);

}  // namespace kube
