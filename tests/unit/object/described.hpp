// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/box.hpp>
#include <kube/object/list.hpp>
#include <kube/object/map.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>
#include <kube/object/value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Types described by hand, as by a user of the library, that have a member of every kind.
namespace kube::test {

/// A leaf without codecs: a number with its own type.
struct Seconds {
  std::int64_t count = 0;
};

inline constexpr Type kSecondsType{
    .kind = Kind::kLeaf, .size = 8, .name = "seconds", .element = &type_of<std::int64_t>()};

struct Part {
  String name;
  std::int32_t count = 0;
  Box<Part> next;

  static const Type kube_type;
  friend bool operator==(const Part& a, const Part& b) noexcept { return deep_equal(a, b); }
};

inline constexpr std::array<Field, 3> kPartFields{
    field<String>("name", offsetof(Part, name)),
    field<std::int32_t>("count", offsetof(Part, count)),
    field<Box<Part>>("next", offsetof(Part, next)),
};
inline constinit const Type Part::kube_type{
    .kind = Kind::kStruct, .size = sizeof(Part), .name = "Part", .fields = kPartFields};

/// Contains lists and maps of itself.
struct Tree {
  String name;
  List<Tree> children;
  Map<Tree> named;

  static const Type kube_type;
  friend bool operator==(const Tree& a, const Tree& b) noexcept { return deep_equal(a, b); }
};

inline constexpr std::array<Field, 3> kTreeFields{
    field<String>("name", offsetof(Tree, name)),
    field<List<Tree>>("children", offsetof(Tree, children)),
    field<Map<Tree>>("named", offsetof(Tree, named)),
};
inline constinit const Type Tree::kube_type{
    .kind = Kind::kStruct, .size = sizeof(Tree), .name = "Tree", .fields = kTreeFields};

}  // namespace kube::test

template <>
struct kube::TypeOf<kube::test::Seconds> {
  static constexpr const Type& value = kube::test::kSecondsType;
};
template <>
inline constexpr bool kube::detail::kStoredInline<kube::test::Seconds> = true;

namespace kube::test {

struct Everything {
  bool flag = false;
  std::int32_t small = 0;
  std::int64_t large = 0;
  double ratio = 0;
  std::optional<bool> maybe_flag;
  std::optional<std::int32_t> maybe_small;
  std::optional<std::int64_t> maybe_large;
  std::optional<double> maybe_ratio;
  String text;
  OptionalString maybe_text;
  Bytes bytes;
  Seconds seconds;
  Value any;
  Part part;
  Box<Part> boxed;
  List<String> texts;
  List<std::int32_t> numbers;
  List<Part> parts;
  List<Seconds> delays;
  List<List<String>> table;
  Map<String> labels;
  Map<Part> parts_by_name;
  Map<List<String>> groups;
  Map<bool> flags;

  static const Type kube_type;
  friend bool operator==(const Everything& a, const Everything& b) noexcept {
    return deep_equal(a, b);
  }
};

inline constexpr std::array<Field, 24> kEverythingFields{
    field<bool>("flag", offsetof(Everything, flag)),
    field<std::int32_t>("small", offsetof(Everything, small)),
    field<std::int64_t>("large", offsetof(Everything, large)),
    field<double>("ratio", offsetof(Everything, ratio)),
    field<std::optional<bool>>("maybeFlag", offsetof(Everything, maybe_flag)),
    field<std::optional<std::int32_t>>("maybeSmall", offsetof(Everything, maybe_small)),
    field<std::optional<std::int64_t>>("maybeLarge", offsetof(Everything, maybe_large)),
    field<std::optional<double>>("maybeRatio", offsetof(Everything, maybe_ratio)),
    field<String>("text", offsetof(Everything, text)),
    field<OptionalString>("maybeText", offsetof(Everything, maybe_text)),
    field<Bytes>("bytes", offsetof(Everything, bytes)),
    field<Seconds>("seconds", offsetof(Everything, seconds)),
    field<Value>("any", offsetof(Everything, any)),
    field<Part>("part", offsetof(Everything, part)),
    field<Box<Part>>("boxed", offsetof(Everything, boxed)),
    field<List<String>>("texts", offsetof(Everything, texts)),
    field<List<std::int32_t>>("numbers", offsetof(Everything, numbers)),
    field<List<Part>>("parts", offsetof(Everything, parts)),
    field<List<Seconds>>("delays", offsetof(Everything, delays)),
    field<List<List<String>>>("table", offsetof(Everything, table)),
    field<Map<String>>("labels", offsetof(Everything, labels)),
    field<Map<Part>>("partsByName", offsetof(Everything, parts_by_name)),
    field<Map<List<String>>>("groups", offsetof(Everything, groups)),
    field<Map<bool>>("flags", offsetof(Everything, flags)),
};
inline constinit const Type Everything::kube_type{.kind = Kind::kStruct,
                                                  .size = sizeof(Everything),
                                                  .name = "Everything",
                                                  .fields = kEverythingFields};

/// Returns text that is too long to be stored inline, different for each `tag`.
inline std::string long_text(std::string_view tag) {
  return "a text too long for eight bytes: " + std::string{tag};
}

/// Creates a chain of `length` parts, each in the box of the previous one.
inline Part chain(int length, std::string_view tag = "link") {
  Part first{.name = long_text(tag), .count = length, .next = {}};
  if (length > 1) first.next = chain(length - 1, tag);
  return first;
}

/// Creates a value with all members set.
inline Everything filled() {
  Everything all;
  all.flag = true;
  all.small = -7;
  all.large = std::int64_t{1} << 40;
  all.ratio = 0.25;
  all.maybe_flag = false;
  all.maybe_small = 0;
  all.maybe_large = -1;
  all.maybe_ratio = 1e300;
  all.text = long_text("text");
  all.maybe_text = "";
  all.bytes = std::string{'\0', '\xff'} + " and what is text";
  all.seconds = {90};
  all.any = Value::object({{"list", Value::array({1, 2.5, "three", nullptr, true})},
                           {"big", std::int64_t{1} << 60},
                           {"empty", Value::object()}});
  all.part = chain(2, "part");
  all.boxed = chain(3, "boxed");
  all.texts = {"a", String{long_text("b")}, ""};
  all.numbers = {3, 1, 2};
  all.parts = {chain(1, "x"), chain(2, "y")};
  all.delays = {Seconds{1}, Seconds{2}};
  all.table = {List<String>{"a", "b"}, List<String>{long_text("c")}};
  all.labels = {{"app", "web"}, {"tier", String{long_text("tier")}}};
  all.parts_by_name = {{"one", chain(1, "one")}, {"two", chain(2, "two")}};
  all.groups = {{"admins", List<String>{"ann", String{long_text("bob")}}}};
  all.flags = {{"off", false}, {"on", true}};
  return all;
}

}  // namespace kube::test
