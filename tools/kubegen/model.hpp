// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// The C++ declarations to print, as data.
///
/// Filled by the readers of schemas. Every name is a final, unique C++ identifier; every other text
/// (JSON names, values, notes) is raw and is escaped into a literal or a comment when it is
/// printed.
namespace kube::gen {

/// The type of a member.
struct Shape {
  enum class Kind : std::uint8_t {
    kPlain,   ///< not a struct of the API: `name` is String, bool, std::optional<double>, Time, ...
    kStruct,  ///< `name` in the namespace `scope`
    kBox,
    kList,
    kMap,
  };

  Kind kind = Kind::kPlain;
  std::string name;
  /// For a struct: its package relative to namespace kube ("core::v1"); empty for the same package.
  std::string scope;
  /// One element for a box, list or map, else empty.
  std::vector<Shape> element;

  static Shape plain(std::string_view name) { return {Kind::kPlain, std::string{name}, {}, {}}; }
  static Shape structure(std::string_view name, std::string_view scope = {}) {
    return {Kind::kStruct, std::string{name}, std::string{scope}, {}};
  }
  static Shape of(Kind kind, Shape element) { return {kind, {}, {}, {std::move(element)}}; }

  [[nodiscard]] bool is_plain(std::string_view plain_name) const {
    return kind == Kind::kPlain && name == plain_name;
  }
};

/// A member of a struct.
struct Member {
  std::string name;
  std::string json;
  Shape shape;
  bool omit_empty = false;
  bool omit_zero = false;
  bool proto_wrapped = false;
  bool optional = false;           ///< a leaf that may be absent
  std::string description;         ///< printed as a comment above
  std::vector<std::string> notes;  ///< printed as a trailing comment; raw text
};

/// An entry of a protobuf message: a member, or a message that contains some of the members.
struct ProtoEntry {
  std::uint32_t number = 0;
  std::size_t member = 0;
  std::string part_name;  ///< for an inline struct; an identifier
  std::vector<ProtoEntry> part = {};
};

/// See kube::SubresourceInfo.
struct Subresource {
  std::string name;
  std::string group;
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;
};

/// See kube::ResourceInfo.
struct Resource {
  std::string group;
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  std::string singular;
  bool namespaced = false;
  bool served_by_default = false;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;
  std::string list_name;  ///< C++ name of the list; empty if it cannot be listed
};

/// A struct of the API.
struct Struct {
  std::string name;
  std::string type_name;    ///< its name in descriptors: the kind, if it is one
  std::string api_version;  ///< only for a kind
  bool has_type_meta = false;
  bool is_by_token = false;
  bool is_volatile = false;
  std::string description;
  std::vector<Member> members;
  /// The members in the order of JSON output, if that differs from the declaration order.
  std::vector<std::size_t> json_order;
  std::vector<ProtoEntry> proto;
  std::optional<Resource> resource;
};

/// A namespace of constants, for a string type with known values.
struct Constants {
  struct Entry {
    std::string name;   ///< including the k
    std::string value;  ///< raw text
  };
  std::string name;
  bool are_integers = false;
  std::vector<Entry> entries;
};

/// An alias of a type or of a namespace of constants.
struct Alias {
  std::string name;
  std::string target;
  bool is_namespace = false;
};

/// The content of one C++ namespace: a version of an API group.
struct Package {
  std::string cpp_namespace;  ///< "core::v1" within namespace kube, or a user's full namespace
  std::string group;
  std::string name;     ///< of the group, as in file names
  std::string version;  ///< as a namespace
  std::vector<Constants> constants;
  std::vector<Alias> aliases;
  std::vector<Struct> structs;
  /// Headers of other packages: "kube/api/meta/v1.hpp".
  std::set<std::string> includes;
};

/// Sorts the structs of a package so that embedded ones are defined first, otherwise keeping the
/// order. Breaks recursive embedding with a Box.
void sort_structs(Package& package);

/// Marks all structs, in all packages, that contain a time.
void mark_volatile(std::vector<Package>& packages);

/// Calls `see(shape)` for the struct that `shape` refers to, if any, at any depth.
template <typename See>
void for_each_struct(const Shape& shape, const See& see) {
  if (shape.kind == Shape::Kind::kStruct) see(shape);
  for (const Shape& element : shape.element) for_each_struct(element, see);
}

}  // namespace kube::gen
