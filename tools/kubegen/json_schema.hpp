// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "packages.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kube::gen {

/// The rules that a schema follows.
enum class Dialect : std::uint8_t {
  kStructural,  ///< of a CRD: every type is given, without references
  kOpenApi,     ///< types may be missing, and become Value
};

/// Converts JSON schemas to structs.
///
/// Mapping of fields:
/// - A required scalar is plain; one that is optional or nullable is optional. An optional object
///   is a Box, except spec and status of a kind. Unset lists and maps are omitted from JSON, empty
///   ones are not.
/// - `format: date-time` stays a String: the text may have any precision and time zone, which a
///   Time would not preserve.
/// - `format: byte` is Bytes: the server only accepts base64 there.
/// - An object that may have members outside the schema is a Value, so that nothing is lost.
/// - Objects with exactly the fields of the common conditions are meta::v1::Condition.
class SchemaReader {
 public:
  /// Returns the type that a "$ref" refers to.
  using Resolve = std::function<Shape(const Place& ref)>;

  SchemaReader(OpenPackage& to, Dialect dialect, Resolve resolve = {})
      : to_(to), dialect_(dialect), resolve_(std::move(resolve)) {}

  /// Adds the properties of a kind: metadata first, then the others; spec and status by value.
  void read_kind(const Place& schema, Struct& kind);
  /// Adds the properties of an object to `object`.
  void read_object(const Place& schema, Struct& object);
  /// Returns the type of a value. Structs for the objects in it are named after `name`.
  [[nodiscard]] Shape read(const Place& schema, const std::string& name) {
    return read(schema, name, 0).shape;
  }

 private:
  struct Result {
    Shape shape;
    std::string constants;  ///< the namespace of its known values
  };

  Result read(const Place& schema, const std::string& name, int depth);
  Result read_typed(const Place& schema, const std::string& name, int depth);
  Result read_array(const Place& schema, const std::string& name, int depth);
  Result read_object_type(const Place& schema, const std::string& name, int depth);
  void read_properties(const Place& schema, Struct& object, Scope& names, bool is_kind, int depth);
  Member read_member(const Place& schema, const std::string& json, Struct& object, Scope& names,
                     bool is_required, int depth);
  std::string read_enum(const Place& schema, const std::string& name);

  OpenPackage& to_;
  Dialect dialect_;
  Resolve resolve_;
};

/// Adds a member with that JSON name to `names`, with a note if the C++ name differs.
[[nodiscard]] Member named_member(const Place& place, const std::string& json, Scope& names);

}  // namespace kube::gen
