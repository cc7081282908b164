// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What the emitters print: C++ declarations as data.
///
/// Readers of schemas fill it. Every name in it is a finished, unique C++ identifier; every other
/// text (JSON names, values, notes) is raw and becomes a literal or a comment on the way out.
namespace kube::gen {

/// The type of a member.
struct Shape {
  enum class Kind : std::uint8_t {
    kPlain,   ///< no struct of the API: `name` is String, bool, std::optional<double>, Time, ...
    kStruct,  ///< `name` in the namespace `scope`
    kBox,
    kList,
    kMap,
  };

  Kind kind = Kind::kPlain;
  std::string name;
  /// Of a struct: its package relative to namespace kube ("core::v1"), empty for the same package.
  std::string scope;
  /// Exactly one for a box, list or map.
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

struct Member {
  std::string name;
  std::string json;
  Shape shape;
  bool omit_empty = false;
  bool omit_zero = false;
  bool proto_wrapped = false;
  bool optional = false;           ///< a leaf that may be absent
  std::string description;         ///< becomes a comment above
  std::vector<std::string> notes;  ///< become a comment behind, each raw text
};

/// An entry of a protobuf message: a member, or a message that holds some of the members.
struct ProtoEntry {
  std::uint32_t number = 0;
  std::size_t member = 0;
  std::string part_name;  ///< of an inline struct; an identifier
  std::vector<ProtoEntry> part = {};
};

struct Subresource {
  std::string name;
  std::string group;
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;
};

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

struct Struct {
  std::string name;
  std::string type_name;    ///< what descriptors call it: the kind, if it is one
  std::string api_version;  ///< of a kind
  bool has_type_meta = false;
  bool is_by_token = false;
  bool is_volatile = false;
  std::string description;
  std::vector<Member> members;
  /// The members in the order of JSON output, if it is not that of the declaration.
  std::vector<std::size_t> json_order;
  std::vector<ProtoEntry> proto;
  std::optional<Resource> resource;
};

/// A namespace of constants, for a string type with known values.
struct Constants {
  struct Entry {
    std::string name;   ///< with the k
    std::string value;  ///< raw text
  };
  std::string name;
  bool are_integers = false;
  std::vector<Entry> entries;
};

/// Another name for a type or for a namespace of constants.
struct Alias {
  std::string name;
  std::string target;
  bool is_namespace = false;
};

/// Everything in one C++ namespace: a version of an API group.
struct Package {
  std::string cpp_namespace;  ///< "core::v1" in namespace kube, or the whole of a user's
  std::string group;
  std::string name;     ///< of the group, as in file names
  std::string version;  ///< as a namespace
  std::vector<Constants> constants;
  std::vector<Alias> aliases;
  std::vector<Struct> structs;
  /// Headers of other packages: "kube/api/meta/v1.hpp".
  std::set<std::string> includes;
};

/// Sorts the structs of a package so that what is embedded by value comes first, else keeping the
/// order. Embedding that would never end goes through a Box instead.
void sort_structs(Package& package);

/// Finds out which structs hold a time, through all packages.
void mark_volatile(std::vector<Package>& packages);

/// Calls `see(shape)` for the struct that `shape` refers to, if any, at whatever depth.
template <typename See>
void for_each_struct(const Shape& shape, const See& see) {
  if (shape.kind == Shape::Kind::kStruct) see(shape);
  for (const Shape& element : shape.element) for_each_struct(element, see);
}

}  // namespace kube::gen
