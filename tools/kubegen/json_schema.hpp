// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "packages.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kube::gen {

/// Which rules a schema follows.
enum class Dialect : std::uint8_t {
  kStructural,  ///< of a CRD: every type is given, nothing is referred to
  kOpenApi,     ///< anything may be left open, and becomes a Value
};

/// Turns JSON schemas into structs.
///
/// How fields are mapped:
/// - A scalar that is required is plain; one that is not, or that may be null, is optional. An
///   object that is not required is a Box, except spec and status of a kind. Lists and maps that
///   were never set are left out of JSON, empty ones are not.
/// - `format: date-time` stays a String: the text may have any precision and zone, and a Time that
///   is written back would change it.
/// - `format: byte` is Bytes: the server accepts nothing but base64 there.
/// - An object that may hold more than the schema names is a Value, so that nothing is lost.
/// - The conditions that most APIs share, field by field, are meta::v1::Condition.
class SchemaReader {
 public:
  /// The type that a "$ref" stands for.
  using Resolve = std::function<Shape(const Place& ref)>;

  SchemaReader(OpenPackage& to, Dialect dialect, Resolve resolve = {})
      : to_(to), dialect_(dialect), resolve_(std::move(resolve)) {}

  /// Adds the properties of a kind: metadata first, then the others; spec and status by value.
  void read_kind(const Place& schema, Struct& kind);
  /// Adds the properties of an object to `object`.
  void read_object(const Place& schema, Struct& object);
  /// The type of a value; structs for the objects in it are named after `name`.
  [[nodiscard]] Shape read(const Place& schema, const std::string& name) {
    return read(schema, name, 0).shape;
  }

 private:
  struct Result {
    Shape shape;
    std::string constants;  ///< where its values are listed
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

/// Takes a member of that JSON name into `names` and tells in a note how they differ.
[[nodiscard]] Member named_member(const Place& place, const std::string& json, Scope& names);

}  // namespace kube::gen
